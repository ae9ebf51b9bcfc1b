import { Buffer } from "node:buffer";
import type { Entry } from "../../src/core/entry.ts";
import { resultText } from "../../src/core/prompt.ts";
import type { RunResult } from "../../src/core/sandbox.ts";
import { openSandbox } from "./place.ts";

/** A worker of its own: its memory is its own, and only the sandbox is in it. Says how long each command took. */
const [stateDir, path, megabytes] = process.argv.slice(2) as [string, string, string];
const resident = Array.from({ length: Number(megabytes) }, () => Buffer.alloc(1_000_000, 1));
const { run, close } = openSandbox({ stateDir, path });

process.on("message", (command: string) => {
  const start = performance.now();
  run(command).then(
    (result) => process.send?.({ ms: performance.now() - start, bytes: result.output.bytes, read: Buffer.byteLength(readOf(result)) }),
    (thrown) => process.send?.({ failure: String(thrown) }),
  );
});
process.once("disconnect", () => void close());
process.send?.({ resident: resident.length });

/** What the model would read of it. */
function readOf(result: RunResult): string {
  return resultText({ type: "run-ended", how: result.how, exit: result.exit, output: result.output } as Entry<"run-ended">);
}
