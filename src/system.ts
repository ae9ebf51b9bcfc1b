import { createHash, randomBytes } from "node:crypto";
import { lstatSync, realpathSync } from "node:fs";
import { createRequire } from "node:module";
import type { Logger, pino } from "pino";
import type { Clock, Ids, Trace } from "./core/ports.ts";
import { redactor } from "./core/redactor.ts";

/** The machine's own clock, randomness and log lines, as `core/` wants them. */

export const systemClock: Clock = {
  now: () => Date.now(),
  sleep: (ms, signal) =>
    new Promise((done) => {
      if (signal?.aborted) return done();
      // Not the promise of `node:timers`: each of its early ends makes an error, with its stack, for nobody.
      const end = (): void => {
        clearTimeout(timer);
        signal?.removeEventListener("abort", end);
        done();
      };
      const timer = setTimeout(end, ms);
      signal?.addEventListener("abort", end);
    }),
};

const ALPHABET = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";

export const systemIds: Ids = {
  call: () => letters(9),
  token: () => letters(22),
  digest: (text) => createHash("sha256").update(text).digest("hex"),
};

/** Chance that was asked for and not used yet: to ask for each letter's own takes longer than all else here. */
let chance: Iterator<number> = [].values();

function letters(count: number): string {
  let out = "";
  while (out.length < count) {
    const { done, value: byte } = chance.next();
    if (done) chance = randomBytes(1024).values();
    else if (byte < 248) out += ALPHABET[byte % 62];
  }
  return out;
}

const LEVELS = ["debug", "info", "warn", "error", "silent"];

/** JSON lines on standard error. The finished line is redacted, so that it does not matter where in it a secret stands. */
export function logTrace(level: string, secrets: readonly string[]): Trace {
  const redact = redactor(secrets);
  let logger: Logger | null = null;
  const at =
    (severity: "info" | "warn" | "error") =>
    (event: string, fields: Record<string, unknown> = {}): void => {
      if (LEVELS.indexOf(severity) < LEVELS.indexOf(level)) return;
      logger ??= newLogger(level, (line) => void process.stderr.write(redact(line)));
      logger[severity](fields, event);
    };
  return { info: at("info"), warn: at("warn"), error: at("error") };
}

/** Loaded when there is a first line: a run in a terminal usually writes none, and starts sooner. */
function newLogger(level: string, write: (line: string) => void): Logger {
  const loaded = createRequire(import.meta.url)("pino") as { pino: typeof pino };
  return loaded.pino({ level, base: null }, { write });
}

/** The real path of what is there, else null; only looks at names and links, never into a file. */
export function realpathOf(path: string): string | null {
  try {
    lstatSync(path);
    return realpathSync(path);
  } catch {
    return null; // not there, or not ours to see: the gate treats both as unknown
  }
}
