import { clean, redact } from "../core/output.ts";
import { LIMITS } from "../limits.ts";

/**
 * Turns a command's bytes into live text, whole lines at a time, so that no secret and no character is shown in
 * halves. `shown` is the newest part of what went out.
 */
export function liveText(secrets: readonly string[], onText: (text: string) => void): LiveText {
  const decoder = new TextDecoder("utf-8", { ignoreBOM: true });
  let line = "";
  let shown = "";

  function put(text: string): void {
    if (text === "") return;
    const plain = redact(clean(text), secrets);
    shown = (shown + plain).slice(-LIMITS.outputTail);
    onText(plain);
  }

  return {
    add: (data) => {
      line += decoder.decode(data, { stream: true });
      const end = line.length > LIMITS.outputLine ? line.length : line.lastIndexOf("\n") + 1;
      const whole = line.slice(0, end);
      line = line.slice(end);
      put(whole);
    },
    end: () => {
      const rest = line + decoder.decode();
      line = "";
      put(rest);
      return shown;
    },
  };
}

export interface LiveText {
  add(data: Uint8Array): void;
  /** The last line, finished or not; returns the end of all that was shown. */
  end(): string;
}
