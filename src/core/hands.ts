import type { Access } from "./access.ts";
import type { Log } from "./log.ts";
import type { Clock, Ids, Model, Place, Tool, Trace } from "./ports.ts";
import type { StandingRule } from "./rules.ts";
import type { Sandbox } from "./sandbox.ts";
import type { Redact } from "./redactor.ts";

/** What a worker works with. Built once in `app.ts`. */
export interface Hands {
  log: Log;
  model: Model;
  tools: Map<string, Tool>;
  sandbox: Sandbox;
  clock: Clock;
  ids: Ids;
  trace: Trace;
  access: Access;
  /** Workspace name -> its folder and the badge that the self-test measured there; `closed`: why nothing runs there now. */
  workspaces: Map<string, { path: string; badge: string; closed?: string }>;
  /** Takes secrets out of what leaves this process; what runs is never changed. */
  redact: Redact;
  posture: Place["posture"];
  /** Those of `deckhand.yaml`. */
  rules: StandingRule[];
  realpath: (path: string) => string | null;
  /** Name of this machine, kept with each run. */
  host: string;
  approvalMs: number;
  stopPollMs: number;
  retry: { tries: number; baseMs: number; maxMs: number; retryAfterMaxMs: number };
  /** Rings for the poster; must not throw. */
  appended: (conversation: string) => void;
}
