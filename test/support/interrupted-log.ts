import type { Access } from "../../src/core/access.ts";
import type { Entry, NewEntry, Person } from "../../src/core/entry.ts";
import { type Choice, slackThread } from "../../src/core/inbound.ts";
import { type IntakeDeps, intake } from "../../src/core/intake.ts";
import type { Reply } from "../../src/core/ports.ts";
import { memoryLog } from "../../src/memory.ts";
import { ann } from "./random-log.ts";

/** A conversation of Ann's in memory, in which a command was interrupted; its entries and what may be pressed there. */

export const thread = slackThread("T1", "C1", "1.1");
export const cem: Person = { key: "slack:U3", name: "Cem", kind: "member", roles: [] };

/** Ann and Cem may ask, Bob and Cem may approve. */
export const access: Access = {
  users: ["slack:U1", "slack:U3"],
  approvers: ["slack:U2", "slack:U3"],
  workspaces: [{ name: "api", channels: ["slack:C1"], users: null, approvers: null }],
};

const COMMAND = "rm -f old; make";
const SHOWN = { command: COMMAND, cwd: "/w", sandbox: "sandboxed: no network, workspace only", digest: "d", grants: [] };

export function modelCalls(id: string, read: number, command = COMMAND): NewEntry {
  const usage = { prompt: null, completion: null, cached: null };
  const call = { id, name: "bash", args: { command }, raw: "", extra: { signature: "s" } };
  return { type: "model", read, text: "", calls: [call], finish: "calls", usage, model: "m", ms: 1, tries: 1 };
}

export function asked(call: string, more: Partial<NewEntry<"approval-asked">> = {}): NewEntry<"approval-asked"> {
  const approval = { approval: `ap-${call}`, requester: ann, approvers: access.approvers, deadline: 9_000_000_000 };
  return { type: "approval-asked", call, ...SHOWN, ...approval, workspace: "api", env: {}, reasons: [], ...more };
}

export const judged = (call: string): NewEntry => ({ type: "judged", call, verdict: "ask", reasons: [], rule: "r", title: COMMAND });

/** Entry 8 of the log ends the run. */
export const INTERRUPTED = 8;

export function interrupted(call: string, why?: string, command = COMMAND): NewEntry[] {
  const output = { text: "half\n", bytes: 5, omitted: 0 };
  return [
    { ...modelCalls(call, 2, command), reasoning: "so" } as NewEntry,
    judged(call),
    asked(call),
    { type: "approval-decided", approval: `ap-${call}`, call, decision: "approved", by: cem },
    { type: "run-started", call, ...SHOWN, command, timeoutMs: 1000, approval: `ap-${call}`, host: "h" },
    { type: "run-ended", call, how: "interrupted", exit: null, output, ms: 0, ...(why ? { why } : {}) },
  ];
}

export interface Deck {
  deps: IntakeDeps;
  rings: string[];
  now: number;
  entries(): Promise<Entry[]>;
  types(): Promise<string[]>;
  /** As the worker that holds the conversation. */
  add(...news: NewEntry[]): Promise<void>;
  choose(choice: Choice, by?: Person, of?: number): Promise<Reply>;
  press(by?: Person): Promise<Reply>;
  say(text: string, by?: Person): Promise<Reply>;
}

/** The entries up to the interruption, and no further; `why` is that of the run. */
export async function openDeck(why?: string): Promise<Deck> {
  const rings: string[] = [];
  let events = 0;
  let epoch = 0;
  const clock = { now: () => deck.now, sleep: async () => {} };
  const log = memoryLog(clock);
  const at = () => ({ event: `e${(events += 1)}`, thread });
  const queue = { wake: async (conversation: string) => void rings.push(conversation), wakePosts: async () => {} };
  const deps: IntakeDeps = { log, clock, access, queue, trace: { info: () => {}, warn: () => {}, error: () => {} } };
  const deck: Deck = {
    deps,
    rings,
    now: 1_000_000,
    entries: () => log.read(thread.key, 0),
    types: async () => (await deck.entries()).map((entry) => entry.type),
    add: async (...news) => void (await log.append(thread.key, epoch, `op${(events += 1)}`, deck.now, news)),
    choose: (choice, by = ann, of = INTERRUPTED) => intake({ ...at(), by, kind: "choice", choice, of }, deps),
    press: async (by = cem) => {
      const open = (await deck.entries()).findLast((entry) => entry.type === "approval-asked");
      return await intake({ ...at(), by, kind: "press", action: "approve", approval: open?.approval ?? "" }, deps);
    },
    say: (text, by = ann) => intake({ ...at(), by, kind: "mention", text }, deps),
  };
  await deck.say("build it");
  const taken = await log.takeover(thread.key, { key: "", token: "" });
  epoch = taken.kind === "taken" ? taken.epoch : 0;
  await deck.add(...interrupted("call00001", why));
  rings.length = 0;
  return deck;
}
