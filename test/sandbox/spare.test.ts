import { mkdirSync, mkdtempSync, readdirSync, readFileSync, readlinkSync, renameSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as wait } from "node:timers/promises";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it, vi } from "vitest";
import { LIMITS } from "../../src/limits.ts";
import { READY } from "../../src/sandbox/launch.ts";
import type { Job } from "../../src/sandbox/messages.ts";
import { pipeMaker } from "../../src/sandbox/pipes.ts";
import { endStanding, type Spares, spareKeeper } from "../../src/sandbox/spare.ts";
import { type Door, openDoor, STARTERS, TALK } from "../support/doors.ts";
import { makeWorkspace, processesWith, sparesOf, type TestWorkspace, uniqueSleep, until } from "../support/workspace.ts";

describe("a runner's spares", () => {
  let place: TestWorkspace;
  let spares: Spares;
  let mark: string;
  const folder = mkdtempSync(join(tmpdir(), "deckhand-pipes-"));
  const newPipe = pipeMaker(folder);
  // Pipes may still be being made.
  afterAll(() => rmSync(folder, { recursive: true, maxRetries: 50, retryDelay: 10 }));
  beforeEach(() => {
    place = makeWorkspace();
    mark = uniqueSleep();
    spares = spareKeeper(() => newPipe(null));
  });
  afterEach(async () => {
    vi.useRealTimers();
    await spares.end();
    await until("all are gone", () => there() === 0);
    place.cleanup();
  });

  /** A shell in place of bubblewrap that says what that says, and then waits. */
  const STANDS = `echo "{ \\"child-pid\\": $$ }" >&4; echo ${READY} >&2; read -r go`;
  function job(changed: Partial<Job> = {}, script = STANDS): Job {
    return {
      ...{
        argv: ["/bin/sh", "-c", script, mark, "--chdir", place.path],
        env: {},
        cwd: place.path,
        seccomp: "/dev/null",
        spare: place.path,
        fed: { first: "", go: "\n" },
      },
      ...{ opens: [place.path], secretArgs: [], as: null, lock: null, owner: null, timeoutMs: 60_000, floodBytes: 1000 },
      ...{ waits: false, watched: false, ...changed },
    };
  }
  const there = () => processesWith(mark).length;
  const mounts = readFileSync("/proc/self/mountinfo", "utf8");

  async function isTaken(wanted: Job): Promise<boolean> {
    const taken = await spares.take(wanted);
    if (taken !== null) endStanding(taken);
    return taken !== null;
  }

  it("are given out once", async () => {
    spares.add(job(), mounts);
    spares.add(job(), mounts);
    expect(there()).toBe(1);
    expect(await isTaken(job())).toBe(true);
    expect(await isTaken(job())).toBe(false);
  });

  it.each<[string, Partial<Job>]>([
    ["other words", { argv: ["/bin/true"] }],
    ["other words that no list shows", { secretArgs: ["--setenv", "A", "1"] }],
    ["another user", { as: { uid: 64_002, gid: 64_001 } }],
    ["something else in it", { opens: [] }],
    ["no right to one", { spare: null }],
    ["other words for its shell before the word to go", { fed: { first: "cd /\n", go: "" } }],
  ])("are for no job with %s", async (_, changed) => {
    spares.add(job(), mounts);
    expect(await isTaken(job(changed))).toBe(false);
    expect(await isTaken(job())).toBe(true);
  });

  it.each([true, false])("are ended when what they mount is gone, whether another one has its name: %s", async (another) => {
    spares.add(job(), mounts);
    renameSync(place.path, `${place.path}.old`);
    if (another) mkdirSync(place.path);
    expect(await isTaken(job())).toBe(false);
    await until("it is gone", () => there() === 0);
  });

  it("are ended when their folder was moved, and another one has its name", async () => {
    const cwd = join(place.path, "sub");
    mkdirSync(cwd);
    const inSub = job({ cwd, spare: cwd, argv: ["/bin/sh", "-c", STANDS, mark, "--chdir", cwd] });
    spares.add(inSub, mounts);
    renameSync(cwd, `${cwd}.old`);
    mkdirSync(cwd);
    expect(await isTaken(inSub)).toBe(false);
    await until("it is gone", () => there() === 0);
  });

  it("are ended when they see other mounts than the command before", async () => {
    spares.add(job(), mounts.replace(" / ", " /x "));
    expect(await isTaken(job())).toBe(false);
  });

  it.each([
    ["has ended", "exit 0"],
    ["has said something else", `echo hm >&2; ${STANDS}`],
    ["ends while it is set up", `sleep 0.05; exit 1`],
  ])("are not given out when one %s", async (_, script) => {
    const one = job({}, script);
    spares.add(one, mounts);
    expect(await isTaken(one)).toBe(false);
    await until("it is gone", () => there() === 0);
  });

  it("are waited for while they are set up, and what was changed meanwhile counts", async () => {
    const slow = job({}, `sleep 0.05; ${STANDS}`);
    spares.add(slow, mounts);
    expect(await isTaken(slow)).toBe(true);
    spares.add(slow, mounts);
    const taking = isTaken(slow);
    renameSync(place.path, `${place.path}.old`);
    expect(await taking).toBe(false);
  });

  it("leave after a while", async () => {
    vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout"] });
    spares.add(job(), mounts);
    expect(there()).toBe(1);
    vi.advanceTimersByTime(LIMITS.spareTime);
    vi.useRealTimers();
    await until("it is gone", () => there() === 0);
    expect(await isTaken(job())).toBe(false);
  });

  it("are no more than so many: the oldest goes, when it has waited for a while", async () => {
    vi.useFakeTimers({ toFake: ["performance"] });
    const numbered = (n: number) => job({ argv: ["/bin/sh", "-c", STANDS, mark, "--chdir", place.path, String(n)] });
    const last = numbered(LIMITS.spareSandboxes);
    for (let n = 0; n < LIMITS.spareSandboxes; n += 1) spares.add(numbered(n), mounts);
    spares.add(last, mounts);
    expect(there()).toBe(LIMITS.spareSandboxes);
    vi.advanceTimersByTime(LIMITS.spareSettled);
    spares.add(last, mounts);
    await until("one is gone", () => there() === LIMITS.spareSandboxes);
    expect(await isTaken(numbered(0))).toBe(false);
    expect(await isTaken(numbered(1))).toBe(true);
    expect(await isTaken(last)).toBe(true);
  });
});

describe.each(STARTERS)("a worker started by %s", (starter) => {
  let door: Door;
  beforeAll(async () => {
    door = await openDoor(starter);
  });
  afterAll(() => door.place.cleanup());

  /** The first processes of sandboxes that wait. */
  const waiting = () => sparesOf(door.place.stateDir);
  const spaces = (pid: string | number) =>
    ["cgroup", "ipc", "mnt", "net", "pid", "user", "uts"].map((name) => readlinkSync(`/proc/${pid}/ns/${name}`)).join("\n");
  const TELL = "readlink /proc/$$/ns/{cgroup,ipc,mnt,net,pid,user,uts}";

  /** The spare that is set up after a command. There is none when something else begins in that moment, so until there is. */
  async function spare(spec: Parameters<Door["sh"]>[1] = {}): Promise<number> {
    const before = waiting();
    const fresh = () => waiting().find((pid) => !before.includes(pid));
    for (let tries = 0; tries < 20 && fresh() === undefined; tries += 1) {
      await door.sh("true", { reach: "read", ...spec });
      for (let look = 0; look < 10 && fresh() === undefined; look += 1) await wait(20);
    }
    return fresh() as number;
  }

  it("sets up a sandbox of its own for each command that only reads, before there is one", async () => {
    const first = await spare();
    const ready = spaces(first);
    expect((await door.sh(TELL, { reach: "read" })).output.text).toBe(`${ready}\n`);
    const next = await spare();
    expect(next).not.toBe(first);
    const then = spaces(next);
    expect((await door.sh(TELL, { reach: "read" })).output.text).toBe(`${then}\n`);
  });

  it("lets only such a command have it, of the same conversation", async () => {
    const ready = spaces(await spare());
    for (const spec of [{ reach: "contained" }, { reach: "approved" }, { reach: "read", conversation: "other" }] as const)
      expect((await door.sh(TELL, spec)).output.text).not.toBe(`${ready}\n`);
    expect((await door.sh(TELL, { reach: "read" })).output.text).toBe(`${ready}\n`);
  });

  it("gives it what the command before left: its folder, its variables, its files", async () => {
    const { sh, carried, place } = door;
    await sh("mkdir -p sub", { reach: "approved" });
    await sh("cd sub; export COLOUR=red; echo kept >/tmp/x", { reach: "read" });
    const { cwd, env } = await carried(TALK);
    expect(cwd).toBe(join(place.path, "sub"));
    for (let run = 0; run < 3; run += 1)
      expect((await sh('pwd; echo "$COLOUR $OLDPWD $SHLVL $0"; cat /tmp/x; cat', { reach: "read", cwd, env })).output.text).toBe(
        `${cwd}\nred  1 bash\nkept\n`,
      );
  });

  it("begins anew where a folder was replaced meanwhile", async () => {
    const { sh, place } = door;
    const cwd = join(place.path, "place");
    await sh("mkdir -p place && touch place/old", { reach: "approved" });
    await spare({ cwd });
    await sh("mv place place.old && mkdir place && touch place/new", { reach: "approved" });
    expect((await sh("ls", { reach: "read", cwd })).output.text).toBe("new\n");
    await sh("rmdir place || rm -r place", { reach: "approved" });
    expect(await sh("ls", { reach: "read", cwd })).toMatchObject({
      how: "refused",
      why: expect.stringContaining("is not there") as string,
    });
  });

  it("begins anew where what a mount of it stands on was moved meanwhile", async () => {
    const ready = spaces(await spare({ conversation: "moves" }));
    // The workspace is below /tmp here, so the conversation's own /tmp has a folder for it.
    for (const path of readdirSync(join(door.place.stateDir, "c"), { recursive: true, encoding: "utf8" }))
      if (/^[^/]+\/tmp\/deckhand-[^/]+$/.test(path))
        renameSync(join(door.place.stateDir, "c", path), join(door.place.stateDir, "c", `${path}.moved`));
    expect((await door.sh(TELL, { reach: "read", conversation: "moves" })).output.text).not.toBe(`${ready}\n`);
  });

  it("begins anew where the conversation was disposed of, or the spare was ended", async () => {
    const { sh, dispose } = door;
    await sh("echo kept >/tmp/left.txt", { reach: "read", conversation: "old" });
    await spare({ conversation: "old" });
    await dispose("old");
    expect((await sh("ls -A /tmp ~ /run/sess", { reach: "read", conversation: "old" })).output.text).not.toContain("left.txt");
    const ended = await spare({ conversation: "ends" });
    process.kill(ended, "SIGKILL");
    expect(await sh("echo here", { reach: "read", conversation: "ends" })).toMatchObject({ how: "exited", output: { text: "here\n" } });
  });

  it("leaves none behind, in good order or not", async () => {
    await spare();
    if (starter === "root") door.worker.kill("SIGKILL");
    else await door.leave();
    await until("nothing is left", () => processesWith(door.place.stateDir).length === 0);
  });
});
