import { clean, redact } from "../core/output.ts";
import { LIMITS } from "../limits.ts";

export interface LiveText {
  add(data: Uint8Array): void;
  /** Shows the last line, finished or not. */
  end(): void;
}

/**
 * Turns a command's bytes into live text, whole lines at a time, so that no secret and no character is shown in
 * halves.
 */
export function liveText(secrets: readonly string[], onText: (text: string) => void): LiveText {
  const decoder = new TextDecoder("utf-8", { ignoreBOM: true });
  let line = "";

  function put(text: string): void {
    if (text !== "") onText(redact(clean(text), secrets));
  }

  return {
    add: (data) => {
      line += decoder.decode(data, { stream: true });
      const end = line.length > LIMITS.outputLine ? line.length : line.lastIndexOf("\n") + 1;
      put(line.slice(0, end));
      line = line.slice(end);
    },
    end: () => {
      put(line + decoder.decode());
      line = "";
    },
  };
}
