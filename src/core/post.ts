import type { Choice, PressAction } from "./inbound.ts";

/** A platform-neutral message. Wires turn it into Block Kit or components; `core/render.ts` makes it from entries. */
export interface Post {
  /** Its identity in the thread: the same key again is an edit of the same message. */
  key: string;
  lane: Lane;
  blocks: Block[];
  /** How many of the first blocks are no words of its own: what stands before it in the thread and travels in its message. */
  carries?: number;
  /** Of a status: somebody is at work, which some platforms can show. */
  working?: boolean;
  /** The whole of something whose head and tail are in `blocks`. */
  file?: { name: string; blob: string };
}

/** Who goes first when the budget is short. Order inside a thread never changes. */
export type Lane = "approval" | "answer" | "output" | "status";

export type Block =
  /** Markdown as models write it. */
  | { kind: "markdown"; text: string }
  /** Plain words of ours; nothing in them is markup. */
  | { kind: "text"; text: string }
  /** Shown letter by letter; nothing in it can end the block. */
  | { kind: "code"; text: string }
  /** Small print. */
  | { kind: "note"; text: string }
  | { kind: "buttons"; buttons: Button[] };

export interface Button {
  /** `stop` with a seq answers that pause; with a conversation's key it stops whatever goes on. */
  action: PressAction | Choice;
  label: string;
  style?: "primary" | "danger";
  /** An approval's id, the seq of what a choice is about, or the conversation's key for `stop`. */
  value: string;
}
