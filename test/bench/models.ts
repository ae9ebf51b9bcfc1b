import { type ChildProcess, fork } from "node:child_process";
import { once } from "node:events";
import { fileURLToPath } from "node:url";
import { type Asked, SERVE } from "./model.ts";

/** The model of the benches, started. */
export interface BenchModel {
  baseUrl: string;
  /** All requests so far, or those of one conversation; oldest first. */
  asked(name?: string): Asked[];
  /** Waits until `holds`; looked at after each answer. */
  until(what: string, holds: () => boolean, ms?: number): Promise<void>;
  /** Waits until a conversation has had so many answers without a call. */
  done(name: string, times?: number, ms?: number): Promise<Asked>;
  close(): Promise<void>;
}

const PATIENCE_MS = 120_000;

export async function startModel(): Promise<BenchModel> {
  const child = fork(fileURLToPath(new URL("./model.ts", import.meta.url)), [SERVE]);
  const [{ port }] = (await once(child, "message")) as [{ port: number }];
  const all: Asked[] = [];
  /** Those who wait look at each answer: going through all of them would take the processors from what is measured. */
  const byName = new Map<string, Asked[]>();
  const looks = new Set<() => void>();
  child.on("message", ({ answered }: { answered: Asked }) => {
    all.push(answered);
    const same = byName.get(answered.name);
    if (same) same.push(answered);
    else byName.set(answered.name, [answered]);
    for (const look of [...looks]) look();
  });
  const asked = (name?: string): Asked[] => [...(name === undefined ? all : (byName.get(name) ?? []))];
  async function until(what: string, holds: () => boolean, ms = PATIENCE_MS): Promise<void> {
    if (holds()) return;
    await new Promise<void>((resolve, reject) => {
      const timer = setTimeout(() => {
        looks.delete(look);
        reject(new Error(`waited in vain until ${what}; ${all.length} requests came`));
      }, ms);
      const look = (): void => {
        if (!holds()) return;
        looks.delete(look);
        clearTimeout(timer);
        resolve();
      };
      looks.add(look);
    });
  }
  return {
    baseUrl: `http://127.0.0.1:${port}/v1`,
    asked,
    until,
    async done(name, times = 1, ms = PATIENCE_MS) {
      const over = (): Asked[] => (byName.get(name) ?? []).filter(({ last }) => last);
      await until(`${name} is done ${times} times`, () => over().length >= times, ms);
      return over()[times - 1] as Asked;
    },
    close: () => ended(child),
  };
}

/** Lets a forked program end by itself. */
export async function ended(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  const exited = once(child, "exit");
  child.disconnect();
  await exited;
}
