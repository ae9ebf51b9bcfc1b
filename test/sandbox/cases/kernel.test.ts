import { chmodSync, chownSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { beforeAll, describe, expect, it } from "vitest";
import { behindEachDoor, type Said, together } from "../../support/doors.ts";
import { i386Program, numberedCall, systemCall } from "../../support/system-calls.ts";

const CORE_PATTERN = "/proc/sys/kernel/core_pattern";
const NEW_USER = 0x10000000;
/** SIGCHLD, so that a child that is made after all can be waited for. */
const CHILD = 17;
const TIOCSTI = 0x5412;
const TIOCLINUX = 0x541c;
const [PTRACE_ATTACH, PTRACE_SEIZE] = [16, 0x4206];
const X32 = 0x40000000;

/** Title -> what is tried, and what is said of it line by line. */
const CASES: [title: string, commands: string[], words: RegExp][] = [
  ["21 opening core_pattern to write: refused", [`exec 3>>${CORE_PATTERN}`], /Permission denied|Read-only file system/],
  [
    "23 making namespaces: not permitted",
    ["unshare -Urm true", systemCall("unshare", NEW_USER), systemCall("clone", NEW_USER + CHILD, 0, 0, 0, 0)],
    /^EPERM$|Operation not permitted/,
  ],
  ["24 entering the namespaces of others: not permitted", ["nsenter -t 1 -n true", systemCall("setns", 0, 0)], /^EPERM$|not permitted/],
  ["25 opening a file by its handle: not permitted", [systemCall("open_by_handle_at", -1, 0, 0)], /^EPERM$/],
  [
    "26 the kernel's keyrings: not permitted",
    [systemCall("keyctl", 0, -3, 0), systemCall("add_key", 0, 0, 0, 0, -3), systemCall("request_key", 0, 0, 0, 0)],
    /^EPERM$/,
  ],
  [
    "27 io_uring: not permitted",
    [systemCall("io_uring_setup", 1, 0), systemCall("io_uring_enter", 0, 0, 0, 0, 0), systemCall("io_uring_register", 0, 0, 0, 0)],
    /^EPERM$/,
  ],
  [
    "28 bpf, perf and userfaultfd: not permitted",
    [systemCall("bpf", 0, 0, 0), systemCall("perf_event_open", 0, 0, -1, -1, 0), systemCall("userfaultfd", 0)],
    /^EPERM$/,
  ],
  ["30 becoming root: fails", ["su -c id"], /rror|ailure/],
  ["31 typing into a terminal: not permitted", [systemCall("ioctl", 0, TIOCSTI, "x"), systemCall("ioctl", 0, TIOCLINUX, "x")], /^EPERM$/],
  [
    "33 the clock, a restart, modules and the host's name: not permitted",
    [
      systemCall("settimeofday", 0, 0),
      systemCall("reboot", 0, 0, 0, 0),
      systemCall("init_module", 0, 0, ""),
      systemCall("sethostname", "x", 1),
      systemCall("fsopen", "tmpfs", 0),
    ],
    /^EPERM$/,
  ],
];

behindEachDoor((door) => {
  let said: Record<string, Said>;

  beforeAll(async () => {
    const commands = CASES.map(([title, each]) => [title, each.map((one) => `(${one}) 2>&1; echo`).join("\n")]);
    said = await together(door().sh, Object.fromEntries(commands));
  });

  it.each(CASES)("%s", (title, commands, words) => {
    const answers = said[title]?.text.split("\n").filter(Boolean) ?? [];
    expect(answers.length).toBeGreaterThanOrEqual(commands.length);
    for (const answer of answers) expect(answer).toMatch(words);
    expect(said[title]?.text).not.toContain("uid=0");
    expect(readFileSync(CORE_PATTERN, "utf8")).toMatch(/^\S/);
  });

  it("22 commands never run as root: there is no other way in", async () => {
    const { place, sh, starter } = door();
    const rooted = join(place.root, "rooted");
    mkdirSync(rooted);
    if (starter === "root") {
      expect((await sh("id -u", { workspace: rooted, cwd: rooted })).why).toMatch(/belongs to root.*RUN_AS/);
      chownSync(rooted, 1, 0);
    } else chmodSync(rooted, 0o777);
    expect((await sh("id -u; id -G; grep -E '^[UG]id' /proc/self/status", { workspace: rooted, cwd: rooted })).output.text).not.toMatch(
      /\b0\b/,
    );
  });

  it("29 no capabilities, no way to new ones, under a filter", async () => {
    const { output } = await door().sh("grep -E '^(Cap(Inh|Prm|Eff|Bnd|Amb)|NoNewPrivs|Seccomp):' /proc/self/status | tr '\\t' ' '");
    expect(output.text.match(/Cap\w+: 0{16}\n/g)).toHaveLength(5);
    expect(output.text).toContain("NoNewPrivs: 1\nSeccomp: 2\n");
  });

  it("32 the worker, the runner and the tests cannot be signalled or traced: there are no such processes", async () => {
    const { sh, worker } = door();
    // The command's own numbers are small.
    const pids = [worker.pid, process.pid, 400_000_000].filter((pid) => pid > 300);
    const tries = pids.map((pid) => [
      `kill -0 ${pid}`,
      systemCall("ptrace", PTRACE_ATTACH, pid, 0, 0),
      systemCall("ptrace", PTRACE_SEIZE, pid, 0, 0),
    ]);
    const { output } = await sh(tries.flatMap((each) => each.map((one) => `(${one}) 2>&1; echo`)).join("\n"));
    const answers = output.text.split("\n").filter(Boolean);
    expect(answers).toHaveLength(3 * pids.length);
    for (const answer of answers) expect(answer).toMatch(/^ESRCH$|No such process/);
  });

  describe.runIf(process.arch === "x64")("on x64", () => {
    it("34 calls of other kinds of programs: i386 is killed, x32 does not exist", async () => {
      const { place, sh } = door();
      writeFileSync(join(place.path, "old"), i386Program());
      chmodSync(join(place.path, "old"), 0o755);
      expect(await sh("./old")).toMatchObject({ how: "exited", exit: 159 });
      expect((await sh(numberedCall(X32 + 39))).output.text).toBe("ENOSYS");
    });
  });
});
