import { createInterface } from "node:readline/promises";

/** Aborts at the first SIGINT, SIGTERM or other signal named; a second one ends the process at once, as if nobody listened. */
export function interruption(...others: NodeJS.Signals[]): AbortSignal {
  const stop = new AbortController();
  const names = ["SIGINT", "SIGTERM", ...others] as const;
  const first = (): void => {
    for (const name of names) process.off(name, first);
    stop.abort();
  };
  for (const name of names) process.on(name, first);
  return stop.signal;
}

/** What is typed at the terminal; null when the input is over or the signal aborts. */
export async function askAt(output: NodeJS.WriteStream, question: string, signal: AbortSignal): Promise<string | null> {
  const keyboard = createInterface({ input: process.stdin, output });
  const over = new AbortController();
  // The terminal gives Ctrl-C to readline as a letter; it is meant as a signal.
  keyboard.on("SIGINT", () => process.kill(process.pid, "SIGINT")).on("close", () => over.abort());
  try {
    return await keyboard.question(question, { signal: AbortSignal.any([signal, over.signal]) });
  } catch (thrown) {
    if (signal.aborted || over.signal.aborted) return null;
    throw thrown;
  } finally {
    keyboard.close();
  }
}
