import { Client, Events, Partials } from "discord.js";
import type { ClientOptions } from "discord.js";
import { afterEach } from "vitest";
import { WebSocket } from "ws";
import type { DiscordTwin, DiscordTwinOptions } from "../../../src/twin/discord/twin.ts";
import { startDiscordTwin } from "../../../src/twin/discord/twin.ts";

/** A twin with two people and a few channels, plain HTTP to it, a plain gateway socket, and discord.js; all ended after the test. */

export type Args = Record<string, unknown>;
export interface Answer extends Args {
  status: number;
  code?: number;
  message?: unknown;
  id?: string;
  headers: Headers;
}

const ends: (() => unknown)[] = [];
afterEach(async () => {
  for (const end of ends.splice(0).reverse()) await end();
});

export function atEnd(end: () => unknown): void {
  ends.push(end);
}

export const ANA = "1001";
export const BEN = "1002";
export const OPS = "2001";
export const FORUM = "2002";
export const QUIET = "2003";
export const HIDDEN = "2004";

export async function startTwin(options: DiscordTwinOptions = {}): Promise<DiscordTwin> {
  const twin = await startDiscordTwin(options);
  atEnd(() => twin.close());
  twin.addUser({ id: ANA, name: "ana" });
  twin.addUser({ id: BEN, name: "ben" });
  twin.addChannel({ id: OPS, name: "ops" });
  twin.addChannel({ id: FORUM, name: "questions", type: "forum" });
  twin.addChannel({ id: QUIET, name: "quiet", lacks: ["SendMessages", "CreatePublicThreads", "SendMessagesInThreads"] });
  twin.addChannel({ id: HIDDEN, name: "hidden", lacks: ["ViewChannel"] });
  return twin;
}

/** One raw call, `POST /channels/1/messages`; the bot's token unless another is given, none with `null`. */
export async function call(twin: DiscordTwin, route: string, body?: unknown, token: string | null = twin.token): Promise<Answer> {
  const [method = "", path = ""] = route.split(" ");
  const headers: Record<string, string> = {};
  if (token !== null) headers.authorization = `Bot ${token}`;
  if (body !== undefined && !(body instanceof FormData)) headers["content-type"] = "application/json";
  const sent = body instanceof FormData ? body : body === undefined ? undefined : JSON.stringify(body);
  const response = await fetch(`${twin.apiUrl}/v10${path}`, { method, headers, body: sent ?? null });
  const text = await response.text();
  const said: unknown = text === "" ? {} : JSON.parse(text);
  return { ...(Array.isArray(said) ? { list: said as Args[] } : (said as Args)), status: response.status, headers: response.headers };
}

/** Posts as the bot; gives the id. */
export async function post(twin: DiscordTwin, body: Args = {}, channel = OPS): Promise<string> {
  const answer = await call(twin, `POST /channels/${channel}/messages`, { content: "hello", ...body });
  if (answer.status !== 200) throw new Error(JSON.stringify(answer));
  return String(answer.id);
}

/** The app's first answer to an interaction. */
export function callback(twin: DiscordTwin, interaction: Args, body: Args, query = ""): Promise<Answer> {
  return call(twin, `POST /interactions/${String(interaction.id)}/${String(interaction.token)}/callback${query}`, body, null);
}

/** A thread of the bot's in #ops, at a person's message. */
export async function botThread(twin: DiscordTwin): Promise<string> {
  const { id } = await twin.say({ channel: OPS, user: ANA, text: "a task" });
  const answer = await call(twin, `POST /channels/${OPS}/messages/${id}/threads`, { name: "a task" });
  if (answer.status !== 201) throw new Error(JSON.stringify(answer));
  return id;
}

export const button = (extra: Args = {}): Args => ({ type: 2, style: 3, label: "Approve", custom_id: "v1:approve:1", ...extra });
export const row = (...components: Args[]): Args => ({ type: 1, components });
export const card = [row(button(), button({ label: "Deny", custom_id: "v1:deny:1", style: 4 }))];

export interface Frame {
  op: number;
  t?: string;
  s?: number;
  d: Args;
}

export interface PlainSocket {
  frames: Frame[];
  /** Resolves with the close code. */
  closed: Promise<number>;
  send: (frame: unknown) => void;
  cut: () => void;
  close: (code: number) => void;
}

/** A gateway connection without the SDK; resolves at HELLO. */
export async function openSocket(twin: DiscordTwin, query = "v=10&encoding=json"): Promise<PlainSocket> {
  const socket = new WebSocket(`${twin.url.replace("http:", "ws:")}/gateway?${query}`);
  atEnd(() => socket.terminate());
  const frames: Frame[] = [];
  const closed = new Promise<number>((resolve) => socket.once("close", resolve));
  await new Promise<void>((resolve, reject) => {
    socket.once("error", reject);
    socket.on("message", (data) => {
      frames.push(JSON.parse(String(data)) as Frame);
      resolve();
    });
    void closed.then(() => resolve());
  });
  return {
    frames,
    closed,
    send: (frame) => socket.send(typeof frame === "string" ? frame : JSON.stringify(frame)),
    cut: () => socket.terminate(),
    close: (code) => socket.close(code),
  };
}

export const GUILDS = 1;
export const GUILD_MESSAGES = 1 << 9;
export const DIRECT_MESSAGES = 1 << 12;
export const MESSAGE_CONTENT = 1 << 15;

export function identify(twin: DiscordTwin, extra: Args = {}): Args {
  const intents = GUILDS | GUILD_MESSAGES | DIRECT_MESSAGES | MESSAGE_CONTENT;
  return { op: 2, d: { token: twin.token, intents, properties: { os: "linux", browser: "x", device: "x" }, ...extra } };
}

/** A connection with a session; resolves when it has come up. */
export async function openSession(twin: DiscordTwin, extra: Args = {}): Promise<PlainSocket> {
  const socket = await openSocket(twin);
  socket.send(identify(twin, extra));
  await twin.waitFor(() => socket.frames.some(({ t }) => t === "READY"));
  return socket;
}

export function heard(socket: PlainSocket, t: string): Args[] {
  return socket.frames.filter((frame) => frame.t === t).map(({ d }) => d);
}

/** discord.js as it comes, logged in and ready; destroyed after the test. */
export async function login(twin: DiscordTwin, options: Partial<ClientOptions> = {}): Promise<Client<true>> {
  const client = makeClient(twin, options);
  const ready = new Promise<Client<true>>((resolve) => client.once(Events.ClientReady, resolve));
  await client.login(twin.token);
  return ready;
}

export function makeClient(twin: DiscordTwin, options: Partial<ClientOptions> = {}): Client {
  const intents = GUILDS | GUILD_MESSAGES | DIRECT_MESSAGES | MESSAGE_CONTENT;
  const rest = { api: twin.apiUrl, cdn: twin.cdnUrl, ...options.rest };
  const client = new Client({ intents, partials: [Partials.Channel], ...options, rest });
  atEnd(() => client.destroy());
  return client;
}
