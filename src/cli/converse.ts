import { buildHands } from "../app/hands.ts";
import type { OpenSandbox } from "../app/sandbox.ts";
import type { Config } from "../config.ts";
import type { Access } from "../core/access.ts";
import { fold, openApproval } from "../core/conversation.ts";
import type { Entry, Person } from "../core/entry.ts";
import type { Hands } from "../core/hands.ts";
import type { Thread } from "../core/inbound.ts";
import { intake } from "../core/intake.ts";
import { type Redact, redacted, redactor } from "../core/redactor.ts";
import { turn } from "../core/turn.ts";
import { visible } from "../core/visible.ts";
import { memoryLog } from "../memory.ts";
import { logTrace, systemClock, systemIds } from "../system.ts";
import { askAt } from "./keyboard.ts";
import { printEntry, seeMore, type Seen } from "./print.ts";
import type { Approve } from "./run.ts";
import { Written } from "./written.ts";

const YOU: Person = { key: "terminal:you", name: "you", kind: "member", roles: [] };

function accessTo(workspace: string, models: string[]): Access {
  const workspaces = [{ name: workspace, channels: [], users: null, approvers: null }];
  return { users: [YOU.key], approvers: [YOU.key], workspaces, models };
}

/** What ends so soon after its first output is shown when it has ended. */
const SOON_MS = 300;

interface Conversation {
  task: string;
  approve: Approve;
  json: boolean;
  /** Its name. */
  workspace: string;
  signal: AbortSignal;
  config: Config;
  sandbox: OpenSandbox;
}

/** One conversation in this terminal, with the log in memory. Gives the exit code. */
export async function converse({ task, approve, json, workspace, signal, config, sandbox }: Conversation): Promise<number> {
  const trace = logTrace(config.logLevel === "info" ? "error" : config.logLevel, config.secrets);
  const log = memoryLog(systemClock);
  // Where the output goes to a file or a program, each command's and each answer comes once and whole.
  const isLive = process.stdout.isTTY && !json;
  const run = new TerminalRun(log, json, redactor(config.secrets), isLive);
  const live = isLive ? run.watch : undefined;
  const parts = { config, log, trace, access: accessTo(workspace, config.models.open), ...sandbox };
  const hands = await buildHands({ ...parts, appended: () => run.show(), live, writing: run.written.ear });
  try {
    return await run.converse(task, approve, hands, signal);
  } finally {
    await sandbox.sandbox.dispose(run.thread.key);
  }
}

class TerminalRun {
  readonly thread: Thread;
  private readonly log: Hands["log"];
  private readonly json: boolean;
  private readonly redact: Redact;
  private shown = 0;
  private showing: Promise<void> = Promise.resolve();
  /** By call: what was shown of it while it ran. */
  private readonly seen = new Map<string, Seen>();
  readonly written: Written;

  constructor(log: Hands["log"], json: boolean, redact: Redact, isLive: boolean) {
    this.log = log;
    this.json = json;
    this.redact = redact;
    this.written = new Written({ put: (text) => this.put(text), tell: (line) => this.tell(line, isLive), live: isLive });
    this.thread = { platform: "terminal", key: `terminal:${systemIds.call()}`, channel: "terminal:run" };
  }

  async converse(task: string, approve: Approve, hands: Hands, signal: AbortSignal): Promise<number> {
    const deps = {
      log: this.log,
      queue: { wake: async () => {}, wakePosts: async () => {} },
      clock: hands.clock,
      trace: hands.trace,
      access: hands.access,
    };
    const arrival = () => ({ event: systemIds.token(), thread: this.thread, by: YOU });
    const { whisper } = await intake({ ...arrival(), kind: "mention", text: task }, deps);
    // It was no task.
    if (whisper !== undefined) process.stderr.write(`${whisper}\n`);
    for (;;) {
      await turn({ conversation: this.thread.key, lock: { key: "", token: "" }, signal }, hands);
      this.show();
      this.written.endLine();
      await this.showing;
      if (signal.aborted) return 130;
      const entries = await this.log.read(this.thread.key, 0);
      const state = fold(entries);
      const asked = openApproval(state)?.asked;
      if (asked) {
        const press = await decide(approve, signal);
        if (signal.aborted) return 130;
        await intake({ ...arrival(), kind: "press", approval: asked.approval, ...press }, deps);
      } else if (state.paused) {
        const choice = (await goesOn(signal)) ? "continue" : "stop";
        if (signal.aborted) return 130;
        await intake({ ...arrival(), kind: "choice", choice, of: state.paused.seq }, deps);
      } else return exitCode(entries.at(-1));
    }
  }

  /** Prints what is new, in order; never runs twice at the same time. */
  show(): void {
    this.showing = this.showing.then(async () => {
      for (const entry of await this.log.read(this.thread.key, this.shown)) {
        this.shown = entry.seq;
        const shown = redacted(entry, this.redact);
        const seen = entry.type === "run-ended" ? this.seen.get(entry.call) : undefined;
        const text = this.json ? JSON.stringify(shown) : printEntry(shown, seen, this.written.has(shown));
        if (text) process.stdout.write(`${text}\n`);
      }
    });
  }

  private put(text: string): void {
    this.showing = this.showing.then(() => void process.stdout.write(text));
  }

  /** What is no part of the work goes where it disturbs no program that reads the output. */
  private tell(line: string, isLive: boolean): void {
    if (isLive) this.put(`${line}\n`);
    else process.stderr.write(`${line.trim()}\n`);
  }

  /** Prints a command's output as it comes. What ends at once is left to `show`, which has it whole. */
  readonly watch: Hands["live"] = ({ call }) => {
    let early: string | null = "";
    const print = (text: string): void => {
      const seen = this.seen.get(call);
      this.seen.set(call, seeMore(text, seen));
      this.put(visible(text));
    };
    const begin = (): void => {
      if (early) print(early);
      early = null;
    };
    let timer: NodeJS.Timeout | undefined;
    return {
      hear(text) {
        if (early === null) return print(text);
        early += text;
        timer ??= setTimeout(begin, SOON_MS);
      },
      end: () => clearTimeout(timer),
    };
  };
}

function exitCode(last: Entry | undefined): number {
  return last?.type === "final" && last.reason === "answer" ? 0 : 1;
}

/** Whether the work goes on after a limit: only somebody at the keyboard can say so. */
async function goesOn(signal: AbortSignal): Promise<boolean> {
  return process.stdin.isTTY && isYes(await askAt(process.stderr, "Go on? [y/N] ", signal));
}

function isYes(answer: string | null): boolean {
  return /^\s*y(es)?\s*$/i.test(answer ?? "");
}

async function decide(approve: Approve, signal: AbortSignal): Promise<{ action: "approve" | "deny"; reason?: string }> {
  if (approve === "auto") return { action: "approve" };
  if (approve === "never") return { action: "deny", reason: "approvals are switched off for this run" };
  if (!process.stdin.isTTY) {
    process.stderr.write("Nobody is at the keyboard to approve this, so it is denied. Use --approve auto to approve everything.\n");
    return { action: "deny", reason: "nobody is at the keyboard to approve it" };
  }
  const answer = await askAt(process.stderr, "Run it? [y/N] ", signal);
  return { action: isYes(answer) ? "approve" : "deny" };
}
