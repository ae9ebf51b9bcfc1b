import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { chmodSync, existsSync, mkdtempSync, symlinkSync, writeFileSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { vi } from "vitest";
import { until } from "../support/redis.ts";

// Each test here starts whole programs, some of them before anything of Deckhand has been compiled.
vi.setConfig({ testTimeout: 90_000 });

export const ROOT = join(import.meta.dirname, "../..");
export const DECKHAND = join(ROOT, "bin/deckhand");

export interface Ended {
  code: number | null;
  stdout: string;
  stderr: string;
}

export interface Running {
  pid: number;
  /** Everything that it has said so far, on both streams. */
  said(): string;
  /** Waits until it has said this. */
  says(pattern: RegExp): Promise<void>;
  type(text: string): void;
  /** Nothing more is typed. */
  end(): void;
  kill(signal: NodeJS.Signals): void;
  ended: Promise<Ended>;
}

interface Options {
  env?: Record<string, string | undefined>;
  cwd?: string;
}

/** Ended with this process, whatever the tests do. */
const running = new Set<ChildProcess>();
process.once("exit", () => {
  for (const child of running) child.kill("SIGKILL");
});

const { PATH, NODE_COMPILE_CACHE } = process.env;
const SURROUNDINGS = { PATH, NODE_COMPILE_CACHE, HOME: "/", DECKHAND_ENV_FILE: "" };

/** Starts a program as a newcomer's shell would: a small environment, no `.env`, and a folder that is not Deckhand's. */
export function start(words: string[], { env = {}, cwd = "/" }: Options): Running {
  const [file = "", ...args] = words;
  const child = spawn(file, args, { cwd, env: { ...SURROUNDINGS, ...env }, stdio: "pipe" });
  running.add(child);
  const all = { stdout: "", stderr: "", said: "" };
  for (const name of ["stdout", "stderr"] as const) {
    child[name].setEncoding("utf8").on("data", (text: string) => {
      all[name] += text;
      all.said += text;
    });
  }
  child.stdin.on("error", () => {}); // it may end before it has read everything
  const closed = once(child, "close");
  const over = { yet: false };
  const ended = closed.then(([code]) => {
    over.yet = true;
    running.delete(child);
    return { code: code as number | null, stdout: all.stdout, stderr: all.stderr };
  });
  return {
    pid: child.pid ?? 0,
    said: () => all.said,
    says: async (pattern) => {
      await until(`it says ${pattern} or ends`, () => pattern.test(all.said) || over.yet, 60_000).catch(() => {}); // told below, with its words
      if (!pattern.test(all.said)) throw new Error(`it did not say ${pattern}, but this:\n${all.said}`);
    },
    type: (text) => void child.stdin.write(text),
    end: () => void child.stdin.end(),
    kill: (signal) => void child.kill(signal),
    ended,
  };
}

/** Runs `bin/deckhand` with this on standard input, to its end. */
export async function deckhand(args: string[], options: Options & { input?: string }): Promise<Ended> {
  const running = start([DECKHAND, ...args], options);
  return await endInput(running, options.input);
}

/** Runs a line of shell in which `$DECKHAND` is the program. */
export async function shell(line: string, options: Options & { input?: string }): Promise<Ended> {
  return await endInput(start(["bash", "-c", line], { ...options, env: { ...options.env, DECKHAND } }), options.input);
}

async function endInput(running: Running, input = ""): Promise<Ended> {
  running.type(input);
  running.end();
  return await running.ended;
}

/** The command line that gives a program a terminal of its own; it ends with the program's exit code. */
export function onTerminal(...words: string[]): string[] {
  return ["script", "-qec", words.map((word) => `'${word}'`).join(" "), "/dev/null"];
}

interface Entries {
  type: string;
  v: number;
  seq: number;
  [field: string]: unknown;
}

/** The entries that `run --json` printed; throws on a line that is not one. */
export function entriesIn(stdout: string): Entries[] {
  return stdout
    .trimEnd()
    .split("\n")
    .map((line) => JSON.parse(line) as Entries);
}

export interface Stub {
  baseUrl: string;
  close(): Promise<void>;
}

/** A server at the model's address that gives one and the same answer to everything. */
export async function startStub(status: number, body: string, type = "application/json"): Promise<Stub> {
  const server = createServer((request, response) => {
    request.resume();
    response.writeHead(status, { "content-type": type }).end(body);
  }).listen(0, "127.0.0.1");
  await once(server, "listening");
  return {
    baseUrl: `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1`,
    async close() {
      server.closeAllConnections();
      server.close();
      await once(server, "close");
    },
  };
}

const SHELL = ["sh", "dirname", "readlink", "mkdir", "mkfifo", "id", "chown"];
const PROGRAMS = [...SHELL, "git", "setpriv", "flock", "bwrap", "redis-server"];

/** A PATH where there is everything that Deckhand uses but these programs. */
export function pathWithout(root: string, ...programs: string[]): string {
  const folder = mkdtempSync(join(root, "path-"));
  chmodSync(folder, 0o755);
  for (const name of PROGRAMS.filter((each) => !programs.includes(each))) {
    const real = (process.env["PATH"] ?? "")
      .split(":")
      .map((where) => join(where, name))
      .find(existsSync);
    symlinkSync(real ?? name, join(folder, name));
  }
  symlinkSync(process.execPath, join(folder, "node"));
  return folder;
}

/** A PATH where this text is the program of that name. */
export function pathWith(root: string, program: string, text: string): string {
  const folder = pathWithout(root, program);
  writeFileSync(join(folder, program), text, { mode: 0o755 });
  return folder;
}
