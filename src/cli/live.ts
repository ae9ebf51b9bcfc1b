import { NOT_SET } from "../app.ts";
import type { Permission } from "../chat/discord/manifest.ts";
import { discordJs } from "../chat/discord/guard.ts";
import { socketMode } from "../chat/slack/guard.ts";
import type { Config } from "../config.ts";
import { DeckhandError, asDeckhandError } from "../core/errors.ts";
import type { Inbound } from "../core/inbound.ts";
import { type Begun, type Chat, ChatError, type Chunk, type Reply } from "../core/ports.ts";
import type { Block } from "../core/post.ts";
import { guardProcess } from "../guard.ts";
import { memoryLog } from "../memory.ts";
import { logTrace, systemClock, systemIds } from "../system.ts";
import type { Found } from "./doctor.ts";

interface LiveOptions {
  tell: (name: string, found: Found) => void;
  signal: AbortSignal;
  /** How long a person has to press, in ms. */
  pressMs?: number;
}

const START_MS = 30_000;
const PRESS_MS = 120_000;
const DONE = "Deckhand's live check: done";
const FILE = { name: "live-check.txt", blob: "" };

/**
 * `deckhand doctor --live CHANNEL`: does in the channel once what conversations do there, and waits for one press. Tells
 * each step as it comes; a failed one with what is missing. Nothing that people say meanwhile begins a conversation.
 */
export async function liveCheck(config: Config, channel: string, { tell, signal, pressMs = PRESS_MS }: LiveOptions): Promise<void> {
  const trace = logTrace("error", config.secrets);
  const chat = await openChat(config, channel, trace);
  if (!chat) return tell("live", { wrong: [NOT_SET.chat.line()] });
  const unguard = guardProcess(trace, [socketMode, discordJs]);
  try {
    await new LiveCheck(chat, channel, tell, signal).run(pressMs);
  } finally {
    await chat.stop();
    unguard();
  }
}

/** The channel's platform with a memory of its own; null when it is not configured. */
async function openChat(config: Config, channel: string, trace: ReturnType<typeof logTrace>): Promise<Chat | null> {
  const parts = { trace, log: memoryLog(systemClock), clock: systemClock, watch: [] };
  if (channel.startsWith("slack:"))
    return config.slack && (await import("../chat/slack/slack.ts")).slackChat({ ...config.slack, ...parts });
  return config.discord && (await import("../chat/discord/discord.ts")).discordChat({ ...config.discord, ...parts, ids: systemIds });
}

class LiveCheck {
  private readonly chat: Chat;
  private readonly channel: string;
  private readonly tell: LiveOptions["tell"];
  private readonly signal: AbortSignal;
  /** Tells this check's button from every other. */
  private readonly token = systemIds.token();
  private readonly pressed = Promise.withResolvers<string>();

  constructor(chat: Chat, channel: string, tell: LiveOptions["tell"], signal: AbortSignal) {
    this.chat = chat;
    this.channel = channel;
    this.tell = tell;
    this.signal = signal;
  }

  async run(pressMs: number): Promise<void> {
    const { chat, channel } = this;
    const up = await this.step("listen", "connected", "ViewChannel", () => this.listen());
    if (!up || this.signal.aborted) return;
    const root = this.words("Deckhand's live check");
    const begun = await this.step("post", "a message, and a thread of it", "SendMessages", () => chat.begin(channel, root, this.nonce(0)));
    if (!begun) return;
    await this.inThread(begun.thread, pressMs);
    await this.step("clean up", "the message says that it is done", "SendMessages", () => this.finish(begun));
  }

  private async inThread(thread: string, pressMs: number): Promise<void> {
    const { chat } = this;
    const say = (chunk: Chunk, part: number, file?: Uint8Array) => chat.send(thread, chunk, this.nonce(part), file);
    const ref = await this.step("reply", "in the thread", "SendMessagesInThreads", () => say(this.words("First."), 1));
    if (ref === null) return; // nothing else can be said there either
    await this.step("edit", "of the reply", "SendMessagesInThreads", () => chat.edit(thread, ref, this.words("First, and edited.")));
    const file = chat.layout({ key: "file", lane: "answer", blocks: [], file: FILE }).at(-1) as Chunk;
    const bytes = new TextEncoder().encode("Deckhand can upload files here.\n");
    await this.step("upload", "a small file", "AttachFiles", () => say(file, 2, bytes));
    const button = { action: "approve", label: "Press me", value: this.token } as const;
    const card = this.words("Please press this button.", { kind: "buttons", buttons: [button] });
    const shown = await this.step("button", "shown: press it now", "SendMessagesInThreads", () => say(card, 3));
    if (shown === null) return;
    await this.awaitPress(pressMs);
    await this.step("take back", "the button", "SendMessagesInThreads", () => chat.edit(thread, shown, this.words(DONE)));
  }

  /** Null when it failed: that has been told then. */
  private async step<T>(name: string, fine: string, permission: Permission, act: () => Promise<T>): Promise<T | null> {
    try {
      const value = await act();
      this.tell(`live ${name}`, { fine });
      return value;
    } catch (thrown) {
      this.tell(`live ${name}`, { wrong: [(await this.problem(thrown, permission)).line()] });
      return null;
    }
  }

  private async problem(thrown: unknown, permission: Permission): Promise<DeckhandError> {
    if (!(thrown instanceof ChatError)) return asDeckhandError(thrown);
    if (this.chat.platform === "slack") return (await import("../chat/slack/health.ts")).slackRefusal(thrown, this.channel);
    return (await import("../chat/discord/health.ts")).discordRefusal(thrown, this.channel, permission);
  }

  /** `start` waits for a platform that is down; here that is an answer. */
  private async listen(): Promise<true> {
    const over = new AbortController();
    const late = systemClock.sleep(START_MS, AbortSignal.any([this.signal, over.signal])).then(() => "late" as const);
    try {
      const started = this.chat.start((inbound) => this.arrive(inbound)).then(() => "up" as const);
      const first = await Promise.race([started, late]);
      if (first === "up" || this.signal.aborted) return true;
    } finally {
      over.abort();
    }
    throw new DeckhandError(this.chat.platform === "slack" ? "SLACK_DOWN" : "DISCORD_DOWN", `no connection within ${START_MS / 1000} s`);
  }

  /**
   * Our press alone is for us. What else comes is not taken: Slack gives it to another Deckhand that runs, if there is one;
   * from Discord that one has it already, so its presses are passed over in silence.
   */
  private async arrive(inbound: Inbound): Promise<Reply> {
    if (inbound.kind === "press" && inbound.approval === this.token) {
      this.pressed.resolve(inbound.by.name);
      return { whisper: "Thank you: your press arrived." };
    }
    if (this.chat.platform === "discord" && ["press", "choice", "stop"].includes(inbound.kind)) return {};
    throw new Error("a live check takes nothing");
  }

  private async awaitPress(ms: number): Promise<void> {
    const over = new AbortController();
    const late = systemClock.sleep(ms, AbortSignal.any([this.signal, over.signal])).then(() => null);
    const by = await Promise.race([this.pressed.promise, late]);
    over.abort();
    if (by !== null) this.tell("live press", { fine: `by ${by}` });
    else if (!this.signal.aborted) this.tell("live press", { wrong: [new DeckhandError("NO_PRESS", `${ms / 1000} s`).line()] });
  }

  private async finish({ root }: Begun): Promise<void> {
    await this.chat.edit(root.thread, root.ref, this.words(DONE));
  }

  private words(text: string, ...more: Block[]): Chunk {
    return this.chat.layout({ key: "", lane: "answer", blocks: [{ kind: "text", text }, ...more] })[0] as Chunk;
  }

  private nonce(part: number): string {
    return `live:${this.token}/${part}`;
  }
}
