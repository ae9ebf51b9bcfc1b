import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import fc from "fast-check";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { diagnose } from "../../src/sandbox/host.ts";

/** The words are those that bubblewrap 0.8 and util-linux 2.38 said on kernels set up like that; Ubuntu's are from its users. */
const NO_CLONE =
  "bwrap: No permissions to create new namespace, likely because the kernel does not allow non-privileged user namespaces. See <https://deb.li/bubblewrap>.";
const TOO_MANY = "bwrap: Creating new namespace failed: nesting depth or /proc/sys/user/max_*_namespaces exceeded (ENOSPC)";
const UID_MAP = "bwrap: setting up uid map: Permission denied";
const LOOPBACK = "bwrap: loopback: Failed RTM_NEWADDR: Operation not permitted";
const NO_PROC = "bwrap: Can't mount proc on /newroot/proc: Operation not permitted";
const SLAVE = "bwrap: Failed to make / slave: Permission denied";

let root: string;
beforeEach(() => {
  root = mkdtempSync(join(tmpdir(), "deckhand-host-"));
  host({ "proc/self/ns/user": "", "proc/sys/user/max_user_namespaces": "96364\n" });
});
afterEach(() => rmSync(root, { recursive: true, force: true }));

/** Files of the host, by path. */
function host(files: Record<string, string>): void {
  for (const [path, text] of Object.entries(files)) {
    mkdirSync(dirname(join(root, path)), { recursive: true });
    writeFileSync(join(root, path), text);
  }
}

function line(words: string): string {
  return diagnose(words, root).line();
}

const APPARMOR = { "proc/sys/kernel/apparmor_restrict_unprivileged_userns": "1\n" };

describe("a program that is missing", () => {
  it.each([
    "spawn bwrap ENOENT",
    "flock: failed to execute bwrap: No such file or directory",
    "/bin/sh: 1: exec: /usr/bin/bwrap: not found",
  ])("bubblewrap: %s", (words) => expect(line(words)).toMatch(/bubblewrap is not installed.*apt-get install bubblewrap.*SANDBOX_MISSING/));

  it.each([
    "spawn setpriv ENOENT",
    "/bin/sh: 1: exec: setpriv: not found",
    "setpriv: failed to execute setpriv: No such file or directory",
  ])("a tool of util-linux: %s", (words) => expect(line(words)).toMatch(/setpriv is not installed.*util-linux.*SANDBOX_TOOL/));
});

describe("user namespaces that are switched off", () => {
  it.each([
    ["kernel.unprivileged_userns_clone", "proc/sys/kernel/unprivileged_userns_clone", NO_CLONE],
    ["user.max_user_namespaces", "proc/sys/user/max_user_namespaces", TOO_MANY],
    ["user.max_net_namespaces", "proc/sys/user/max_net_namespaces", TOO_MANY],
  ])("%s is named, with its value and what to set", (name, file, words) => {
    host({ [file]: "0\n" });
    expect(line(words)).toMatch(new RegExp(`${name.replaceAll(".", "\\.")} is 0 .*bwrap: .*sysctl -w.*SANDBOX_USERNS`));
  });

  it("a kernel that was built without them", () => {
    rmSync(join(root, "proc/self/ns/user"));
    const words = "bwrap: Creating new namespace failed, likely because the kernel does not support user namespaces.";
    expect(line(words)).toMatch(/built without user namespaces.*SANDBOX_USERNS/);
  });

  it("count more than that this is a container, which could not allow them either", () => {
    host({ ".dockerenv": "", "proc/sys/kernel/unprivileged_userns_clone": "0\n" });
    expect(line(NO_CLONE)).toMatch(/SANDBOX_USERNS/);
  });
});

describe("AppArmor's restriction", () => {
  it.each([UID_MAP, LOOPBACK, NO_CLONE])("is named with the profile to write and the setting: %s", (words) => {
    host(APPARMOR);
    expect(line(words)).toMatch(
      /apparmor_restrict_unprivileged_userns is 1.*\/etc\/apparmor\.d\/bwrap.*userns,.*apparmor_parser -r.*sysctl -w kernel\.apparmor_restrict_unprivileged_userns=0.*SANDBOX_APPARMOR/,
    );
  });

  it("in a container is meant when its signs are there, and the container when even the namespace was refused", () => {
    host({ ...APPARMOR, ".dockerenv": "" });
    expect(line(LOOPBACK)).toMatch(/SANDBOX_APPARMOR/);
    expect(line(NO_CLONE)).toMatch(/SANDBOX_CONTAINER/);
  });

  it("that is lifted is not named", () => {
    host({ "proc/sys/kernel/apparmor_restrict_unprivileged_userns": "0\n" });
    expect(line(UID_MAP)).toMatch(/SANDBOX_DENIED/);
  });
});

describe("a container that forbids it", () => {
  it.each([
    ["Docker's file", { ".dockerenv": "" }, "/.dockerenv"],
    ["Podman's file", { "run/.containerenv": "" }, "/run/.containerenv"],
    ["that of LXC and systemd-nspawn", { "run/systemd/container": "lxc" }, "/run/systemd/container"],
    ["the group of its first process", { "proc/1/cgroup": "4:memory:/kubepods/pod1/abc\n" }, "kubepods/pod1/abc"],
    [
      "a root that an engine mounted",
      { "proc/self/mountinfo": "9 1 0:9 / / rw - overlay overlay lowerdir=/var/lib/containerd/x\n" },
      "mounted /",
    ],
    [
      "a file of the engine's",
      { "proc/self/mountinfo": "9 1 8:1 /var/lib/kubelet/pods/1/hosts /etc/hosts rw - ext4 /dev/sda1 rw\n" },
      "/etc/hosts",
    ],
  ])("is recognised by %s, and what to pass is told", (_, files, sign) => {
    host(files);
    for (const words of [NO_CLONE, SLAVE]) {
      expect(line(words)).toContain(sign);
      expect(line(words)).toMatch(
        /seccomp=unconfined.*apparmor=unconfined.*systempaths=unconfined.*docker-compose\.yml.*SANDBOX_CONTAINER/,
      );
    }
  });

  it("is not seen in a host that only runs containers", () => {
    host({
      "proc/1/cgroup": "0::/init.scope\n",
      "proc/self/mountinfo":
        "1 0 8:1 / / rw - ext4 /dev/sda1 rw\n9 1 0:9 / /var/lib/docker/overlay2/1/merged rw - overlay overlay lowerdir=/var/lib/docker/l\n",
    });
    expect(line(NO_CLONE)).toMatch(/No permissions.*SANDBOX_DENIED/);
  });
});

it("a /proc that is partly covered: each part is named, with what uncovers it", () => {
  host({
    "proc/self/mountinfo":
      "1 0 0:1 / /proc rw - proc proc rw\n2 1 0:2 / /proc/kcore rw - tmpfs tmpfs rw\n3 1 0:2 / /proc/sys ro - proc proc rw\n",
  });
  expect(line(NO_PROC)).toMatch(
    /covered here: \/proc\/kcore, \/proc\/sys\. .*systempaths=unconfined.*ProtectKernelTunables=.*SANDBOX_PROC/,
  );
});

it("root that may not become another user, as in a container without capabilities", () => {
  expect(line("setpriv: setresuid failed: Operation not permitted")).toMatch(/setresuid failed.*ordinary user.*SANDBOX_ROOT/);
});

it("a group that cannot be entered", () => {
  expect(line("/bin/sh: 1: cannot create /sys/fs/cgroup/x/cgroup.procs: Permission denied")).toMatch(/SANDBOX_CGROUP/);
});

it("anything else keeps its words, on a host of which nothing can be read too", () => {
  expect(line("bwrap: Can't find source path /x: No such file or directory")).toMatch(/Can't find source path.*SANDBOX_DENIED/);
  expect(diagnose("", join(root, "nothing")).code).toBe("SANDBOX_DENIED");
});

it("whatever is said, the answer is one line with a code", () => {
  const property = fc.property(fc.string(), (words) => {
    expect(line(words)).toMatch(/^.*\(SANDBOX_[A-Z]+\)$/);
  });
  fc.assert(property, { numRuns: 200 });
});
