import type { Printed } from "../../src/core/output.ts";
import { LIMITS } from "../../src/limits.ts";

/** What the runner keeps of some bytes, with as small pieces as wanted. */
export function printedBytes(bytes: Uint8Array, keepFirst: number = LIMITS.outputFile, keepLast = 2 * LIMITS.outputTail): Printed {
  return {
    first: bytes.subarray(0, keepFirst),
    last: bytes.length > keepFirst ? bytes.subarray(-keepLast) : new Uint8Array(),
    total: bytes.length,
  };
}

export function printed(all: string, keepFirst?: number, keepLast?: number): Printed {
  return printedBytes(new TextEncoder().encode(all), keepFirst, keepLast);
}

export function lines(from: number, to: number): string {
  return Array.from({ length: to - from }, (_, index) => `line ${from + index}\n`).join("");
}

export function text(bytes: Uint8Array | undefined): string {
  return new TextDecoder("utf-8", { ignoreBOM: true }).decode(bytes ?? new Uint8Array());
}
