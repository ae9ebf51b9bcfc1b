import {
  type Begun,
  type Chat,
  type ChatAct,
  ChatError,
  type ChatRefusal,
  type Chunk,
  type Found,
  type Sought,
} from "../../src/core/ports.ts";
import type { MessageFile } from "../../src/core/entry.ts";
import type { Lane, Post } from "../../src/core/post.ts";
import { LIMITS } from "../../src/limits.ts";

export interface PaperMessage {
  ref: string;
  nonce: string;
  text: string;
  file?: string;
  edits: number;
}

type Download = Uint8Array | ChatRefusal;

/** A chat on paper: keeps what it is sent, and fails where it is told to. */
export class PaperChat implements Chat {
  readonly platform = "slack";
  readonly messages: PaperMessage[] = [];
  /** Shifted at each send: a refusal before the message is kept, or `lost`: kept, but the answer is lost. */
  readonly failures: (ChatRefusal | "lost" | null)[] = [];
  readonly editFailures: ChatRefusal[] = [];
  burst = 1000;
  /** Of edits; null: as for sends. Of those of statuses; null: together with the others. */
  editBurst: number | null = null;
  statusBurst: number | null = null;
  /** Whether lanes leave tokens to each other. */
  keeps = false;
  chunkLength = 4000;
  /** Shifted at each look for a message: what is told instead of what is so. */
  readonly looks: ("unknown" | ChatRefusal)[] = [];
  /** What downloads give by address, of a list one after the other; and what was asked for. */
  readonly files = new Map<string, Download | Download[]>();
  readonly fetched: string[] = [];
  /** Called after a message is kept. */
  onSend: () => void = () => {};
  private sends = 0;

  async start(): Promise<void> {}
  async stop(): Promise<void> {}

  layout(post: Post): Chunk[] {
    const text = post.blocks.map((b) => (b.kind === "buttons" ? b.buttons.map((x) => `[${x.label}]`).join(" ") : b.text)).join("\n");
    const parts = text.match(new RegExp(`[\\s\\S]{1,${this.chunkLength}}`, "g")) ?? [""];
    return parts.map((part) => ({ body: part, plain: part, ...(post.file ? { file: post.file } : {}) }));
  }

  buckets(_thread: string, act: ChatAct, lane: Lane) {
    const own = lane === "status" && this.statusBurst !== null ? "status" : "edit";
    const kind = act === "edit" ? own : "send";
    const burst = { send: null, edit: this.editBurst, status: this.statusBurst }[kind] ?? this.burst;
    // As Slack's: a new status is as urgent as an answer.
    const keep = LIMITS.laneKeep[act === "send" && lane === "status" ? "answer" : lane];
    return [{ name: `paper:${kind}`, burst, perSecond: 1, keep: this.keeps ? keep : 0 }];
  }

  async send(_thread: string, chunk: Chunk, nonce: string, file?: Uint8Array): Promise<string> {
    const failure = this.failures.shift();
    if (failure && failure !== "lost") throw new ChatError(failure);
    this.sends += 1;
    const ref = `m${this.sends}`;
    this.messages.push({ ref, nonce, text: String(chunk.body), edits: 0, ...(file ? { file: new TextDecoder().decode(file) } : {}) });
    this.onSend();
    if (failure === "lost") throw new ChatError({ kind: "doubtful", code: "reset" });
    return ref;
  }

  async begin(channel: string, chunk: Chunk, nonce: string): Promise<Begun> {
    const thread = `${channel}:1`;
    return { thread, root: { thread, ref: await this.send(thread, chunk, nonce) } };
  }

  async edit(_thread: string, ref: string, chunk: Chunk): Promise<void> {
    const failure = this.editFailures.shift();
    if (failure) throw new ChatError(failure);
    const message = this.messages.find((m) => m.ref === ref);
    if (!message) throw new ChatError({ kind: "refused", code: "message_not_found" });
    message.text = String(chunk.body);
    message.edits += 1;
  }

  async find(_thread: string, { nonce }: Pick<Sought, "nonce">): Promise<Found> {
    const told = this.looks.shift();
    if (told === "unknown") return told;
    if (told) throw new ChatError(told);
    const found = this.messages.find((m) => m.nonce === nonce);
    return found ? { ref: found.ref } : "absent";
  }

  async download({ url }: MessageFile, { maxBytes }: { maxBytes: number }): Promise<Uint8Array> {
    this.fetched.push(url);
    const found = this.files.get(url);
    const file = Array.isArray(found) ? found.shift() : found;
    if (!(file instanceof Uint8Array)) throw new ChatError(file ?? { kind: "refused", code: "http_404" });
    if (file.length > maxBytes) throw new ChatError({ kind: "refused", code: "too_large" });
    return file;
  }

  texts(): string[] {
    return this.messages.map((m) => m.text);
  }
}
