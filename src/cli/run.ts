import { setImmediate as nextTurn } from "node:timers/promises";
import { parseArgs } from "node:util";
import { NO_SANDBOX, openSandbox } from "../app/sandbox.ts";
import { loadConfig } from "../config.ts";
import { DeckhandError } from "../core/errors.ts";
import { folderAt, oneOf } from "./cli.ts";
import { interruption } from "./keyboard.ts";

const APPROVE = ["ask", "never", "auto"] as const;
export type Approve = (typeof APPROVE)[number];

/** `deckhand run`: the same loop, gate, sandbox and transport as a worker, with the log in memory. */
export async function runCommand(args: string[]): Promise<number> {
  const { values, positionals } = parseArgs({
    args,
    allowPositionals: true,
    options: {
      workspace: { type: "string", default: process.cwd() },
      approve: { type: "string", default: "ask" },
      json: { type: "boolean", default: false },
    },
  });
  const task = positionals.join(" ").trim();
  if (!task) throw new DeckhandError("BAD_INPUT", "deckhand run needs a task in words");
  const approve = oneOf("--approve", values.approve, APPROVE);
  const signal = interruption();
  const config = await loadConfig();
  const path = folderAt(values.workspace);
  // Under its own name, so that the rules for it hold here too.
  const name = config.workspaces.find((workspace) => folderAt(workspace.path) === path)?.name ?? "here";
  // What fails there fails again where it is used.
  const sandbox = await openSandbox(config, [{ name, path }], undefined, () => void readAhead().catch(() => {}));
  try {
    const { converse } = await import("./converse.ts");
    if (config.sandbox === "none") process.stderr.write(`${NO_SANDBOX}\n`);
    return await converse({ task, approve, json: values.json, workspace: name, signal, config, sandbox });
  } finally {
    await sandbox.sandbox.close();
  }
}

/** Loads what the work needs while the sandbox is measured, in pieces, so that what the sandbox says is heard in between. */
async function readAhead(): Promise<void> {
  const pieces = [
    () => import("undici"),
    () => import("openai/index.js"),
    () => import("../core/gate.ts"),
    () => import("./converse.ts"),
    () => import("../model/openai.ts"),
  ];
  for (const load of pieces) await Promise.all([load(), nextTurn()]);
}
