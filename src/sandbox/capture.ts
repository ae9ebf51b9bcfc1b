import { Buffer } from "node:buffer";
import { closeSync, openSync, writeSync } from "node:fs";
import { LIMITS } from "../limits.ts";

/** Bytes of the end that are kept: enough for a tail with some colour in it. */
const KEPT_LAST = 2 * LIMITS.outputTail;

/** The line that stands in the live view for output that came faster than it is shown. */
export const SKIPPED = "[... left out here; the result has more ...]\n";
const NEWLINE = 0x0a;

export interface Capture {
  /** Copies what it keeps: the caller may reuse the chunk's memory. */
  add(chunk: Uint8Array): void;
  total(): number;
  /** Closes the file and gives the end of the output. */
  end(): { last: Uint8Array; total: number };
}

/**
 * Any amount of output in a fixed amount of memory, counted exactly: the beginning in a file, which also outlives
 * this process, the end in a ring. The file is made when there is something to keep.
 */
export function capture(file: string): Capture {
  const ring = Buffer.allocUnsafe(KEPT_LAST);
  let total = 0;
  let kept = 0;
  let fd: number | null = null;
  let room = true;

  function spool(chunk: Uint8Array): void {
    try {
      fd ??= openSync(file, "wx", 0o600);
      kept += writeSync(fd, chunk, 0, Math.min(chunk.length, LIMITS.outputFile - kept));
    } catch {
      // A full disk takes nothing from the command: the middle of its output is told as left out.
      room = false;
    }
  }

  function keepLast(chunk: Uint8Array): void {
    const end = chunk.length > KEPT_LAST ? chunk.subarray(chunk.length - KEPT_LAST) : chunk;
    const at = (total - end.length) % KEPT_LAST;
    const fits = Math.min(end.length, KEPT_LAST - at);
    ring.set(end.subarray(0, fits), at);
    ring.set(end.subarray(fits), 0);
  }

  function last(): Uint8Array {
    if (total <= KEPT_LAST) return ring.subarray(0, total);
    const at = total % KEPT_LAST;
    return Buffer.concat([ring.subarray(at), ring.subarray(0, at)]);
  }

  return {
    add: (chunk) => {
      total += chunk.length;
      if (room && kept < LIMITS.outputFile) spool(chunk);
      keepLast(chunk);
    },
    total: () => total,
    end: () => {
      if (fd !== null) closeSync(fd);
      return { last: total > kept ? last() : new Uint8Array(), total };
    },
  };
}

/**
 * The live view: at most `liveBytes` every `liveEvery`, in whole lines. What comes faster, and lines that are longer,
 * are skipped for the newest; a line of ours says where.
 */
export function liveFeed(send: (data: Uint8Array) => void): { add(chunk: Uint8Array): void; end(): void } {
  const waiting = Buffer.allocUnsafe(LIMITS.liveBytes);
  let length = 0;
  /** What waits begins in the middle of a line: what was before it is lost. */
  let torn = false;
  let timer: NodeJS.Timeout | null = null;

  function flush(upTo: number): void {
    timer = null;
    const from = torn ? waiting.subarray(0, length).indexOf(NEWLINE) + 1 : 0;
    if (torn && from === 0) length = 0;
    if (torn && from > 0) send(Buffer.concat([Buffer.from(SKIPPED), waiting.subarray(from, upTo)]));
    else if (upTo > 0 && !torn) send(waiting.subarray(0, upTo));
    if (length === 0) return;
    torn = false;
    waiting.copyWithin(0, upTo, length);
    length -= upTo;
  }

  return {
    add: (chunk) => {
      const newest = chunk.subarray(Math.max(0, chunk.length - LIMITS.liveBytes));
      const keep = Math.min(length, LIMITS.liveBytes - newest.length);
      torn ||= keep < length || newest.length < chunk.length;
      waiting.copyWithin(0, length - keep, length);
      waiting.set(newest, keep);
      length = keep + newest.length;
      timer ??= setTimeout(() => flush(waiting.subarray(0, length).lastIndexOf(NEWLINE) + 1), LIMITS.liveEvery);
    },
    end: () => {
      if (timer !== null) clearTimeout(timer);
      flush(length);
    },
  };
}
