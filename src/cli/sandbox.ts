import { parseArgs } from "node:util";
import { openSandbox } from "../app.ts";
import { loadConfig } from "../config.ts";
import { DeckhandError } from "../core/errors.ts";
import { LIMITS } from "../limits.ts";
import { folderAt } from "./cli.ts";
import { interruption } from "./keyboard.ts";

/** `deckhand sandbox -- CMD`: exactly what a worker would do with an approved command. */
export async function sandboxCommand(args: string[]): Promise<number> {
  const { values, positionals } = parseArgs({
    args,
    allowPositionals: true,
    options: { workspace: { type: "string", default: process.cwd() } },
  });
  const command = positionals.join(" ");
  if (!command) throw new DeckhandError("BAD_INPUT", "deckhand sandbox needs a command after --");
  const signal = interruption();
  const config = loadConfig();
  const path = folderAt(values.workspace);
  const opened = await openSandbox(config, [{ name: "here", path }]);
  const badge = opened.workspaces.get("here")?.badge ?? "";
  try {
    const spec = { conversation: `terminal:${process.pid}`, workspace: path, cwd: path, command, timeoutMs: LIMITS.commandTime };
    const { how, exit, output, ms, why } = await opened.sandbox.run(spec, { signal });
    const line = { exit, status: how, output: output.text, bytes: output.bytes, ms, sandbox: badge, ...(why ? { why } : {}) };
    process.stdout.write(`${JSON.stringify(line)}\n`);
    if (signal.aborted) return 130;
    return how === "exited" ? 0 : 1;
  } finally {
    await opened.sandbox.close();
  }
}
