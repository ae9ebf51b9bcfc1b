import { afterEach } from "vitest";
import { WebSocket } from "ws";
import type { SlackTwin, SlackTwinOptions } from "../../../src/twin/slack/twin.ts";
import { startSlackTwin } from "../../../src/twin/slack/twin.ts";

/** A twin with three people and a few channels, plain HTTP to it, and a plain socket; all ended after the test. */

export type Args = Record<string, unknown>;
export interface Answer extends Args {
  ok: boolean;
  error?: string;
  response_metadata?: { messages?: string[]; next_cursor?: string; warnings?: string[] };
}

const ends: (() => unknown)[] = [];
afterEach(async () => {
  for (const end of ends.splice(0).reverse()) await end();
});

export function atEnd(end: () => unknown): void {
  ends.push(end);
}

export async function startTwin(options: SlackTwinOptions = {}): Promise<SlackTwin> {
  const twin = await startSlackTwin(options);
  atEnd(() => twin.close());
  twin.addUser({ id: "U1", name: "ana" });
  twin.addUser({ id: "U2", name: "guest", restricted: true });
  twin.addUser({ id: "U3", name: "visitor", stranger: true, teamId: "T9" });
  twin.addChannel({ id: "C1", name: "ops" });
  twin.addChannel({ id: "C2", name: "elsewhere", botIsMember: false });
  twin.addChannel({ id: "G1", name: "secret" });
  return twin;
}

/** One raw call with a JSON body; the bot's token unless another is given, none with `null`. */
export async function call(twin: SlackTwin, method: string, args: Args = {}, token: string | null = twin.botToken): Promise<Answer> {
  return (await rawCall(twin, method, args, token)).json() as Promise<Answer>;
}

export function rawCall(twin: SlackTwin, method: string, args: Args = {}, token: string | null = twin.botToken): Promise<Response> {
  const headers: Record<string, string> = { "content-type": "application/json" };
  if (token !== null) headers.authorization = `Bearer ${token}`;
  return fetch(`${twin.apiUrl}${method}`, { method: "POST", headers, body: JSON.stringify(args) });
}

export async function post(twin: SlackTwin, args: Args = {}): Promise<string> {
  const answer = await call(twin, "chat.postMessage", { channel: "C1", text: "hello", ...args });
  if (!answer.ok) throw new Error(JSON.stringify(answer));
  return answer.ts as string;
}

export interface Envelope extends Args {
  type: string;
  envelope_id?: string;
  reason?: string;
  retry_attempt?: number;
  retry_reason?: string;
  accepts_response_payload?: boolean;
  payload: Args & { event_id?: string; type?: string; event?: Args };
}

export interface PlainSocket {
  heard: Envelope[];
  /** Resolves when the twin or the test ends the connection. */
  closed: Promise<void>;
  ack: (envelope: Envelope, payload?: Args) => void;
  close: () => void;
}

/** A socket without the SDK; `onEnvelope` may acknowledge. Resolves at the first thing that is said. */
export async function openSocket(
  twin: SlackTwin,
  onEnvelope: (envelope: Envelope, socket: PlainSocket) => void = () => undefined,
): Promise<PlainSocket> {
  const { url } = await call(twin, "apps.connections.open", {}, twin.appToken);
  const socket = new WebSocket(url as string);
  atEnd(() => socket.terminate());
  const heard: Envelope[] = [];
  const closed = new Promise<void>((resolve) => socket.once("close", () => resolve()));
  const plain: PlainSocket = {
    heard,
    closed,
    ack: (envelope, payload = {}) => socket.send(JSON.stringify({ envelope_id: envelope.envelope_id, payload })),
    close: () => socket.close(),
  };
  await new Promise<void>((resolve, reject) => {
    socket.once("error", reject);
    socket.on("message", (data) => {
      const envelope = JSON.parse(String(data)) as Envelope;
      heard.push(envelope);
      if (envelope.envelope_id !== undefined) onEnvelope(envelope, plain);
      resolve();
    });
  });
  return plain;
}

export function envelopes(socket: PlainSocket): Envelope[] {
  return socket.heard.filter((each) => each.envelope_id !== undefined);
}

export const approveButton = { type: "button", action_id: "approve", value: "a1", text: { type: "plain_text", text: "Approve" } };
export const approveCard = [{ type: "actions", block_id: "b1", elements: [approveButton] }];
