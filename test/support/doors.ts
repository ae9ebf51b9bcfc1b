import { type ChildProcess, spawn, spawnSync } from "node:child_process";
import { cpSync, mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { createInterface } from "node:readline";
import type { Readable } from "node:stream";
import { randomBytes } from "node:crypto";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { Carried, RunResult, RunSpec } from "../../src/core/sandbox.ts";
import type { Ask, DoorOptions } from "./door-main.ts";
import { isRoot, makeWorkspace, RUN_UID, type Shell, type TestWorkspace } from "./workspace.ts";

const ROOT = join(import.meta.dirname, "../..");
/** What only the worker may know; it stands in its environment. */
export const TOKEN = "xoxb-only-the-bot-may-know-this";
export const TALK = "slack:T1:C1:1.1";

/** A worker in a process of its own, started by root or by an ordinary user, and the workspace that it works in. */
export interface Door {
  starter: Starter;
  place: TestWorkspace;
  /** The home of whoever started the worker; there is a key in it. */
  home: string;
  /** The worker's process. */
  worker: ChildProcess & { pid: number };
  sh: Shell;
  carried(conversation?: string): Promise<Carried>;
  dispose(conversation: string): Promise<void>;
  /** Ends the worker as a host would, and waits until it is gone. */
  leave(): Promise<void>;
}

/** Words that make a command the run user's. */
const BECOME = ["setpriv", `--reuid=${RUN_UID}`, `--regid=${RUN_UID}`, "--clear-groups"];

export type Starter = "root" | "user";
/** What root can play is played by root too; nobody else can play root. */
export const STARTERS: Starter[] = isRoot() ? ["root", "user"] : ["user"];

type Chosen = Omit<DoorOptions, "stateDir" | "runAs"> & { runAs?: string };
type Options = Chosen | ((place: TestWorkspace) => Chosen | Promise<Chosen>);

/** The same cases twice: with a worker that root started, and with one that a user without an account started. */
export function behindEachDoor(cases: (door: () => Door) => void, options: Options = {}): void {
  for (const starter of STARTERS) {
    describe(`started by ${starter}`, () => {
      let door: Door;
      beforeAll(async () => {
        door = await openDoor(starter, options);
      });
      afterAll(async () => {
        await door.leave();
        door.place.cleanup();
      });
      cases(() => door);
    });
  }
  it("the cases were played by root too", ({ skip }) => {
    skip(!isRoot(), "only root can play root");
    expect(STARTERS).toEqual(["root", "user"]);
  });
}

export async function openDoor(starter: Starter, options: Options = {}, place = makeWorkspace()): Promise<Door> {
  const { runAs = null, ...chosen } = typeof options === "function" ? await options(place) : options;
  const home = join(place.root, "bot");
  mkdirSync(join(home, ".ssh"), { recursive: true });
  writeFileSync(join(home, ".ssh", "id_rsa"), "bait");
  const drop = isRoot() && starter === "user";
  if (drop) for (const own of [place.stateDir, home]) place.give(own);
  const become = drop ? BECOME : [];
  const { node, main } = program(place, drop);
  const given: DoorOptions = { stateDir: place.stateDir, runAs, ...chosen };
  const words = [...become, node, "--disable-warning=ExperimentalWarning", main, JSON.stringify(given)];
  const env = { PATH: process.env["PATH"], HOME: home, TMPDIR: home, SLACK_BOT_TOKEN: TOKEN };
  const worker = spawn(words[0] as string, words.slice(1), { cwd: "/", env, stdio: ["pipe", "pipe", "inherit"] });
  const ask = asker(worker);
  await ask.up;
  const gone = new Promise((done) => worker.once("exit", done));
  return {
    ...{ starter, place, home, worker: worker as Door["worker"] },
    sh: (command, { signal, onChunk, ...spec } = {}) => {
      const base = { conversation: TALK, workspace: place.path, cwd: place.path, timeoutMs: 30_000, reach: "contained" } as const;
      return ask.run({ ...base, ...spec, command }, { signal, onChunk });
    },
    carried: async (conversation = TALK) => (await ask.one({ ask: "carried", conversation, workspace: place.path })) as Carried,
    dispose: async (conversation) => void (await ask.one({ ask: "dispose", conversation, workspace: place.path })),
    leave: async () => {
      worker.stdin?.end();
      await gone;
    },
  };
}

/** Ours, or a copy where this folder is closed to others. */
function program(place: TestWorkspace, drop: boolean): { node: string; main: string } {
  const main = join(import.meta.dirname, "door-main.ts");
  const words = [...BECOME, process.execPath, "--check", main];
  if (!drop || spawnSync(words[0] as string, words.slice(1)).status === 0) return { node: process.execPath, main };
  const copy = join(place.root, "program");
  for (const path of ["package.json", "src", "test/support"]) cpSync(join(ROOT, path), join(copy, path), { recursive: true });
  const node = join(copy, "node");
  cpSync(process.execPath, node, { dereference: true });
  return { node, main: join(copy, "test/support/door-main.ts") };
}

type WithoutId<A> = A extends { id: number } ? Omit<A, "id"> : never;

interface Asker {
  up: Promise<unknown>;
  run(spec: RunSpec, how: { signal?: AbortSignal | undefined; onChunk?: ((text: string) => void) | undefined }): Promise<RunResult>;
  one(words: WithoutId<Ask>): Promise<unknown>;
}

/** Asks a worker by lines and hears its answers. All questions fail when it goes. */
function asker(worker: ChildProcess): Asker {
  const waiting = new Map<number, { done: (result: unknown) => void; failed: (why: Error) => void; onChunk: (text: string) => void }>();
  let ids = 0;
  const answered = (id: number, onChunk: (text: string) => void = () => {}) =>
    new Promise<unknown>((done, failed) => void waiting.set(id, { done, failed, onChunk }));
  const say = (line: Ask) => {
    if (worker.exitCode !== null || worker.signalCode !== null) end(line.id, new Error("the worker is gone"));
    else worker.stdin?.write(`${JSON.stringify(line)}\n`);
  };
  const end = (id: number, failure: Error | null, result?: unknown) => {
    const question = waiting.get(id);
    waiting.delete(id);
    if (failure === null) question?.done(result);
    else question?.failed(failure);
  };
  createInterface({ input: worker.stdout as Readable }).on("line", (text) => {
    const { id, chunk, error, result } = JSON.parse(text) as { id: number; chunk?: string; error?: string; result: unknown };
    if (chunk !== undefined) waiting.get(id)?.onChunk(chunk);
    else end(id, error === undefined ? null : new Error(error), result);
  });
  worker.stdin?.on("error", () => {}); // it may be killed before it has read everything
  worker.once("exit", (code, signal) => {
    for (const id of waiting.keys()) end(id, new Error(`the worker is gone: ${signal ?? code}`));
  });
  return {
    up: answered(0),
    one: async (words) => {
      const id = ++ids;
      const answer = answered(id);
      say({ ...words, id });
      return await answer;
    },
    run: async (spec, { signal, onChunk }) => {
      const id = ++ids;
      const answer = answered(id, onChunk);
      const stop = () => say({ id, ask: "stop" });
      say({ id, ask: "run", spec });
      if (signal?.aborted) stop();
      signal?.addEventListener("abort", stop, { once: true });
      return (await answer) as RunResult;
    },
  };
}

/** What one of several commands said, and how it ended. */
export interface Said {
  exit: number;
  text: string;
}

/** Many short commands in one run of the sandbox, each in a bash of its own, one after the other; by name. */
export async function together<Name extends string>(
  sh: (command: string, spec: Partial<RunSpec>) => Promise<Pick<RunResult, "how" | "output" | "why">>,
  commands: Record<Name, string>,
  spec: Partial<RunSpec> = {},
): Promise<Record<Name, Said>> {
  const mark = `<${randomBytes(6).toString("hex")}>`;
  const each = Object.values<string>(commands).map((command) => `each '${command.replaceAll("'", "'\\''")}'`);
  const { how, output, why } = await sh(`each() { bash -c "$1" 2>&1; printf '${mark}%d${mark}' $?; }\n${each.join("\n")}`, spec);
  if (how !== "exited") throw new Error(`the commands ended as ${how}: ${why ?? output.text}`);
  const parts = output.text.split(mark);
  const said = Object.keys(commands).map((name, at) => [name, { text: parts[2 * at] ?? "", exit: Number(parts[2 * at + 1]) }]);
  return Object.fromEntries(said) as Record<Name, Said>;
}
