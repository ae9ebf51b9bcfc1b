import { SCOPES } from "../../src/chat/slack/manifest.ts";
import { asSeen, readable as readableDiscord } from "../../src/twin/discord/transcript.ts";
import { type DiscordTwin, type DiscordTwinOptions, startDiscordTwin } from "../../src/twin/discord/twin.ts";
import { readable as readableSlack } from "../../src/twin/slack/transcript.ts";
import { type SlackTwin, type SlackTwinOptions, startSlackTwin } from "../../src/twin/slack/twin.ts";

export type Platform = "slack" | "discord";
export const PLATFORMS: readonly Platform[] = ["slack", "discord"];

/** A post as people see it, the same on both platforms: code lines begin with `  | `, buttons read `[ Stop ]`. */
export interface Shown {
  ts: string;
  text: string;
  files: { id: string; name: string }[];
}

export interface Attached {
  name: string;
  content: string | Buffer;
}

/** What goes wrong with the product's next calls, as often as `times` says (once by default). */
export interface Trouble {
  with: "post" | "edit" | "file";
  /** `busy`: 429, come again in a second; `refused`: never in this form; `lost`: it was done, but the answer is lost. */
  how: "busy" | "refused" | "lost";
  times?: number;
  /** Only with what shows a code block. */
  showing?: "code";
}

/** A loopback chat with people U1 (Ann), U2 (Bob), U3 (Cem) and channels C1 to C30, whatever it names them itself. */
export interface Stage {
  platform: Platform;
  /** Tokens and addresses for the product. */
  env: Record<string, string>;
  /** Keys as in DECKHAND_USERS and DECKHAND_CHANNELS. */
  person(user: string): string;
  channel(channel: string): string;
  /** How people write a mention of a person, or of `bot`. */
  mention(user: string): string;
  say(message: { channel: string; user: string; text: string; thread?: string; files?: Attached[] }): Promise<{ ts: string }>;
  conversation(channel: string, root: string): string;
  /** What was written in the thread, oldest first; `bot` alone or everybody. */
  thread(channel: string, root: string, who: "bot" | "all"): Shown[];
  press(press: { channel: string; root: string; ts: string; action: string; user: string }): Promise<void>;
  /** Delivers everything about a message once more. */
  again(message: { channel: string; root: string; ts: string }): void;
  /** A person removes their message. */
  remove(message: { channel: string; root: string; ts: string }): Promise<void>;
  /** Nobody can write in the thread any more: the channel is archived, the thread locked. */
  shut(channel: string, root: string): void;
  /** Whether the product listens. */
  isHeard(): boolean;
  /** What only this person sees; where a platform cannot do that, the bot's words in the channel outside of threads. */
  whispers(user: string): string[];
  file(id: string): Buffer | undefined;
  trouble(trouble: Trouble): void;
  /** Calls since the start; `limited`: answered 429. */
  calls(): { posts: number; edits: number; limited: number };
  waitFor<T>(probe: () => T | undefined | false | null, ms?: number): Promise<T>;
  close(): Promise<void>;
}

const NAMES = { U1: "Ann", U2: "Bob", U3: "Cem" };
const CHANNELS = Array.from({ length: 30 }, (_, i) => `C${i + 1}`);

export async function slackStage(options: SlackTwinOptions = {}): Promise<{ stage: Stage; twin: SlackTwin }> {
  const twin = await startSlackTwin({ limits: false, appScopes: [...SCOPES], ...options });
  for (const [id, name] of Object.entries(NAMES)) twin.addUser({ id, name });
  twin.addUser({ id: "U8", name: "Guest", restricted: true });
  for (const id of CHANNELS) twin.addChannel({ id, name: id.toLowerCase() });
  const events = new Map<string, string[]>();
  const stage: Stage = {
    platform: "slack",
    env: { SLACK_BOT_TOKEN: twin.botToken, SLACK_APP_TOKEN: twin.appToken, SLACK_API_URL: twin.apiUrl },
    person: (user) => `slack:${user}`,
    channel: (channel) => `slack:${channel}`,
    mention: (user) => `<@${user === "bot" ? twin.botUserId : user}>`,
    async say(message) {
      const before = twin.events().length;
      const said = await twin.say(message);
      events.set(
        said.ts,
        twin
          .events()
          .slice(before)
          .map((event) => event.event_id),
      );
      return said;
    },
    conversation: (channel, root) => `slack:${twin.teamId}:${channel}:${root}`,
    thread: (channel, root, who) =>
      twin
        .thread(channel, root)
        .filter((m) => who === "all" || m.bot_id)
        .map((m) => ({
          ts: m.ts,
          text: readableSlack(m),
          files: (m.files ?? []).map((f) => ({ id: String(f["id"]), name: String(f["name"]) })),
        })),
    press: async ({ channel, ts, action, user }) => void (await twin.press({ channel, ts, actionId: action, user })),
    again: ({ ts }) => events.get(ts)?.forEach((id) => twin.redeliver(id)),
    remove: (message) => twin.deleteMessage(message),
    shut: (channel) => twin.archive(channel),
    isHeard: () => twin.sockets() > 0,
    whispers: (user) =>
      twin
        .ephemerals()
        .filter((e) => e.user === user)
        .map((e) => e.text),
    file: (id) => twin.file(id)?.content,
    trouble: ({ with: act, how, times = 1, showing }) =>
      twin.fault({
        method: { post: "chat.postMessage", edit: "chat.update", file: "files.completeUploadExternal" }[act],
        ...{
          busy: { status: 429, error: "ratelimited", headers: { "retry-after": "1" } },
          refused: { error: "invalid_blocks" },
          lost: { reset: "after" as const },
        }[how],
        times,
        ...(showing ? { within: "rich_text_preformatted" } : {}),
      }),
    calls: () => ({
      posts: twin.calls("chat.postMessage").length,
      edits: twin.calls("chat.update").length,
      limited: twin.calls().filter((call) => call.status === 429).length,
    }),
    waitFor: twin.waitFor,
    close: twin.close,
  };
  return { stage, twin };
}

const POST = "POST /channels/*/messages";
const EDIT = "PATCH /channels/*/messages/*";

export async function discordStage(options: DiscordTwinOptions = {}): Promise<{ stage: Stage; twin: DiscordTwin }> {
  const twin = await startDiscordTwin({ limits: false, ...options });
  const user = (id: string): string => `70${id.slice(1)}`;
  const place = (id: string): string => `80${id.slice(1)}`;
  for (const [id, name] of Object.entries(NAMES)) twin.addUser({ id: user(id), name });
  for (const id of CHANNELS) twin.addChannel({ id: place(id), name: id.toLowerCase() });
  const stage: Stage = {
    platform: "discord",
    env: { DISCORD_TOKEN: twin.token, DISCORD_API_URL: twin.apiUrl },
    person: (id) => `discord:${user(id)}`,
    channel: (id) => `discord:${place(id)}`,
    mention: (id) => `<@${id === "bot" ? twin.botUserId : user(id)}>`,
    say: async ({ channel, user: who, ...rest }) => {
      const { id } = await twin.say({ channel: place(channel), user: user(who), ...rest });
      return { ts: id };
    },
    conversation: (_channel, root) => `discord:${twin.guildId}:${root}`,
    thread: (_channel, root, who) =>
      twin
        .thread(root)
        .filter((m) => who === "all" || m.author === twin.botUserId)
        .map((m) => ({ ts: m.id, text: readableDiscord(m), files: m.attachments.map((f) => ({ id: f.id, name: f.filename })) })),
    press: async ({ root, ts, action, user: who }) => {
      const message = twin.thread(root).find((m) => m.id === ts);
      const found = JSON.stringify(message?.components ?? []).match(new RegExp(`"custom_id":"(dh:${action}:[^"]*)"`));
      await twin.press({ channel: root, messageId: ts, customId: found?.[1] ?? `dh:${action}:none`, user: user(who) });
    },
    again: ({ channel, root, ts }) => twin.redeliver({ channel: ts === root ? place(channel) : root, id: ts }),
    remove: ({ channel, root, ts }) => twin.deleteMessage({ channel: ts === root ? place(channel) : root, id: ts }),
    shut: (_channel, root) => twin.lockThread(root),
    isHeard: () => twin.sockets() > 0,
    whispers: (id) => [
      ...twin
        .ephemerals()
        .filter((e) => e.user === user(id))
        .map((e) => asSeen(e.content)),
      ...CHANNELS.flatMap((channel) => twin.messages(place(channel)))
        .filter((m) => m.author === twin.botUserId)
        .map((m) => asSeen(m.content)),
    ],
    file: (id) => twin.file(id)?.content,
    trouble: ({ with: act, how, times = 1, showing }) =>
      twin.fault({
        route: act === "edit" ? EDIT : POST,
        ...{
          busy: {
            status: 429,
            headers: { "retry-after": "1" },
            body: { message: "You are being rate limited.", retry_after: 1, global: false },
          },
          refused: { status: 400, body: { message: "Invalid Form Body", code: 50035, errors: {} } },
          lost: { reset: "after" as const },
        }[how],
        times,
        ...(act === "file" ? { within: "filename=" } : showing ? { within: "```" } : {}),
      }),
    calls: () => ({
      posts: twin.calls(POST).length,
      edits: twin.calls(EDIT).length,
      limited: twin.calls().filter((call) => call.status === 429).length,
    }),
    waitFor: twin.waitFor,
    close: twin.close,
  };
  return { stage, twin };
}
