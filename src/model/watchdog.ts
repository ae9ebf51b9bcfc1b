import { DeckhandError } from "../core/errors.ts";

/** Aborts with the caller's signal, and by itself when nothing comes for as long as it was armed for. */
export interface Watchdog {
  signal: AbortSignal;
  /** Counts anew, in milliseconds. */
  arm(ms: number): void;
  /** The error that the silence makes, once it was too long. */
  silence(): DeckhandError | null;
  end(): void;
}

export function watchdog(outer: AbortSignal, firstMs: number): Watchdog {
  const controller = new AbortController();
  let timer: NodeJS.Timeout | undefined;
  let silentMs: number | null = null;
  const abort = () => controller.abort();
  outer.addEventListener("abort", abort, { once: true });
  function arm(ms: number): void {
    clearTimeout(timer);
    timer = setTimeout(() => {
      silentMs = ms;
      controller.abort();
    }, ms);
  }
  arm(firstMs);
  return {
    signal: controller.signal,
    arm,
    silence: () =>
      silentMs === null
        ? null
        : new DeckhandError("MODEL_TIMEOUT", `nothing came for ${Math.ceil(silentMs / 1000)} s`, { retryAfterMs: 0 }),
    end() {
      clearTimeout(timer);
      outer.removeEventListener("abort", abort);
    },
  };
}
