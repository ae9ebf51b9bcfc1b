import { Buffer } from "node:buffer";
import type { Printed } from "../core/output.ts";
import { LIMITS } from "../limits.ts";

/** Bytes of the end that are kept: enough for a tail of four-byte characters with some colour between them. */
const KEPT_LAST = 6 * LIMITS.outputTail;

export interface Capture {
  /** Copies what it keeps: the caller may reuse the chunk's memory. */
  add(chunk: Uint8Array): void;
  total(): number;
  printed(): Printed;
}

/** Keeps the beginning and the end of any amount of output in a fixed amount of memory, and counts it exactly. */
export function capture(): Capture {
  let first = Buffer.allocUnsafe(4096);
  let kept = 0;
  const ring = Buffer.allocUnsafe(KEPT_LAST);
  let total = 0;

  function keepFirst(chunk: Uint8Array): void {
    const wanted = Math.min(kept + chunk.length, LIMITS.outputFile);
    if (wanted > first.length) {
      const larger = Buffer.allocUnsafe(Math.min(LIMITS.outputFile, Math.max(wanted, 2 * first.length)));
      first.copy(larger, 0, 0, kept);
      first = larger;
    }
    first.set(chunk.subarray(0, wanted - kept), kept);
    kept = wanted;
  }

  function keepLast(chunk: Uint8Array): void {
    const end = chunk.length > KEPT_LAST ? chunk.subarray(chunk.length - KEPT_LAST) : chunk;
    const at = (total - end.length) % KEPT_LAST;
    const fits = Math.min(end.length, KEPT_LAST - at);
    ring.set(end.subarray(0, fits), at);
    ring.set(end.subarray(fits), 0);
  }

  function last(): Uint8Array {
    if (total <= KEPT_LAST) return Buffer.from(ring.subarray(0, total));
    const at = total % KEPT_LAST;
    return Buffer.concat([ring.subarray(at), ring.subarray(0, at)]);
  }

  return {
    add: (chunk) => {
      total += chunk.length;
      if (kept < LIMITS.outputFile) keepFirst(chunk);
      keepLast(chunk);
    },
    total: () => total,
    printed: () => ({ first: first.subarray(0, kept), last: total > kept ? last() : new Uint8Array(), total }),
  };
}

/** The live view: at most `liveBytes` every `liveEvery`; what comes faster is skipped, its newest part is shown. */
export function liveFeed(send: (data: Uint8Array) => void): { add(chunk: Uint8Array): void; end(): void } {
  let waiting: Buffer = Buffer.alloc(0);
  let timer: NodeJS.Timeout | null = null;

  function flush(): void {
    timer = null;
    if (waiting.length === 0) return;
    send(waiting);
    waiting = Buffer.alloc(0);
  }

  return {
    add: (chunk) => {
      const newest = chunk.subarray(Math.max(0, chunk.length - LIMITS.liveBytes));
      const joined = Buffer.concat([waiting, newest]);
      waiting = joined.subarray(Math.max(0, joined.length - LIMITS.liveBytes));
      timer ??= setTimeout(flush, LIMITS.liveEvery);
    },
    end: () => {
      if (timer !== null) clearTimeout(timer);
      flush();
    },
  };
}
