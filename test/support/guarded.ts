import type { Access } from "../../src/core/access.ts";
import type { Entry, Person } from "../../src/core/entry.ts";
import { isEntry } from "../../src/core/entry.ts";
import type { Hands } from "../../src/core/hands.ts";
import { type Choice, type Thread, slackThread } from "../../src/core/inbound.ts";
import { type IntakeDeps, intake } from "../../src/core/intake.ts";
import type { Log } from "../../src/core/log.ts";
import type { Model, ModelAnswer, ModelRequest, Reply, Tool } from "../../src/core/ports.ts";
import { redactor } from "../../src/core/redactor.ts";
import { render } from "../../src/core/render.ts";
import type { Sandbox } from "../../src/core/sandbox.ts";
import { type Limits, type Prices, SHIPPED } from "../../src/core/spending.ts";
import { turn } from "../../src/core/turn.ts";
import { memoryLog } from "../../src/memory.ts";
import { systemClock, systemIds } from "../../src/system.ts";
import { ann } from "./random-log.ts";
import { prompts } from "./told.ts";

/** A worker in memory: the real loop, log and intake; a model that says what the test wants, and commands that print what it wants. */

export const cem: Person = { key: "slack:U3", name: "Cem", kind: "member", roles: [] };
const NOON = Date.UTC(2026, 10, 30, 12);

export const access: Access = {
  users: ["slack:U1", "slack:U3"],
  approvers: ["slack:U3"],
  workspaces: [{ name: "api", channels: ["slack:C1"], users: null, approvers: null }],
};

export interface GuardedOptions {
  /** The nth answer of the model, from 0: the command that it runs, what it says, or all of it. */
  answers?: (n: number, request: ModelRequest) => string | Partial<ModelAnswer>;
  /** What a command prints the nth time; "out" when left out. */
  prints?: (command: string, n: number) => string;
  limits?: { [K in keyof Limits]?: Partial<Limits[K]> };
  prices?: Prices;
  /** As `by` of the answers. */
  name?: string;
  /** Asked instead of `answers`. */
  model?: Model;
  /** What the workspace's AGENTS.md says. */
  notes?: string;
  /** What becomes of attached files. */
  put?: Sandbox["put"];
  /** That of others, to share its sums; its own when left out. */
  log?: Log;
  thread?: string;
  /** In the place of its own. */
  hands?: Partial<Hands>;
  /** Models that people may choose. */
  models?: string[];
}

export interface Guarded {
  deps: IntakeDeps;
  thread: Thread;
  log: Log;
  /** Requests that the model got. */
  requests: ModelRequest[];
  /** What operators were warned of. */
  warned: string[];
  /** What a worker was woken for. */
  rings: string[];
  now: number;
  say(text: string, by?: Person): Promise<Reply>;
  /** On the newest pause, or on entry `of`. */
  choose(choice: Choice, by?: Person, of?: number): Promise<Reply>;
  /** One wake. */
  work(): Promise<void>;
  entries(): Promise<Entry[]>;
  last(): Promise<Entry | undefined>;
  /** The posts as people read them, buttons as `[Stop]`. */
  posts(): Promise<string[]>;
}

export function openGuarded(options: GuardedOptions): Guarded {
  // Who asks over a connection has to let it come to a turn.
  const sleep = options.model ? systemClock.sleep : async () => {};
  const clock = { now: () => deck.now, sleep };
  const log = options.log ?? memoryLog(clock);
  const thread = slackThread("T1", "C1", options.thread ?? "1.1");
  const rings: string[] = [];
  const requests: ModelRequest[] = [];
  const warned: string[] = [];
  const trace = { info: () => {}, warn: (event: string) => void warned.push(event), error: () => {} };
  const queue = { wake: async (of: string) => void rings.push(of), wakePosts: async () => {} };
  const deps: IntakeDeps = { log, clock, access: { ...access, ...(options.models ? { models: options.models } : {}) }, queue, trace };
  const hands = handsOf(options, { log, clock, trace, requests });
  let events = 0;
  const arrival = (by: Person) => ({ event: `${thread.key}/${(events += 1)}`, thread, by });
  const entries = () => log.read(thread.key, 0);
  const deck: Guarded = {
    ...{ deps, thread, log, requests, warned, rings, now: NOON, entries },
    say: (text, by = ann) => intake({ ...arrival(by), kind: "mention", text }, deps),
    async choose(choice, by = cem, of) {
      const newest = (await entries()).findLast((entry) => isEntry(entry, "paused"))?.seq ?? 0;
      return await intake({ ...arrival(by), kind: "choice", choice, of: of ?? newest }, deps);
    },
    work: () => turn({ conversation: thread.key, lock: { key: "", token: "" }, signal: new AbortController().signal }, hands),
    last: async () => (await entries()).at(-1),
    async posts() {
      const { due } = render(await entries(), { banner: null, redact: redactor([]) });
      return due.map(({ post }) =>
        post.blocks.map((b) => (b.kind === "buttons" ? b.buttons.map((x) => `[${x.label}]`).join(" ") : b.text)).join("\n"),
      );
    },
  };
  return deck;
}

type Parts = Pick<Hands, "log" | "clock" | "trace"> & { requests: ModelRequest[] };

/** What such a worker works with. */
export function handsOf(options: GuardedOptions, { requests, ...parts }: Parts): Hands {
  const { limits = {}, prices = {} } = options;
  const model = options.model ?? modelOf(options, requests);
  const sandbox = {
    carried: () => ({ cwd: "/w", env: {}, notes: [] }),
    lacks: () => null,
    left: () => null,
    notes: async () => options.notes ?? null,
    keep: async () => null,
    put: options.put ?? (async () => ({ paths: [] })),
  };
  const rest = {
    ...{ model, modelFor: () => model, fallback: null, prompts, access, ids: systemIds, redact: redactor([]), rules: [], prices },
    tools: new Map([["bash", toolOf(options)]]),
    workspaces: new Map([["api", { path: "/w", badge: "sandboxed: no network, workspace only" }]]),
    limits: {
      turn: { ...SHIPPED.turn, ...limits.turn },
      thread: { ...SHIPPED.thread, ...limits.thread },
      day: { ...SHIPPED.day, ...limits.day },
    },
    ...{ posture: "contained" as const, realpath: (path: string) => path, host: "h", approvalMs: 1000, stopPollMs: 20 },
    retry: { tries: 1, baseMs: 1, maxMs: 1, retryAfterMaxMs: 1 },
    live: () => ({ hear: () => {}, end: () => {} }),
    writing: () => ({ hear: () => {}, again: () => {}, end: () => {} }),
    appended: () => {},
  };
  return { ...parts, ...rest, sandbox: sandbox as unknown as Sandbox, ...options.hands } as Hands;
}

function modelOf({ answers = () => "say done", name }: GuardedOptions, requests: ModelRequest[]): Model {
  return {
    ...(name === undefined ? {} : { name }),
    window: async () => 1_000_000,
    async ask(request) {
      const wanted = answers(requests.push(request) - 1, request);
      const usage = { prompt: 100, completion: 10, cached: 0 };
      const answer: ModelAnswer = { text: "", calls: [], finish: "stop", usage, model: "m", ...(name === undefined ? {} : { by: name }) };
      if (typeof wanted === "object") return { ...answer, ...wanted };
      if (wanted.startsWith("say ")) return { ...answer, text: wanted.slice(4) };
      return { ...answer, finish: "calls", calls: [callOf(wanted)] };
    },
  };
}

export function callOf(command: string, name = "bash"): ModelAnswer["calls"][number] {
  return { name, args: { command }, raw: JSON.stringify({ command }) };
}

/** What begins with `sudo` is never run. */
function toolOf({ prints = () => "out" }: GuardedOptions): Tool {
  let n = 0;
  return {
    spec: { name: "bash", description: "", parameters: {} },
    check: ({ command }) => ({ act: { title: String(command), timeoutMs: 1000 } }),
    judge: ({ title }) => ({ verdict: title.startsWith("sudo") ? "deny" : "auto", reasons: [], rule: "r" }),
    async run({ title }, _, { ready }) {
      await ready?.();
      const text = prints(title, n++);
      return { how: "exited", exit: 0, output: { text, bytes: text.length, omitted: 0 }, ms: 1 };
    },
  };
}
