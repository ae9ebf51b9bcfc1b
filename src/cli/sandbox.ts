import { resolve } from "node:path";
import { parseArgs } from "node:util";
import { openSandbox } from "../app.ts";
import { loadConfig } from "../config.ts";
import { DeckhandError } from "../core/errors.ts";
import { LIMITS } from "../limits.ts";

/** `deckhand sandbox -- CMD`: exactly what a worker would do with an approved command. */
export async function sandboxCommand(args: string[]): Promise<number> {
  const { values, positionals } = parseArgs({
    args,
    allowPositionals: true,
    options: { workspace: { type: "string", default: process.cwd() } },
  });
  const command = positionals.join(" ");
  if (!command) throw new DeckhandError("BAD_INPUT", "deckhand sandbox needs a command after --");
  const config = loadConfig();
  const opened = await openSandbox(config, [{ name: "here", path: resolve(values.workspace) }]);
  const place = opened.workspaces.get("here");
  try {
    const path = place?.path ?? values.workspace;
    const spec = { conversation: `terminal:${process.pid}`, workspace: path, cwd: path, command, timeoutMs: LIMITS.commandTime };
    const { how, exit, output, ms, why } = await opened.sandbox.run(spec, { signal: new AbortController().signal });
    const line = { exit, status: how, output: output.text, bytes: output.bytes, ms, sandbox: place?.badge ?? "", ...(why ? { why } : {}) };
    process.stdout.write(`${JSON.stringify(line)}\n`);
    return how === "exited" ? 0 : 1;
  } finally {
    await opened.sandbox.close();
  }
}
