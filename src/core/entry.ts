import type { StandingRule } from "./rules.ts";

/**
 * The lines of the append-only log. The log is the only truth: state, the model's messages, the posts in
 * the thread and the trace are all folded from it. Times are milliseconds since 1970, sizes are bytes.
 */

/** Somebody on a platform. `key` is `slack:U1` or `discord:42`; access rules are written against it. */
export interface Person {
  key: string;
  name: string;
  kind: "member" | "guest" | "external" | "bot";
  /** Role keys such as `discord:role:7`; empty on platforms without roles. */
  roles: string[];
}

/** One tool call that the model asked for. `id` is ours: nine letters or digits, unique in the conversation. */
export interface Call {
  id: string;
  name: string;
  /** The parsed arguments; null when the text was not one JSON object. */
  args: Record<string, unknown> | null;
  /** The argument text exactly as it came, kept for the person who reads the trace. */
  raw: string;
  /** What the endpoint needs back with this call (signatures), kept as it came. */
  extra?: Record<string, unknown>;
}

/** Tokens of one request. A missing figure is null, never 0. */
export interface Usage {
  prompt: number | null;
  completion: number | null;
  cached: number | null;
}

/** What all conversations together had taken of one day (UTC, `2026-11-30`): tokens, and millionths of a US dollar where known. */
export interface DaySpent {
  day: string;
  tokens: number;
  cost: number | null;
}

export type Verdict = "auto" | "ask" | "deny";

/** Why the gate asks or denies: a code for programs, a sentence for people. */
export interface Reason {
  code: string;
  text: string;
}

/** What a command printed: decoded, cleaned, head and tail with a line that says how much is left out between. */
export interface Output {
  text: string;
  bytes: number;
  omitted: number;
  /** Where the conversation's commands find all of it, as far as it was kept, when the model gets less. */
  file?: string;
  /** Key of the whole output (capped) while it is kept; see `Log.putBlob`. */
  blob?: string;
}

/** How a run ended. `refused` means that nothing was started. */
export type RunEnd = "exited" | "timeout" | "cancelled" | "flood" | "interrupted" | "refused";

/** One connection that a command with a network grant tried. */
export interface Attempt {
  host: string;
  port: number;
  /** Null when it was let through, else why not. */
  refused: string | null;
}

/** The rule that "always" on a card would store, and what it would have let through of the newest commands there. */
export interface Always {
  rule: StandingRule;
  /** How many commands were looked at, and those that it would have let through: how many, and the newest of them. */
  looked: number;
  through: number;
  lines: string[];
}

export type Decision = "approved" | "denied" | "expired" | "superseded" | "cancelled";

interface Bodies {
  /** First line of every log. */
  opened: { platform: string; thread: string; channel: string; workspace: string };
  /**
   * A person's words. `to: "bot"` asks for an answer; `to: "thread"` is kept as context for the next turn.
   * `event` is the platform's message id. `pressed`: said with a button on the interrupted run that ended in entry `of`:
   * look how far it came, or run the same command once more, as a new call. `use`: from now on this model is asked here.
   */
  message: { event: string; by: Person; text: string; to: "bot" | "thread"; files?: MessageFile[]; pressed?: Pressed; use?: string };
  /** The person changed or removed a message (`parent` = its seq). */
  edited: { event: string; text: string };
  removed: { event: string };
  /**
   * One answer of the model. `read` is the seq up to which it had read the log. `again`: not the model's, but the call that
   * the message in that entry wants once more.
   */
  model: {
    read: number;
    again?: number;
    text: string;
    calls: Call[];
    /** `cut`: the message is not whole (`length`, a lost connection); none of its calls runs. */
    finish: "stop" | "calls" | "cut" | "filter" | "refusal";
    usage: Usage;
    model: string;
    ms: number;
    tries: number;
    /** The fallback model's, and why the first was given up. */
    instead?: string;
    reasoning?: string;
    /** What it cost, in millionths of a US dollar; absent when that is not known. */
    cost?: number;
    /** About how many tokens the request had, where the endpoint does not count them. */
    estimated?: number;
    /** Which model was asked, and where, and what it needs back with this message; see `ModelAnswer`. */
    by?: string;
    echo?: Record<string, unknown>[];
  };
  /** The gate's word on one call of the newest model entry, for the folder that it will run in. */
  judged: {
    call: string;
    verdict: Verdict;
    reasons: Reason[];
    rule: string;
    title: string;
    reads?: boolean;
    cwd?: string;
    /** What an approval would add for it; of an `auto` one what the rule gives that lets it through. */
    grants?: string[];
  };
  /** The request that an `ask` makes. Buttons carry only `approval`. */
  "approval-asked": {
    approval: string;
    call: string;
    command: string;
    cwd: string;
    workspace: string;
    env: Record<string, string>;
    /** The sandbox badge that was measured, and what the approval grants beyond it. */
    sandbox: string;
    grants: string[];
    reasons: Reason[];
    requester: Person;
    approvers: string[];
    deadline: number;
    /** sha256 over the exact bytes and the circumstances that were shown. */
    digest: string;
    /** What "always" would store; absent where it is not offered. */
    always?: Always;
  };
  /** With a rule: it was stored by the same press. */
  "approval-decided": { approval: string; call: string; decision: Decision; by?: Person; reason?: string; rule?: StandingRule };
  /** Durable before the command is let go. */
  "run-started": {
    call: string;
    command: string;
    cwd: string;
    timeoutMs: number;
    sandbox: string;
    approval?: string;
    digest: string;
    grants: string[];
    host: string;
  };
  /** The result of a call (`parent` = its run-started, or the model entry when nothing was started). */
  "run-ended": {
    call: string;
    how: RunEnd;
    exit: number | null;
    output: Output;
    ms: number;
    /** For `refused`: which kind (`denied`, `no-tool`, `bad-arguments`, `cut`, `superseded`, ...). For `interrupted`: `restart`. */
    why?: string;
    by?: Person;
    /** What it left that will run by itself later, and where it tried to connect; see `RunResult`. */
    noticed?: string[];
    network?: Attempt[];
    /** For the model: what does not carry over to its next command. */
    notes?: string[];
  };
  /**
   * A press that decides nothing by itself: `always` asks to see the rule of the approval in entry `of`; `leave` leaves the
   * interrupted run that ended in entry `of` as it is; `continue` and `stop` answer the `paused` in entry `of`.
   */
  choice: { of: number; choice: string; by: Person };
  /** Somebody ended the work. */
  stop: { event: string; by: Person };
  /** The turn's answer. `answers` lists the seqs of the messages that it closes. */
  final: { text: string; answers: number[]; reason: "answer" | "stopped"; cut?: boolean };
  /**
   * A limit was reached. The turn goes on when somebody of `approvers` says so; see `choice`. `limit`: not one of the turn's
   * own, but the thread's, or that of a day, with what all conversations had taken of it by then.
   */
  paused: { text: string; approvers: string[]; limit?: "thread" | DaySpent };
  /**
   * To make room for the model: of each output up to entry `upto` it gets only `outputs` bytes, and with a `summary` what
   * happened up to there is represented by that; of each message of people at most `words` bytes, of each of the model's own `said`,
   * of the repository's notes `notes`. `tokens` of `window` were taken before; `overflow`: the endpoint had refused them. `cost`:
   * of asking for the summary. `without`: nothing of all that, but what the endpoint had refused and is told no more.
   */
  compacted: {
    upto: number;
    outputs: number;
    words?: number;
    said?: number;
    notes?: number;
    without?: Refused;
    summary?: string;
    tokens: number;
    window: number;
    overflow?: true;
    cost?: number;
  };
  /**
   * What the model is told beside people's words: the repository's own notes, what became of attached files (`parent`: the
   * message; `pictures`: shown with it; `problem`: what the thread reads).
   */
  brief: { about: "agents" | "files"; text: string; pictures?: Picture[]; problem?: string };
  /** What a gateway got of the files that came with the message in entry `of`, in their order. */
  received: { of: number; files: ReceivedFile[] };
  /**
   * The turn ended without an answer; `text` is what the thread reads. `parked`: it ended its workers again and again;
   * nothing more is done in this conversation, and what was asked waits, until `retried`.
   */
  failed: { code: string; text: string; answers: number[]; parked?: true };
  /** An operator lets a parked conversation go on. */
  retried: { by: Person };
}

/**
 * What a request was answered without: all pictures; the outputs of the newest step; its calls and what the model said with them,
 * with a summary or notes of the repository that no answer has read; the words of people that came before this turn and no answer has read.
 */
export type Refused = "pictures" | "outputs" | "step" | "words";

/** What somebody wants to have done about the interrupted run that ended in entry `of`. */
export interface Pressed {
  of: number;
  choice: "look" | "again";
}

export interface MessageFile {
  name: string;
  type: string;
  bytes: number;
  url: string;
}

/** A file that was fetched, or why it was not; its bytes are kept for a while (see `Log.putBlob`). */
export type ReceivedFile = { name: string; bytes: number } & ({ as: "text" | "picture"; type: string; blob: string } | { problem: string });

export interface Picture {
  name: string;
  type: string;
  blob: string;
}

export type EntryType = keyof Bodies;

/** An entry before the log gave it its place. */
export type NewEntry<T extends EntryType = EntryType> = T extends EntryType ? { type: T; parent?: number } & Bodies[T] : never;

/** An entry in the log: `seq` counts 1, 2, 3 ... without a gap; `epoch` is 0 for inputs. */
export type Entry<T extends EntryType = EntryType> = T extends EntryType
  ? NewEntry<T> & { v: 1; seq: number; at: number; epoch: number }
  : never;

/** Narrowing by type, the way every fold needs it. */
export function isEntry<T extends EntryType>(entry: Entry, type: T): entry is Entry<T> {
  return entry.type === type;
}
