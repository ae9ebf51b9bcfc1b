import { type StdioOptions, spawn } from "node:child_process";
import { closeSync, openSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { seccompProgram } from "../../src/sandbox/seccomp.ts";
import { isRoot, processesWith, RUN_UID, type TestWorkspace, uniqueSleep, until } from "../support/workspace.ts";
import { type Run, stopped } from "./place.ts";

/** Runs a command with nothing of ours around it, as the run user. Resolves when it has ended well and its output is read. */
export type Bare = (words: string[], onData?: (data: Uint8Array) => void) => Promise<void>;

/** The words of a bare bubblewrap with the arguments that the sandbox gives it, up to `--`. */
export interface Bwrap {
  words: string[];
  bare: Bare;
}

export const BASH_TRUE = ["bash", "-c", "true"];

export const bare: Bare = (words, onData = () => {}) => start(words, ["ignore", "pipe", "pipe"], onData);

/**
 * The arguments are read from the process table while a command waits in the sandbox: whatever the code makes of them,
 * the floor has the same.
 */
export async function bareBwrap(run: Run, place: TestWorkspace): Promise<Bwrap> {
  const words = await wordsOf(run);
  const program = join(place.root, "floor.bpf");
  writeFileSync(program, seccompProgram(process.arch));
  return {
    words,
    bare: (all, onData = () => {}) => {
      const opened: number[] = [];
      const open = (path: string): number => (opened.push(openSync(path, "r")), opened.at(-1) as number);
      const stdio: StdioOptions = ["ignore", "pipe", "pipe"];
      try {
        for (const [at, word] of all.entries()) {
          const [fd, to] = [Number(all[at + 1]), all[at + 2] as string];
          if (word === "--") break;
          if (word === "--seccomp") stdio[fd] = open(program);
          else if (word === "--json-status-fd") stdio[fd] = "pipe";
          // The workspace and what is in it stand at their own paths inside.
          else if (/^--(ro-)?bind-fd$/.test(word)) stdio[fd] = open(to);
        }
        return start(
          all,
          Array.from(stdio, (entry) => entry ?? "ignore"),
          onData,
        );
      } finally {
        for (const fd of opened) closeSync(fd);
      }
    },
  };
}

async function wordsOf(run: Run): Promise<string[]> {
  const sleep = uniqueSleep();
  const control = new AbortController();
  const running = run(sleep, { signal: control.signal });
  try {
    let words: string[] = [];
    await until("the sandbox runs a command", () => {
      words =
        withParents(processesWith(sleep))
          .map((pid) => bwrapPart(readFileSync(`/proc/${pid}/cmdline`, "utf8").split("\0")))
          .find((part) => part.length > 0) ?? [];
      return words.length > 0;
    });
    return words;
  } finally {
    await stopped(control, running);
  }
}

/** Bubblewrap itself does not know the command that will run in it. */
function withParents(pids: number[]): number[] {
  const parents = pids.flatMap((pid) => Number(/\) \S (\d+) /.exec(readFileSync(`/proc/${pid}/stat`, "latin1"))?.[1] ?? []));
  return pids.length === 0 ? [] : [...pids, ...withParents(parents.filter((pid) => pid > 1))];
}

function bwrapPart(words: string[]): string[] {
  const from = words.findIndex((word) => /(^|\/)bwrap$/.test(word));
  const to = words.indexOf("--", from);
  return from < 0 || to < 0 ? [] : words.slice(from, to + 1);
}

function start([file, ...args]: string[], stdio: StdioOptions, onData: (data: Uint8Array) => void): Promise<void> {
  const user = isRoot() ? { uid: RUN_UID, gid: RUN_UID } : {};
  const child = spawn(file as string, args, { cwd: "/", env: { PATH: "/usr/local/bin:/usr/bin:/bin" }, stdio, ...user });
  let words = "";
  child.stdout?.on("data", onData);
  child.stderr?.on("data", (data) => (words += String(data)));
  for (const stream of child.stdio.slice(3)) if (stream && "resume" in stream) stream.resume();
  return new Promise((done, fail) => {
    child.once("error", fail);
    child.once("close", (code) => (code === 0 ? done() : fail(new Error(`${file}: exit ${code} ${words}`))));
  });
}
