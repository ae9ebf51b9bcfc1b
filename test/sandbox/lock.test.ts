import { chmodSync, cpSync, mkdirSync, readdirSync, readlinkSync, renameSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout } from "node:timers/promises";
import { afterAll, beforeAll, expect, it } from "vitest";
import type { RunResult, Sandbox } from "../../src/core/sandbox.ts";
import { bwrapSandbox } from "../../src/sandbox/bwrap.ts";
import {
  childrenOf,
  makeWorkspace,
  processesWith,
  type Shell,
  shellIn,
  type TestWorkspace,
  uniqueSleep,
  until,
} from "../support/workspace.ts";

/** Each has a runner of its own, as if it were another worker. */
const WORKERS = 4;

let place: TestWorkspace;
let sandboxes: Sandbox[];
let shells: Shell[];

beforeAll(() => {
  place = makeWorkspace();
  sandboxes = Array.from({ length: WORKERS }, () => bwrapSandbox({ stateDir: place.stateDir, runAs: null }));
  shells = sandboxes.map((sandbox) => shellIn(sandbox, place.path));
});
afterAll(async () => {
  for (const sandbox of sandboxes) await sandbox.close();
  place.cleanup();
});

interface Span {
  writes: boolean;
  from: number;
  to: number;
}

const SPAN = "echo $EPOCHREALTIME; sleep 0.05; echo $EPOCHREALTIME";

function spanOf({ output }: RunResult, writes: boolean): Span {
  const [from, to] = output.text.trim().split("\n").map(Number) as [number, number];
  return { writes, from, to };
}

function overlap(one: Span, other: Span): boolean {
  return one !== other && one.from < other.to && other.from < one.to;
}

it("of all that several workers run in one workspace, only commands that read overlap", async () => {
  const each = Array.from({ length: 8 * WORKERS }, async (_, at) => {
    const writes = at % 3 === 0;
    const sh = shells[at % WORKERS] as Shell;
    return spanOf(await sh(SPAN, { reach: writes ? "approved" : "read", conversation: `${at}` }), writes);
  });
  const spans = await Promise.all(each);
  const pairs = spans.flatMap((one) => spans.filter((other) => overlap(one, other)).map((other) => [one, other] as const));
  expect(pairs.filter(([one, other]) => one.writes || other.writes)).toEqual([]);
  expect(pairs.length).toBeGreaterThan(0);
}, 60_000);

it("a worker whose commands only read, one after the other, leaves another its turn to write", async () => {
  const [reader, writer] = shells as [Shell, Shell];
  await writer("true", { reach: "approved" });
  let wrote = false;
  let reads = 0;
  const writing = (async () => {
    await until("some were read", () => reads > 2);
    await writer("true", { reach: "approved", conversation: "writes" });
    wrote = true;
  })();
  for (const end = Date.now() + 15_000; !wrote && Date.now() < end; reads++) await reader("true", { reach: "read" });
  expect(wrote).toBe(true);
  await writing;
}, 30_000);

it("workers that read without end, always some at once, leave another its turn to write", async () => {
  const [one, other, writer] = shells as [Shell, Shell, Shell];
  let reading = true;
  let reads = 0;
  const readers = [one, other, one, other, one, other].map(async (reader, at) => {
    await setTimeout(at * 200);
    for (const end = Date.now() + 20_000; reading; reads++) {
      if (Date.now() > end) reading = false;
      await reader(`sleep 1.${at}`, { reach: "read", conversation: `reads ${at}` });
    }
  });
  await until("some were read", () => reads > 4);
  const wrote = (await writer("echo wrote", { reach: "approved", conversation: "writes" })).output.text;
  const others = reading;
  reading = false;
  await Promise.all(readers);
  expect({ wrote, others }).toEqual({ wrote: "wrote\n", others: true });
}, 60_000);

it("whoever waits for a workspace waits no longer than its runner lives", async () => {
  const [holder, waiter] = shells as [Shell, Shell];
  const mark = uniqueSleep();
  const stop = new AbortController();
  const holding = holder(mark, { reach: "approved", signal: stop.signal });
  await until("it is held", () => processesWith(mark).length > 0);
  const waiting = waiter("true", { reach: "read", conversation: "waits" });
  await until("one waits", () => locking().length > 0);
  const runners = childrenOf(process.pid).filter((pid) => processesWith(`${place.stateDir}/run/`).includes(pid));
  const waits = runners.find((pid) => childrenOf(pid).some((child) => locking().includes(child)));
  process.kill(waits as number, "SIGKILL");
  expect((await waiting).how).toBe("interrupted");
  await until("nobody waits", () => locking().length === 0);
  stop.abort();
  expect((await holding).how).toBe("cancelled");
  expect((await waiter("echo free", { reach: "approved" })).output.text).toBe("free\n");
});

it("the lock of a runner that dies is free when nothing is left of its command", async () => {
  const [holder, other] = shells as [Shell, Shell];
  const mark = uniqueSleep();
  const holding = holder(mark, { reach: "approved" });
  await until("it is held", () => processesWith(mark).length > 0);
  const waiting = other(`echo free`, { reach: "approved", conversation: "waits" });
  // Bubblewrap and its shell stand between them.
  const below = (pid: number) => childrenOf(pid).flatMap(childrenOf).flatMap(childrenOf);
  const runner = processesWith(`${place.stateDir}/run/`).find((pid) => below(pid).some((one) => processesWith(mark).includes(one)));
  process.kill(runner as number, "SIGKILL");
  expect((await waiting).output.text).toBe("free\n");
  expect((await holding).how).toBe("interrupted");
  expect(processesWith(mark)).toEqual([]);
});

it("what a runner that died has left is waited for", async () => {
  const [sh, other] = shells as [Shell, Shell];
  const mark = uniqueSleep();
  const stop = new AbortController();
  let begun = false;
  const running = sh(`echo; ${mark}`, { reach: "approved", signal: stop.signal, onChunk: () => void (begun = true) });
  await until("it runs", () => begun);
  // As if its lock were free already: the file that the others go by stays as it is.
  const folder = join(place.stateDir, "lock");
  const copies = readdirSync(folder).map((name) => [join(folder, name), join(folder, `${name}.old`)] as const);
  for (const [path, old] of copies) {
    renameSync(path, old);
    cpSync(old, path);
    place.give(path);
  }
  const waiting = other("echo free", { reach: "read", conversation: "waits" });
  const first = await Promise.race([waiting, setTimeout(300, "waits")]);
  expect(first).toBe("waits");
  stop.abort();
  await running;
  expect((await waiting).output.text).toBe("free\n");
});

it("what keeps the lock from being taken is told, and nothing runs", async () => {
  const bin = join(place.root, "bin");
  mkdirSync(bin);
  for (const name of ["bwrap", "setpriv", "mkfifo"]) symlinkSync(`/usr/bin/${name}`, join(bin, name));
  writeFileSync(join(bin, "flock"), "#!/bin/sh\necho flock: no locks available >&2\nexit 71\n");
  chmodSync(join(bin, "flock"), 0o755);
  const sandbox = bwrapSandbox({ stateDir: place.stateDir, runAs: null, path: bin });
  for (const reach of ["read", "approved"] as const) {
    const result = await shellIn(sandbox, place.path)("echo ran >/tmp/ran", { reach, conversation: "no lock" });
    expect(result).toMatchObject({ how: "refused", why: expect.stringMatching(/no locks available.*SANDBOX_DENIED/) as string });
  }
  await sandbox.close();
  expect((await (shells[0] as Shell)("ls /tmp/ran", { reach: "read", conversation: "no lock" })).exit).toBe(2);
});

/** Processes that take or wait for a lock of this state folder. */
function locking(): number[] {
  return processesWith("flock").filter((pid) => {
    try {
      return readlinkSync(`/proc/${pid}/fd/3`).startsWith(`${place.stateDir}/lock/`);
    } catch {
      return false; // it has ended, or has no such file
    }
  });
}
