import { type ChildProcess, execFileSync, spawn } from "node:child_process";
import { chownSync, existsSync, mkdirSync, readdirSync, readFileSync, rmdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as wait } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { isRoot, RUN_UID, until } from "../support/workspace.ts";

/**
 * Groups of the kernel. Where it hands memory and pids to cgroup v2 everything is tried; where it only has others to hand
 * on (a machine that is half v1), these stand in for them in what does not measure memory or processes.
 */
const mount = /^\S+ (\S+) cgroup2 /m.exec(readFileSync("/proc/mounts", "utf8"))?.[1] ?? "";
const there = mount === "" ? [] : readFileSync(join(mount, "cgroup.controllers"), "utf8").trim().split(" ");
const whole = there.includes("memory") && there.includes("pids");
const standIn = whole ? "" : JSON.stringify(there.includes("hugetlb") ? { hugetlb: {} } : {});
const controllers = whole ? ["memory", "pids"] : Object.keys(JSON.parse(standIn) as object);
const SCRIPT = fileURLToPath(new URL("./cgroup-worker.ts", import.meta.url));
const possible = isRoot() && controllers.length > 0;

describe.runIf(possible)("a group of the kernel that was delegated to us", () => {
  const added: string[] = [];
  const started: ChildProcess[] = [];
  let unit: string;
  let units = 0;

  beforeAll(() => {
    const file = join(mount, "cgroup.subtree_control");
    added.push(...controllers.filter((name) => !readFileSync(file, "utf8").split(/\s/).includes(name)));
    for (const name of added) writeFileSync(file, `+${name}`);
  });
  beforeEach(() => {
    unit = join(mount, `deckhand-test-${process.pid}-${++units}`);
    mkdirSync(unit);
  });
  afterEach(async () => {
    for (const child of started.splice(0)) child.kill("SIGKILL");
    await removeAll(unit);
  });
  afterAll(() => {
    for (const name of added) writeFileSync(join(mount, "cgroup.subtree_control"), `-${name}`);
  });

  /** Starts the worker in the unit; as somebody else, to whom the unit is given as systemd does. */
  function start(lines: string[], { uid = 0, limits = standIn, inUnit = true } = {}): ChildProcess {
    if (uid !== 0)
      for (const name of ["", "cgroup.procs", "cgroup.subtree_control", "cgroup.threads"]) chownSync(join(unit, name), uid, uid);
    const become = uid === 0 ? [] : ["setpriv", `--reuid=${uid}`, `--regid=${uid}`, "--clear-groups"];
    const enter = inUnit ? 'echo 0 >"$0/cgroup.procs"; exec "$@"' : 'exec "$@"';
    const words = ["-c", enter, unit, ...become, process.execPath, SCRIPT, mount, limits, ...lines];
    const child = spawn("sh", words, { cwd: "/", env: { PATH: process.env["PATH"] }, stdio: ["ignore", "pipe", "inherit"] });
    started.push(child);
    return child;
  }

  async function said(child: ChildProcess, pattern: RegExp): Promise<Said> {
    let text = "";
    child.stdout?.on("data", (data: Buffer) => (text += String(data)));
    await until(`it says ${pattern}`, () => pattern.test(text) || child.exitCode !== null);
    return JSON.parse(text.trim().split("\n").at(-1) ?? "{}") as Said;
  }

  async function run(lines: string[], options = {}): Promise<Said> {
    return await said(start(lines, options), /"ran"|"off"/);
  }

  const readable = runs("setpriv", [`--reuid=${RUN_UID}`, "--clear-groups", "head", "-c", "1", SCRIPT]);

  it.each([
    ["root", 0],
    ["an ordinary user", RUN_UID],
  ])("each command of a worker of %s runs in a fresh group with all that it starts, and the groups are gone afterwards", async (_, uid) => {
    if (uid !== 0 && !readable) return;
    const { own, ran = [] } = await run(["cat /proc/self/cgroup", "setsid -f sleep 300; true"], { uid });
    expect(own).toMatch(new RegExp(`/deckhand-test-${process.pid}-\\d+/worker-\\d+-\\d+$`));
    expect(ran[0]?.output).toMatch(new RegExp(`^0::${ran[0]?.group.slice(mount.length)}$`, "m"));
    expect(ran.map(({ code, left }) => ({ code, left }))).toEqual([
      { code: 0, left: false },
      { code: 0, left: false },
    ]);
    expect(readdirSync(unit).filter((name) => name.startsWith("run-"))).toEqual([]);
  });

  it("what a command left behind in another session is ended with its group", async () => {
    const { ran = [] } = await run(["setsid sleep 300 & echo $!"]);
    await until("it is gone", () => isOver(ran[0]?.output.trim() ?? ""));
  });

  it("a worker that is not the group's owner is told so", async () => {
    if (!readable) return;
    const child = start(["true"], { uid: RUN_UID });
    chownSync(join(unit, "cgroup.subtree_control"), 0, 0);
    expect((await said(child, /"ran"|"off"/)).off).toMatch(
      `${unit} is not delegated to uid ${RUN_UID}: start Deckhand from a systemd unit`,
    );
  });

  it("a worker that shares its group, as in a terminal, leaves it alone", async () => {
    const other = spawn("sh", ["-c", 'echo 0 >"$0/cgroup.procs"; exec sleep 300', unit], { stdio: "ignore" });
    started.push(other);
    await until("it is in there", () => procs(unit).includes(String(other.pid)));
    expect((await run(["true"])).off).toMatch(`other processes share the group ${unit} (such as ${other.pid})`);
    expect(readdirSync(unit).filter((name) => /^(?:worker|run)-/.test(name))).toEqual([]);
  });

  it("what a worker left that was killed is ended and removed by the next one", async () => {
    const first = start(["echo waiting $$; sleep 300"]);
    const { waiting } = await said(first, /waiting/);
    first.kill("SIGKILL");
    const runs = () => readdirSync(unit).filter((name) => name.startsWith("run-"));
    expect(runs()).toHaveLength(1);
    // Nobody may be in the unit itself while it hands controllers on: systemd makes it anew, too.
    for (const name of controllers) writeFileSync(join(unit, "cgroup.subtree_control"), `-${name}`);
    await run(["true"]);
    await until("the group is gone", () => runs().length === 0);
    expect(isOver(waiting ?? "")).toBe(true);
  });

  describe.runIf(whole)("and has memory and pids", () => {
    const small = (limits: Record<string, Record<string, string>>) => ({ limits: JSON.stringify({ memory: {}, pids: {}, ...limits }) });

    it("the product's own limits are what a command gets", async () => {
      const line = 'd="$0/$(sed -n s/^0::.//p /proc/self/cgroup)"; cat $d/memory.max $d/pids.max';
      const { ran = [] } = await run([line.replaceAll("$0", mount)]);
      const [memory = 0, pids = 0] = (ran[0]?.output ?? "").trim().split("\n").map(Number);
      expect(memory).toBeGreaterThan(100_000_000);
      expect(memory).toBeLessThanOrEqual(4_294_967_296);
      expect(pids).toBe(288);
    });

    it("a command whose processes together use too much memory loses one of them, and that is told", async () => {
      const hungry = "x=$(head -c 60000000 /dev/zero | tr '\\0' x); echo ${#x}";
      const limits = small({ memory: { "memory.max": "40000000", "memory.swap.max": "0" } });
      const { ran = [] } = await run([`bash -c '${hungry.replaceAll("'", `'"'"'`)}'; echo survived $?`, "echo fine"], limits);
      expect(ran[0]).toMatchObject({ output: "survived 137\n", oom: true, left: false });
      expect(ran[1]).toMatchObject({ output: "fine\n", oom: false });
    });

    it("a command gets no more processes than its limit, whatever user it is", async () => {
      const { ran = [] } = await run(
        ["exec sh -c 'for i in 1 2 3 4 5 6 7 8; do sleep 5 & done; echo all'"],
        small({ pids: { "pids.max": "4" } }),
      );
      expect(ran[0]).toMatchObject({ code: 2, output: "", left: false });
    });
  });
});

interface Said {
  own?: string;
  off?: string;
  waiting?: string;
  ran?: { code: number | null; output: string; group: string; oom: boolean; left: boolean }[];
}

/** Gone, or only waiting to be taken note of. */
function isOver(pid: string): boolean {
  return !existsSync(`/proc/${pid}`) || readFileSync(`/proc/${pid}/stat`, "utf8").includes(") Z");
}

function procs(folder: string): string[] {
  return readFileSync(join(folder, "cgroup.procs"), "utf8").split("\n");
}

function runs(file: string, args: string[]): boolean {
  try {
    execFileSync(file, args, { stdio: "ignore" });
    return true;
  } catch {
    return false; // it cannot read there
  }
}

async function removeAll(folder: string): Promise<void> {
  for (const name of readdirSync(folder, { withFileTypes: true })) if (name.isDirectory()) await removeAll(join(folder, name.name));
  for (const end = Date.now() + 10_000; Date.now() < end; await wait(10)) {
    if (existsSync(join(folder, "cgroup.kill"))) writeFileSync(join(folder, "cgroup.kill"), "1");
    try {
      rmdirSync(folder);
      return;
    } catch {
      // what was killed is still on its way out
    }
  }
}
