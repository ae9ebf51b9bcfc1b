import { resolve } from "node:path";
import { createInterface } from "node:readline/promises";
import { parseArgs } from "node:util";
import { buildHands, openSandbox } from "../app.ts";
import { loadConfig } from "../config.ts";
import { fold, openApproval } from "../core/conversation.ts";
import type { Entry, Person } from "../core/entry.ts";
import { DeckhandError } from "../core/errors.ts";
import type { Hands } from "../core/hands.ts";
import type { Thread } from "../core/inbound.ts";
import { intake } from "../core/intake.ts";
import { turn } from "../core/turn.ts";
import { memoryLog } from "../memory.ts";
import { logTrace, systemClock, systemIds } from "../system.ts";
import { oneOf } from "./cli.ts";
import { printEntry } from "./print.ts";

const YOU: Person = { key: "terminal:you", name: "you", kind: "member", roles: [] };
const ACCESS = {
  users: [YOU.key],
  approvers: [YOU.key],
  workspaces: [{ name: "here", channels: [], users: null, approvers: null }],
};

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
  const approve = oneOf("--approve", values.approve, ["ask", "never", "auto"] as const);
  const config = loadConfig();
  const trace = logTrace(config.logLevel === "info" ? "error" : config.logLevel, config.secrets);
  const log = memoryLog(systemClock);
  const sandbox = await openSandbox(config, [{ name: "here", path: resolve(values.workspace) }]);
  const run = new TerminalRun(log, values.json);
  const hands = await buildHands({ config, log, trace, access: ACCESS, ...sandbox, appended: () => run.show() });
  const stop = new AbortController();
  process.once("SIGINT", () => stop.abort());
  try {
    return await run.converse(task, approve, hands, stop.signal);
  } finally {
    await sandbox.sandbox.close();
  }
}

class TerminalRun {
  private readonly thread: Thread;
  private readonly log: Hands["log"];
  private readonly json: boolean;
  private shown = 0;
  private showing: Promise<void> = Promise.resolve();

  constructor(log: Hands["log"], json: boolean) {
    this.log = log;
    this.json = json;
    this.thread = { platform: "terminal", key: `terminal:${systemIds.call()}`, channel: "terminal:run" };
  }

  async converse(task: string, approve: "ask" | "never" | "auto", hands: Hands, signal: AbortSignal): Promise<number> {
    const deps = {
      log: this.log,
      queue: { wake: async () => {}, wakePosts: async () => {} },
      clock: hands.clock,
      trace: hands.trace,
      access: ACCESS,
    };
    const base = { event: systemIds.token(), thread: this.thread, by: YOU };
    await intake({ ...base, kind: "mention", text: task }, deps);
    for (;;) {
      await turn({ conversation: this.thread.key, lock: { key: "", token: "" }, signal }, hands);
      this.show();
      await this.showing;
      if (signal.aborted) return 130;
      const entries = await this.log.read(this.thread.key, 0);
      const asked = openApproval(fold(entries))?.asked;
      if (!asked) return exitCode(entries.at(-1));
      const yes = approve === "auto" || (approve === "ask" && (await askAtKeyboard(signal)));
      const reason = approve === "never" ? { reason: "approvals are switched off for this run" } : {};
      await intake(
        { ...base, event: systemIds.token(), kind: "press", action: yes ? "approve" : "deny", approval: asked.approval, ...reason },
        deps,
      );
    }
  }

  /** Prints what is new, in order; never runs twice at the same time. */
  show(): void {
    this.showing = this.showing.then(async () => {
      for (const entry of await this.log.read(this.thread.key, this.shown)) {
        this.shown = entry.seq;
        const text = this.json ? JSON.stringify(entry) : printEntry(entry);
        if (text) process.stdout.write(`${text}\n`);
      }
    });
  }
}

function exitCode(last: Entry | undefined): number {
  return last?.type === "final" && last.reason === "answer" ? 0 : 1;
}

async function askAtKeyboard(signal: AbortSignal): Promise<boolean> {
  if (!process.stdin.isTTY) {
    process.stderr.write("Nobody is at the keyboard to approve this, so it is denied. Use --approve auto to approve everything.\n");
    return false;
  }
  const keyboard = createInterface({ input: process.stdin, output: process.stderr });
  try {
    const answer = await keyboard.question("Run it? [y/N] ", { signal });
    return /^\s*y(es)?\s*$/i.test(answer);
  } catch (thrown) {
    if (signal.aborted) return false;
    throw thrown;
  } finally {
    keyboard.close();
  }
}
