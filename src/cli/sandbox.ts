import { parseArgs } from "node:util";
import { openSandbox } from "../app/sandbox.ts";
import { loadConfig } from "../config.ts";
import { DeckhandError } from "../core/errors.ts";
import { LIMITS } from "../limits.ts";
import { folderAt } from "./cli.ts";
import { interruption } from "./keyboard.ts";

/**
 * `deckhand sandbox -- CMD`: what a worker would do with a command that the gate lets run by itself; with `--approved`
 * or a `--grant`, with one that a person approved.
 */
export async function sandboxCommand(args: string[]): Promise<number> {
  const { values, positionals } = parseArgs({
    args,
    allowPositionals: true,
    options: {
      workspace: { type: "string", default: process.cwd() },
      grant: { type: "string", multiple: true, default: [] },
      approved: { type: "boolean", default: false },
    },
  });
  const command = positionals.join(" ");
  if (!command) throw new DeckhandError("BAD_INPUT", "deckhand sandbox needs a command after --");
  const signal = interruption();
  const config = await loadConfig();
  const path = folderAt(values.workspace);
  const opened = await openSandbox(config, [{ name: "here", path }]);
  const conversation = `terminal:${process.pid}`;
  const badge = opened.workspaces.get("here")?.badge ?? "";
  try {
    const reach = values.approved || values.grant.length > 0 ? ("approved" as const) : ("contained" as const);
    const place = { conversation, workspace: path, cwd: path, reach };
    const spec = { ...place, command, timeoutMs: LIMITS.commandTime, grants: values.grant };
    const { how, exit, output, ms, whole: _, ...told } = await opened.sandbox.run(spec, { signal });
    const line = { exit, status: how, output: output.text, bytes: output.bytes, ms, sandbox: badge, ...told };
    process.stdout.write(`${JSON.stringify(line)}\n`);
    if (signal.aborted) return 130;
    return how === "exited" ? 0 : 1;
  } finally {
    await opened.sandbox.dispose(conversation);
    await opened.sandbox.close();
  }
}
