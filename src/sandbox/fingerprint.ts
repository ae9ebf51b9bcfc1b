import { randomUUID } from "node:crypto";
import type { RunOptions, RunResult, RunSpec } from "../core/sandbox.ts";
import { LIMITS } from "../limits.ts";

/** Reads files inside the sandbox, so that a link leads nowhere else than it does for the command itself. */
export async function fingerprint(
  run: (spec: RunSpec, options: RunOptions) => Promise<RunResult>,
  workspace: string,
  files: readonly string[],
): Promise<string> {
  const command = `sha256sum -- ${files.map(quoted).join(" ")} 2>&1; true`;
  // It waits for nobody: whoever asks has the workspace already, or only wants to know how it looks now.
  const spec: RunSpec = { conversation: "fingerprint", workspace, cwd: workspace, command, timeoutMs: LIMITS.inspectTime, reach: "probe" };
  const { how, output } = await run(spec, { signal: new AbortController().signal });
  // What cannot be read is never the same twice.
  return how === "exited" ? output.text : `unread ${randomUUID()}`;
}

/** As one word for bash. */
export function quoted(text: string): string {
  return `'${text.replaceAll("'", String.raw`'\''`)}'`;
}
