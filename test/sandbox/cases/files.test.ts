import { chmodSync, existsSync, mkdirSync, readdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { homedir } from "node:os";
import { join } from "node:path";
import { beforeAll, expect, it, onTestFinished } from "vitest";
import { behindEachDoor, type Door, type Said, together } from "../../support/doors.ts";
import { systemCall } from "../../support/system-calls.ts";

const MISSING = /No such file or directory/;
const READ_ONLY = /Read-only file system/;
const MS_REMOUNT_BIND = 0x1020;

/** Title -> what is tried, and what is said of it. `@` stands for the folder that holds the workspace. */
const CASES: [title: string, command: string, words: RegExp][] = [
  ["1 writing /etc: read-only", "touch /etc/x", READ_ONLY],
  ["2 writing /usr/bin: read-only", "touch /usr/bin/x", READ_ONLY],
  ["3 reading a folder beside the workspace: not there", '[ "$(ls -A @)" = ws ] && cat @/sibling/bait', MISSING],
  ["4 writing it: not there", "touch @/sibling/x", MISSING],
  ["5 reading the keys of whoever runs Deckhand: not there", `cat @/bot/.ssh/id_rsa && ls -d ${homedir()}/.ssh`, MISSING],
  ["6 reading /root: not there", "ls /root", MISSING],
  ["7 reading files of the host and of Deckhand's state: not there", "cat @/bait || cat @/state/seccomp.bpf", MISSING],
  ["8 reading through links that lead out: not there", "cat link || ls root/root root/work", MISSING],
  ["9 linking a system file into the workspace: another device", "ln /etc/passwd stolen", /cross-device/],
  ["10 writing beyond the first process's root: read-only", "touch /proc/1/root/etc/x", READ_ONLY],
  ["11 reading the shadow file: not there", "cat /etc/shadow", MISSING],
  ["12 writing /, /home, /run and /dev: read-only", "touch /x || touch /home/x || touch /run/x || touch /dev/x", READ_ONLY],
  ["13 making a device: not permitted", "mknod sda b 8 0", /not permitted/],
  ["14 the host's disks and its log: not there", "ls /dev/vda /dev/sda /dev/kmsg /dev/mem", MISSING],
  ["15 filling /dev/shm: no space left", "head -c 80000000 /dev/zero >/dev/shm/big", /No space left/],
  ["16 mounting /usr writable: not permitted", systemCall("mount", "none", "/usr", "", MS_REMOUNT_BIND, ""), /^EPERM$/],
  ["17 unmounting: not permitted", systemCall("umount2", "/etc", 2), /^EPERM$/],
  ["18 changing the root: not permitted", systemCall("chroot", "/tmp"), /^EPERM$/],
];

behindEachDoor((door) => {
  let said: Record<string, Said>;

  beforeAll(async () => {
    const { place, sh } = door();
    const { root, path } = place;
    mkdirSync(join(root, "sibling"));
    for (const bait of ["sibling/bait", "bait"]) writeFileSync(join(root, bait), "bait");
    chmodSync(join(root, "sibling"), 0o777);
    symlinkSync(join(root, "bait"), join(path, "link"));
    symlinkSync("/", join(path, "root"));
    said = await together(sh, Object.fromEntries(CASES.map(([title, command]) => [title, command.replaceAll("@", root)])));
  });

  it.each(CASES)("%s", (title, _, words) => {
    const lines = said[title]?.text.trim().split("\n") ?? [];
    expect(lines.length).toBeGreaterThan(0);
    for (const line of lines) expect(line).toMatch(words);
    expect(said[title]?.text).not.toContain("bait\n");
    expect(existsSync(join(door().place.path, "stolen"))).toBe(false);
  });

  it("19 a hooks folder that was replaced by a link to keys: nothing runs that nobody approved, and no key is shown", async () => {
    const { place, sh, home } = door();
    await repository(door(), "linked");
    onTestFinished(() => rmSync(join(place.path, "linked"), { recursive: true }));
    rmSync(join(place.path, "linked/.git/hooks"), { recursive: true, force: true });
    symlinkSync(join(home, ".ssh"), join(place.path, "linked/.git/hooks"));
    const shown = "cat linked/.git/hooks/id_rsa; touch linked/.git/hooks/pre-commit";
    expect(await sh(shown)).toMatchObject({ how: "refused", why: expect.stringMatching(/hooks is a link.*WORKSPACE_LINKS/) as string });
    expect((await sh(shown, { reach: "approved" })).output.text).toMatch(/^cat: .*No such file or directory\ntouch: .*\n$/);
    expect(readdirSync(join(home, ".ssh"))).toEqual(["id_rsa"]);
  });

  it("19b git's hooks and configuration stay as they are for what nobody approved; the rest of .git can be written", async () => {
    const { place, sh } = door();
    await repository(door(), "kept");
    const hook = join(place.path, "kept/.git/hooks/pre-commit");
    const tried = await together(sh, {
      write: "echo evil >kept/.git/hooks/pre-commit",
      add: "touch kept/.git/hooks/post-merge",
      configure: "cd kept && git config core.hooksPath /tmp",
      swap: "echo evil >kept/.git/new && mv kept/.git/new kept/.git/config",
      move: "mv kept/.git kept/.git2",
      remove: "rm -rf kept/.git/hooks",
      commit: "cd kept && touch a && git add a && git -c user.name=a -c user.email=a@b commit -qm a --no-verify",
      elsewhere: "touch kept/.git/allowed",
    });
    for (const name of ["write", "add", "configure", "swap", "move", "remove"] as const)
      expect([name, tried[name].exit]).not.toEqual([name, 0]);
    expect(tried.write.text).toMatch(READ_ONLY);
    expect(tried.commit).toEqual({ text: "", exit: 0 });
    expect(tried.elsewhere).toEqual({ text: "", exit: 0 });
    await sh("rm -rf kept/.git");
    expect(readFileSync(hook, "utf8")).toBe("#!/bin/sh\nexit 0\n");
    expect(existsSync(join(place.path, "kept/.git/config"))).toBe(true);
  });

  it("20 a workspace that is a link, to / or to a folder that is none of ours: refused before anything starts", async () => {
    const { place, sh } = door();
    for (const [name, to] of Object.entries({ "to-root": "/", "to-sibling": join(place.root, "sibling") })) {
      const workspace = join(place.root, name);
      symlinkSync(to, workspace);
      const refused = await sh("echo ran", { workspace, cwd: workspace });
      expect(refused).toMatchObject({ how: "refused", why: expect.stringMatching(/it leads to .*WORKSPACE_REFUSED/) as string });
    }
  });
});

/** A repository with a hook, made by the run user. */
async function repository({ sh }: Door, name: string): Promise<void> {
  const hook = `printf '#!/bin/sh\\nexit 0\\n' >${name}/.git/hooks/pre-commit && chmod +x ${name}/.git/hooks/pre-commit`;
  const made = await sh(`git init -q ${name} && mkdir -p ${name}/.git/hooks && ${hook}`, { reach: "approved" });
  expect(made).toMatchObject({ exit: 0, output: { text: "" } });
}
