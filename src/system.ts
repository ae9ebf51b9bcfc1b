import { createHash, randomBytes } from "node:crypto";
import { lstatSync, realpathSync } from "node:fs";
import pino from "pino";
import { setTimeout as delay } from "node:timers/promises";
import type { Clock, Ids, Trace } from "./core/ports.ts";
import { redactor } from "./core/redactor.ts";

/** The machine's own clock, randomness and log lines, as `core/` wants them. */

export const systemClock: Clock = {
  now: () => Date.now(),
  async sleep(ms, signal) {
    if (signal?.aborted) return;
    try {
      await delay(ms, undefined, signal ? { signal } : {});
    } catch (thrown) {
      if (!signal?.aborted) throw thrown; // an abort is how a sleep ends early, not a failure
    }
  },
};

const ALPHABET = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";

export const systemIds: Ids = {
  call: () => letters(9),
  token: () => letters(22),
  digest: (text) => createHash("sha256").update(text).digest("hex"),
};

function letters(count: number): string {
  let out = "";
  while (out.length < count) {
    for (const byte of randomBytes(count)) {
      if (byte < 248 && out.length < count) out += ALPHABET[byte % 62];
    }
  }
  return out;
}

/** JSON lines on standard error. The finished line is redacted, so that it does not matter where in it a secret stands. */
export function logTrace(level: string, secrets: readonly string[]): Trace {
  const redact = redactor(secrets);
  const logger = pino({ level, base: null }, { write: (line: string) => void process.stderr.write(redact(line)) });
  return {
    info: (event, fields = {}) => logger.info(fields, event),
    warn: (event, fields = {}) => logger.warn(fields, event),
    error: (event, fields = {}) => logger.error(fields, event),
  };
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
