import { mkdirSync, symlinkSync, writeFileSync } from "node:fs";
import { createServer, type Server } from "node:net";
import { homedir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { Sandbox } from "../../src/core/ports.ts";
import { bwrapSandbox } from "../../src/sandbox/bwrap.ts";
import { makeWorkspace, type Shell, shellIn, type TestWorkspace } from "../support/workspace.ts";

const TOKEN = "xoxb-only-the-bot-may-know-this";
const MISSING = /No such file or directory/;
const READ_ONLY = /Read-only file system/;

let place: TestWorkspace;
let sandbox: Sandbox;
let sh: Shell;
/** Paths outside of the sandbox, readable by everybody on the host. */
let sibling: string;
let socket: string;
let abstract: string;
let port: number;
const servers: Server[] = [];
let callers = 0;

beforeAll(async () => {
  process.env["SLACK_BOT_TOKEN"] = TOKEN;
  place = makeWorkspace();
  sibling = join(place.root, "sibling");
  mkdirSync(sibling);
  writeFileSync(join(sibling, "bait"), "bait");
  socket = join(place.root, "docker.sock");
  abstract = `deckhand-test-${place.root}`;
  const heard = () => createServer((client) => void (callers++, client.destroy()));
  const open = (where: object) =>
    new Promise<Server>((done) => {
      const server = heard();
      servers.push(server.listen(where, () => done(server)));
    });
  port = ((await open({ host: "127.0.0.1", port: 0 })).address() as { port: number }).port;
  await open({ path: socket });
  await open({ path: `\0${abstract}` });
  symlinkSync(join(sibling, "bait"), join(place.path, "link"));
  symlinkSync("/", join(place.path, "root"));
  sandbox = bwrapSandbox({ stateDir: place.stateDir, runAs: null });
  sh = shellIn(sandbox, place.path);
});
afterAll(async () => {
  for (const server of servers) server.close();
  await sandbox.close();
  place.cleanup();
  delete process.env["SLACK_BOT_TOKEN"];
});

/** What a command says when it must fail. */
async function failing(command: string): Promise<string> {
  const result = await sh(command);
  expect(result.how).toBe("exited");
  expect(result.exit).not.toBe(0);
  return result.output.text;
}

describe("files", () => {
  it.each([
    ["write /etc", "touch /etc/x", READ_ONLY],
    ["write /usr/bin", "touch /usr/bin/x", READ_ONLY],
    ["write /", "touch /x", READ_ONLY],
    ["write /home", "touch /home/x", READ_ONLY],
    ["write /run", "touch /run/x", READ_ONLY],
    ["write /dev", "touch /dev/x", READ_ONLY],
    ["read the shadow file", "cat /etc/shadow", MISSING],
    ["read root's home", "ls /root", MISSING],
    ["make a device", "mknod sda b 8 0", /Operation not permitted/],
    ["see the host's disks", "ls /dev/vda /dev/sda /dev/kmsg /dev/mem", MISSING],
    ["link a system file into the workspace", "ln /etc/passwd stolen", /cross-device/],
    ["leave through a link to /", "ls root/root root/work", MISSING],
    ["read through a link to outside", "cat link", MISSING],
    ["write beyond the first process's root", "touch /proc/1/root/etc/x", READ_ONLY],
  ])("a command cannot %s", async (_, command, words) => {
    expect(await failing(command)).toMatch(words);
  });

  it("a command sees nothing beside its workspace and cannot make anything there", async () => {
    expect(await failing(`cat ${sibling}/bait`)).toMatch(MISSING);
    expect(await failing(`touch ${sibling}/x`)).toMatch(MISSING);
    expect(await failing(`cat ${place.stateDir}/seccomp.bpf`)).toMatch(MISSING);
    expect((await sh(`ls ${place.root}`)).output.text).toBe("ws\n");
  });

  it("a command does not see the home and the keys of whoever runs Deckhand", async () => {
    expect(await failing(`ls -a ${homedir()}/.ssh ${homedir()}/.bashrc`)).toMatch(MISSING);
  });

  it("/dev/shm ends at its size", async () => {
    expect(await failing("head -c 80000000 /dev/zero >/dev/shm/big")).toMatch(/No space left/);
  });

  it("the workspace is writable at its own path, and files belong to the run user on the host", async () => {
    const { output } = await sh(`echo made >${place.path}/made && stat -c %U made && rm made`);
    expect(output.text).toBe("agent\n");
  });

  it("/tmp and home last for the conversation and are hidden from others", async () => {
    await sh("echo mine | tee /tmp/note ~/note");
    expect((await sh("cat /tmp/note ~/note")).output.text).toBe("mine\nmine\n");
    expect((await sh("cat /tmp/note ~/note", { conversation: "slack:T1:C1:2.2" })).output.text).toMatch(MISSING);
  });
});

describe("environment and processes", () => {
  it("a command's environment is exactly the list", async () => {
    const { output } = await sh("tr '\\0' '\\n' </proc/1/environ | sort");
    const names = output.text
      .trim()
      .split("\n")
      .map((line) => line.split("=")[0]);
    const git = ["COUNT", "KEY_0", "KEY_1", "VALUE_0", "VALUE_1"].map((name) => `GIT_CONFIG_${name}`);
    expect(names).toEqual(["CI", ...git, "GIT_PAGER", "GIT_TERMINAL_PROMPT", "HOME", "LANG", "PAGER", "PATH", "PWD", "TERM", "USER"]);
  });

  it("no process in reach knows a secret of the bot", async () => {
    expect(await failing(`cat /proc/*/environ | tr '\\0' '\\n' | grep -F "${TOKEN}"`)).toBe("");
  });

  it("nothing but input, output and error is open", async () => {
    expect((await sh("ls /proc/1/fd; echo; ls /proc/$$/fd; :")).output.text).toBe("0\n1\n2\n\n0\n1\n2\n");
  });

  it("only the command's own processes are there", async () => {
    const { output } = await sh("sleep 5 & for p in /proc/[0-9]*; do cat $p/comm; done | sort -u");
    expect(output.text).toMatch(/^bash\n(cat\n)?sleep\n(sort\n)?$/);
    expect((await sh(`kill -0 ${process.pid}`)).output.text).toMatch(/No such process/);
  });

  it("a command is an ordinary user without capabilities, under a filter", async () => {
    const { output } = await sh("id -un; id -Gn; grep -E '^(Cap(Prm|Eff|Bnd|Amb)|NoNewPrivs|Seccomp):' /proc/self/status | tr '\\t' ' '");
    expect(output.text).toMatch(/^agent\nagent\n/);
    expect(output.text).toContain("NoNewPrivs: 1\nSeccomp: 2\n");
    expect(output.text.match(/Cap\w+: 0{16}\n/g)).toHaveLength(4);
  });

  it("becoming root fails", async () => {
    expect((await sh("echo | su -c id; sudo -n id")).output.text).not.toMatch(/uid=0/);
  });

  it("limits cannot be raised", async () => {
    const { output } = await sh("ulimit -Hu; ulimit -Hn; ulimit -u 100000; ulimit -n 100000");
    expect(output.text).toMatch(/^256\n1024\n/);
    expect(output.text.match(/cannot modify limit/g)).toHaveLength(2);
  });
});

describe("network", () => {
  it("nothing of the host's network is in reach", async () => {
    callers = 0;
    expect(await failing(`exec 3<>/dev/tcp/127.0.0.1/${port}`)).toMatch(/Connection refused/);
    expect(await failing("exec 3<>/dev/tcp/169.254.169.254/80")).toMatch(/unreachable/);
    expect(await failing("getent hosts example.com")).toBe("");
    expect(await failing(`grep -F '${abstract}' /proc/net/unix`)).toBe("");
    expect((await sh("tail -n +3 /proc/net/dev | cut -d: -f1 | tr -d ' '")).output.text).toBe("lo\n");
    expect(callers).toBe(0);
  });

  it("neither a socket file outside nor an abstract socket can be connected to", async () => {
    const perl = (address: string) =>
      `perl -MSocket -e 'socket(S, AF_UNIX, SOCK_STREAM, 0) or die; connect(S, pack_sockaddr_un(${address})) or die "$!\\n"'`;
    expect(await failing(perl(`"${socket}"`))).toMatch(MISSING);
    expect(await failing(perl(`"\\0${abstract}"`))).toMatch(/Connection refused/);
    expect(callers).toBe(0);
  });
});
