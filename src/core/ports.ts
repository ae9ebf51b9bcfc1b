import type { Entry, MessageFile, Reason, Usage, Verdict } from "./entry.ts";
import type { Rule } from "./gate/rule.ts";
import type { Inbound } from "./inbound.ts";
import type { WakeLock } from "./log.ts";
import type { Lane, Post } from "./post.ts";
import type { RunOptions, RunResult, RunSpec, Sandbox } from "./sandbox.ts";

/**
 * The doors between `core/`, which decides, and the wires, which touch things. Each method says what it may throw and
 * what calling it twice does. `memory.ts` and the real wires pass the same suites in test/contracts.
 */

export interface Clock {
  /** Milliseconds since 1970. */
  now(): number;
  /** Resolves after `ms`, or at once when the signal aborts. Never rejects. */
  sleep(ms: number, signal?: AbortSignal): Promise<void>;
}

export interface Ids {
  /** Nine letters or digits: short enough for every model API (Mistral takes no other form). */
  call(): string;
  /** An unguessable id for approvals and operations. */
  token(): string;
  /** sha256 in hex. */
  digest(text: string): string;
}

/** What happens, for operators. Never throws; carries no secret and no message text above `debug`. */
export interface Trace {
  info(event: string, fields?: Record<string, unknown>): void;
  warn(event: string, fields?: Record<string, unknown>): void;
  error(event: string, fields?: Record<string, unknown>): void;
}

// ---- the budgets -------------------------------------------------------------------------------------------

/** Token buckets shared by every gateway. */
export interface Limiter {
  /** Takes one token of every bucket named, or none and says in how many milliseconds to come again. */
  take(buckets: Bucket[], now: number): Promise<{ waitMs: number }>;
  /** The platform said 429: nothing passes this bucket before `until`. */
  block(name: string, until: number): Promise<void>;
}

export interface Bucket {
  name: string;
  burst: number;
  perSecond: number;
  /** Tokens that must be left over for what is more urgent; 0 when left out, never more than lets a full bucket pass. */
  keep?: number;
}

// ---- the doorbell ------------------------------------------------------------------------------------------

/** One ring: "look at this conversation". */
export interface Wake {
  conversation: string;
  lock: WakeLock;
  /** What the log of a new conversation will be: it has been asked to keep that just now. */
  coming?: Entry[];
  /** Aborts when the lock is lost, or when the process ends and has no time left: let everything go. */
  signal: AbortSignal;
  /** Aborts when the process is about to end: begin nothing more; a command that runs may still end. Absent: never. */
  leaving?: AbortSignal;
}

export interface Queue {
  /** Idempotent while a wake for the conversation waits; one that comes during a run rings once more after it. */
  wake(conversation: string, workspace: string): Promise<void>;
  wakePosts(conversation: string): Promise<void>;
  /** Handles wakes of these workspaces until `close`. A handler that throws is rung again with backoff. */
  serve(workspaces: string[], handler: (wake: Wake) => Promise<void>): Promise<void>;
  servePosts(handler: (wake: Wake) => Promise<void>): Promise<void>;
  /** Stops taking wakes and tells the running handlers that we leave; aborts them after `graceMs` and waits for them. */
  close(graceMs?: number): Promise<void>;
}

// ---- the chat ----------------------------------------------------------------------------------------------

/** What the person who pressed or wrote is told, for their eyes only. */
export interface Reply {
  whisper?: string;
}

/** One platform message, laid out within the platform's limits. `body` is the wire's own form. */
export interface Chunk {
  body: unknown;
  /** The bare text that is sent when the platform refuses the form. */
  plain: string;
  file?: { name: string; blob: string };
}

/** Thrown by `Chat` for everything that a platform says no to. */
export interface ChatRefusal {
  /** `later`: wait `retryAfterMs`. `refused`: this content, never. `gone`: this thread, never. `doubtful`: it may have been sent. */
  kind: "later" | "refused" | "gone" | "doubtful";
  /** The platform's own code. */
  code: string;
  retryAfterMs?: number;
  /** A limit: until then nothing more passes the first bucket of the act, or, `everywhere`, the last. */
  limit?: "here" | "everywhere";
}

export class ChatError extends Error {
  readonly refusal: ChatRefusal;
  constructor(refusal: ChatRefusal, cause?: unknown) {
    super(`${refusal.kind}: ${refusal.code}`, cause === undefined ? {} : { cause });
    this.name = "ChatError";
    this.refusal = refusal;
  }
}

/** A send whose outcome is not known. */
export interface Sought {
  nonce: string;
  /** When it was first tried, in milliseconds. */
  since: number;
  /** What it would be now; absent when nothing would be sent in its place. */
  chunk?: Chunk;
  /** The newest message that is known to be in the thread: the one that is sought came later. */
  last?: string;
}

/** `absent`: to send it now makes no second one. `unknown`: the platform cannot tell. */
export type Found = { ref: string } | "absent" | "unknown";

/** A thread that we began. `root` is its first message, as `edit` takes it. */
export interface Begun {
  thread: string;
  root: { thread: string; ref: string };
}

/** `file`: a send with a file. */
export type ChatAct = "send" | "file" | "edit";

export interface Chat {
  readonly platform: string;
  /**
   * Hears the platform until `stop`. `arrive` has persisted the arrival when it resolves; only then is the
   * platform told so. When it rejects, the platform keeps the event and sends it again.
   */
  start(arrive: (inbound: Inbound) => Promise<Reply>): Promise<void>;
  stop(): Promise<void>;
  /** Splits and lays out; pure. A post always gives at least one chunk. */
  layout(post: Post): Chunk[];
  /** Budgets of an act in this thread, never none; each lane leaves something to those before it. */
  buckets(thread: string, act: ChatAct, lane: Lane): Bucket[];
  /** Sends one chunk; `nonce` goes with it. Throws ChatError only. Returns the message's id. */
  send(thread: string, chunk: Chunk, nonce: string, file?: Uint8Array): Promise<string>;
  /** Says this in a channel (`slack:C1`) and begins a thread there; once started. Throws ChatError; then no thread has begun. */
  begin(channel: string, chunk: Chunk, nonce: string): Promise<Begun>;
  /** Makes a message show this chunk. Where it had to be sent anew: the new id. Throws ChatError. */
  edit(thread: string, ref: string, chunk: Chunk): Promise<string | void>;
  /**
   * The bytes of a file that somebody attached; from the platform itself and from nowhere else. Throws ChatError: `too_large` for
   * more than `maxBytes`, `elsewhere` for a file that lies on another host, `not_shown` when the platform does not hand it out.
   */
  download(file: MessageFile, options: { maxBytes: number; signal: AbortSignal }): Promise<Uint8Array>;
  /** What became of a send. Throws ChatError. */
  find(thread: string, sought: Sought): Promise<Found>;
}

// ---- the model ---------------------------------------------------------------------------------------------

export interface ToolSpec {
  name: string;
  description: string;
  /** A plain JSON Schema: no $schema, no strict. */
  parameters: Record<string, unknown>;
}

/** A picture for models that see: MIME type, and the bytes in base64. */
export interface Image {
  type: string;
  data: string;
}

export type Message =
  | { role: "system"; content: string }
  | { role: "user"; content: string; images?: Image[] }
  | {
      role: "assistant";
      content: string | null;
      calls: { id: string; name: string; arguments: string; extra?: Record<string, unknown> }[];
      reasoning?: string;
      /** `by` and `echo` of the answer, as they were. Without `by` it is not known who made it. */
      by?: string;
      echo?: Record<string, unknown>[];
    }
  | { role: "tool"; call: string; content: string };

export interface ModelRequest {
  messages: Message[];
  tools: ToolSpec[];
  /** `none`: the tools are named as ever, so that the prefix stays, but none may be called now. */
  choice?: "none";
  /** The same for all requests of a conversation: a service that keeps beginnings finds them by it. */
  cacheKey?: string;
}

/** A call as the endpoint sent it, joined from its pieces; the loop mints our id. */
export interface RawCall {
  name: string;
  raw: string;
  args: Record<string, unknown> | null;
  extra?: Record<string, unknown>;
}

export interface ModelAnswer {
  text: string;
  calls: RawCall[];
  finish: "stop" | "calls" | "cut" | "filter" | "refusal";
  usage: Usage;
  /** The name that the endpoint gave itself. */
  model: string;
  reasoning?: string;
  /** Which model was asked, and where: its reasoning, `extra` and `echo` go back to no other. */
  by?: string;
  /** What the endpoint needs back with this message, in its own form: it is kept and given back as it came. */
  echo?: Record<string, unknown>[];
}

/** Something that an endpoint taught us about one of its models by refusing a request: `value` is what holds since. */
export interface Fact {
  name: string;
  value: string;
  /** What the endpoint said: one line, at most LIMITS.learnedReason characters, without secrets. */
  reason: string;
  at: number;
}

/** What was learned of each endpoint and model; `of` names them (`gpt-5 at api.openai.com`). */
export interface Learned {
  /** At most one fact a name, no older than LIMITS.learnedTime. */
  read(of: string, now: number): Promise<Fact[]>;
  /** Replaces the fact of that name. */
  note(of: string, fact: Fact): Promise<void>;
  forget(of: string, name: string): Promise<void>;
}

export interface Model {
  /** As `by` of the answers names it; absent when only an answer can tell. */
  readonly name?: string;
  /**
   * One request, tried once, and again only in another form when its form is refused. Rejects with a DeckhandError of a
   * MODEL_ code; `retryAfterMs` is set when trying again makes sense. Aborting rejects with the signal's reason. Nothing is ever made up: what was cut says so.
   */
  ask(request: ModelRequest, options: { signal: AbortSignal; onText?: (text: string) => void }): Promise<ModelAnswer>;
  /**
   * How many tokens it can read, answer included: as configured, told by the endpoint or learned from it. Null: not known. Never
   * rejects. Without `ask` the endpoint is not asked: what it told before counts.
   */
  window(ask: boolean): Promise<number | null>;
}

// ---- tools -------------------------------------------------------------------------------------------------

export interface Judgement {
  verdict: Verdict;
  reasons: Reason[];
  /** Name of the rule that decided. */
  rule: string;
  /** The line only reads: it may run beside others, in a workspace that is mounted read-only. */
  reads?: boolean;
  /** What an approval would have to add for it to work; see core/grants.ts. */
  grants?: string[];
}

/** What the gate may know of the place a command runs in. */
export interface Place {
  /** Absolute path of the workspace. */
  workspace: string;
  cwd: string;
  posture: "careful" | "contained";
  /** Real path of a path that exists, else null: lets the gate see through links. Outside of core this is lstat and readlink. */
  realpath?: (path: string) => string | null;
  /** The rules that hold for this workspace, channel and person now; see `rulesFor` in core/gate/rule.ts. */
  rules?: Rule[];
}

/** One thing that a call wants to do, after its arguments were found right. */
export interface Act {
  /** What people read: the command itself for bash. */
  title: string;
  timeoutMs: number;
}

export interface Tool {
  readonly spec: ToolSpec;
  /** Pure. `problem` goes back to the model as the call's result. */
  check(args: Record<string, unknown>): { act: Act } | { problem: string };
  /** Pure; the same for the same act. */
  judge(act: Act, place: Place): Judgement;
  /** Pure. Files of the workspace that the act runs as code, absolute: an approval holds for their content. */
  files?(act: Act, place: Place): string[];
  /** Never rejects. */
  run(act: Act, at: Omit<RunSpec, "command" | "timeoutMs"> & { sandbox: Sandbox }, options: RunOptions): Promise<RunResult>;
}
