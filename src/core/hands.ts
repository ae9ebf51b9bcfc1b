import type { Access } from "./access.ts";
import type { State } from "./conversation.ts";
import type { AnswerEar, LiveEar } from "./live.ts";
import type { Live, Log } from "./log.ts";
import type { Clock, Ids, Model, Place, Tool, Trace } from "./ports.ts";
import type { Prompts } from "./prompt.ts";
import type { StandingRule } from "./rules.ts";
import type { Sandbox } from "./sandbox.ts";
import type { Redact } from "./redactor.ts";
import type { Limits, Prices } from "./spending.ts";

/** A workspace as it stands. */
export interface WorkspaceNow {
  path: string;
  /** What the self-test measured there. */
  badge: string;
  /** Why nothing runs there now. */
  closed?: string;
  /** What an approval may hand out there, each for one Git host. */
  credentials?: { name: string; host: string }[];
}

/** What a worker works with. Built once in `app.ts`. */
export interface Hands {
  log: Log;
  /** Who is asked: in general, in this conversation, and when that one is not there. */
  model: Model;
  modelFor: (state: State) => Model;
  fallback: Model | null;
  prompts: Prompts;
  tools: Map<string, Tool>;
  sandbox: Sandbox;
  clock: Clock;
  ids: Ids;
  trace: Trace;
  access: Access;
  workspaces: Map<string, WorkspaceNow>;
  /** Takes secrets out of what leaves this process; what runs is never changed. */
  redact: Redact;
  posture: Place["posture"];
  /** Those of `deckhand.yaml`. */
  rules: StandingRule[];
  realpath: (path: string) => string | null;
  /** Name of this machine, kept with each run. */
  host: string;
  limits: Limits;
  /** Those of `deckhand.yaml`. */
  prices: Prices;
  approvalMs: number;
  stopPollMs: number;
  retry: { tries: number; baseMs: number; maxMs: number; retryAfterMaxMs: number };
  /** Whoever looks on while this call runs; must not throw. */
  live: (run: Pick<Live, "conversation" | "call">) => LiveEar;
  /** Whoever looks on while the answer to this request is written; must not throw. */
  writing: (request: { conversation: string; read: number }) => AnswerEar;
  /** Rings for the poster, at once when it is `urgent`; must not throw. */
  appended: (conversation: string, urgent: boolean) => void;
}
