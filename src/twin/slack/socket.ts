import { randomUUID } from "node:crypto";
import type { IncomingMessage } from "node:http";
import type { Duplex } from "node:stream";
import { WebSocket, WebSocketServer } from "ws";
import type { Json, World } from "./state.ts";

const MAX_SOCKETS = 10;
const TICKET_MS = 30_000;
const PING_MS = 5_000;
/** How long a socket that was told to go may take to go by itself. */
const LEAVE_MS = 500;

export interface Outcome {
  acked: boolean;
  /** What the app sent along with its acknowledgement. */
  response: Json;
  /** Why it was not acknowledged, in Slack's words for `retry_reason`. */
  reason: "" | "timeout" | "connection_failed";
}

/** One line of the delivery log. */
export interface Delivery {
  event_id: string;
  type: string;
  subtype?: string | undefined;
  acked: boolean;
  attempts: number;
  /** True when Slack has given up for ever. */
  lost: boolean;
}

interface Envelope {
  type: "events_api" | "interactive";
  payload: Json;
  accepts_response_payload: boolean;
  retry_attempt?: number;
  retry_reason?: string;
}

/** Socket Mode: tickets, sockets, envelopes, acknowledgements, redelivery. */
export class Hub {
  readonly deliveries: Delivery[] = [];
  readonly #payloads = new Map<string, Json>();
  readonly #world: World;
  readonly #retryDelaysMs: number[];
  readonly #ackTimeoutMs: number;
  readonly #server = new WebSocketServer({ noServer: true });
  readonly #tickets = new Map<string, number>();
  readonly #sockets: WebSocket[] = [];
  readonly #leaving = new Set<WebSocket>();
  readonly #waiting = new Map<string, { socket: WebSocket; end: (outcome: Outcome) => void }>();
  readonly #timers = new Set<NodeJS.Timeout>();
  #turn = 0;
  #closed = false;

  constructor(world: World, retryDelaysMs: number[], ackTimeoutMs: number) {
    this.#world = world;
    this.#retryDelaysMs = retryDelaysMs;
    this.#ackTimeoutMs = ackTimeoutMs;
  }

  /** A ticket for one connection, good for half a minute. */
  ticket(): string {
    const ticket = randomUUID();
    this.#tickets.set(ticket, Date.now() + TICKET_MS);
    return ticket;
  }

  upgrade(request: IncomingMessage, stream: Duplex, head: Buffer): void {
    const ticket = new URL(request.url ?? "/", "http://twin").searchParams.get("ticket") ?? "";
    const until = this.#tickets.get(ticket) ?? 0;
    this.#tickets.delete(ticket);
    if (until < Date.now()) {
      stream.end("HTTP/1.1 401 Unauthorized\r\nConnection: close\r\nContent-Length: 0\r\n\r\n");
      return;
    }
    this.#server.handleUpgrade(request, stream, head, (socket) => this.#accept(socket));
  }

  #accept(socket: WebSocket): void {
    socket.on("error", () => socket.terminate());
    if (this.#sockets.length >= MAX_SOCKETS) {
      this.#sendDisconnect(socket, "too_many_websockets");
      return;
    }
    this.#sockets.push(socket);
    const ping = setInterval(() => socket.ping(), PING_MS);
    socket.on("message", (data) => this.#hear(String(data)));
    socket.on("close", () => {
      clearInterval(ping);
      this.#forget(socket);
    });
    const debug_info = { host: "twin", build_number: 1, approximate_connection_time: 18_060 };
    const connection_info = { app_id: this.#world.appId };
    socket.send(JSON.stringify({ type: "hello", num_connections: this.#sockets.length, debug_info, connection_info }));
    this.#world.changed();
  }

  #forget(socket: WebSocket): void {
    const index = this.#sockets.indexOf(socket);
    if (index >= 0) this.#sockets.splice(index, 1);
    this.#leaving.delete(socket);
    for (const waiting of [...this.#waiting.values()]) {
      if (waiting.socket === socket) waiting.end({ acked: false, response: {}, reason: "connection_failed" });
    }
    this.#world.changed();
  }

  #hear(text: string): void {
    let said: { envelope_id?: string; payload?: Json };
    try {
      said = JSON.parse(text) as typeof said;
    } catch {
      // Slack ignores what is no JSON; the envelope then counts as not acknowledged.
      return;
    }
    this.#waiting.get(said.envelope_id ?? "")?.end({ acked: true, response: said.payload ?? {}, reason: "" });
  }

  /** Sends over the next socket in turn, at once; resolves at the acknowledgement, the timeout or the socket's end. */
  #attempt(envelope: Envelope): Promise<Outcome> {
    const open = this.#sockets.filter((socket) => socket.readyState === WebSocket.OPEN && !this.#leaving.has(socket));
    const socket = open[this.#turn++ % Math.max(open.length, 1)];
    if (!socket) return Promise.resolve({ acked: false, response: {}, reason: "connection_failed" });
    const id = randomUUID();
    return new Promise((resolve) => {
      const timer = setTimeout(() => end({ acked: false, response: {}, reason: "timeout" }), this.#ackTimeoutMs);
      this.#timers.add(timer);
      const end = (outcome: Outcome): void => {
        clearTimeout(timer);
        this.#timers.delete(timer);
        this.#waiting.delete(id);
        resolve(outcome);
      };
      this.#waiting.set(id, { socket, end });
      socket.send(JSON.stringify({ envelope_id: id, ...envelope }));
    });
  }

  /** An event: tried again by the schedule until it is acknowledged, then lost for ever. */
  sendEvent(event: Json): string {
    const { teamId, appId, botUserId } = this.#world;
    const event_id = this.#world.id("Ev");
    const channel = typeof event.channel === "string" ? this.#world.channels.get(event.channel) : undefined;
    const payload: Json = {
      token: "verification",
      team_id: teamId,
      context_team_id: teamId,
      context_enterprise_id: null,
      api_app_id: appId,
      event,
      type: "event_callback",
      event_id,
      event_time: Math.floor(Date.now() / 1000),
      authorizations: [{ enterprise_id: null, team_id: teamId, user_id: botUserId, is_bot: true, is_enterprise_install: false }],
      is_ext_shared_channel: channel?.shared ?? false,
      event_context: `EC-${event_id}`,
    };
    // The snapshot keeps later edits of the stored message out of redeliveries.
    this.#payloads.set(event_id, structuredClone(payload));
    this.redeliver(event_id);
    return event_id;
  }

  /** Delivers an event again, under the same event id. Throws when there is none. */
  redeliver(eventId: string): void {
    const payload = this.#payloads.get(eventId);
    if (!payload) throw new Error(`no event ${eventId}`);
    const event = payload.event as { type: string; subtype?: string };
    const delivery: Delivery = { event_id: eventId, type: event.type, subtype: event.subtype, acked: false, attempts: 0, lost: false };
    this.deliveries.push(delivery);
    void this.#deliver(delivery, payload);
  }

  /** Sends a payload as it is, once, with no inner event (`app_rate_limited`). */
  sendBare(payload: Json): Promise<Outcome> {
    return this.#attempt({ type: "events_api", payload, accepts_response_payload: false });
  }

  async #deliver(delivery: Delivery, payload: Json): Promise<void> {
    let reason = "";
    for (let attempt = 0; attempt <= this.#retryDelaysMs.length && !this.#closed; attempt++) {
      if (attempt > 0) await this.#pause(this.#retryDelaysMs[attempt - 1] as number);
      delivery.attempts += 1;
      const outcome = await this.#attempt({
        type: "events_api",
        payload,
        accepts_response_payload: false,
        retry_attempt: attempt,
        retry_reason: reason,
      });
      reason = outcome.reason;
      delivery.acked = outcome.acked;
      this.#world.changed();
      if (outcome.acked) return;
    }
    delivery.lost = true;
    this.#world.changed();
  }

  #pause(ms: number): Promise<void> {
    return new Promise((resolve) => {
      const timer = setTimeout(() => {
        this.#timers.delete(timer);
        resolve();
      }, ms);
      this.#timers.add(timer);
    });
  }

  /** A press or a modal: sent once; without a socket it is lost, as with Slack. */
  sendInteractive(payload: Json, acceptsResponse: boolean): Promise<Outcome> {
    return this.#attempt({ type: "interactive", payload, accepts_response_payload: acceptsResponse });
  }

  count(): number {
    return this.#sockets.length;
  }

  /** Tells the oldest `count` sockets to go (all by default); they get nothing more. */
  disconnect(reason: string, count = this.#sockets.length): void {
    for (const socket of this.#sockets.filter((each) => !this.#leaving.has(each)).slice(0, count)) {
      this.#leaving.add(socket);
      this.#sendDisconnect(socket, reason);
    }
  }

  #sendDisconnect(socket: WebSocket, reason: string): void {
    socket.send(JSON.stringify({ type: "disconnect", reason, debug_info: { host: "twin" } }));
    setTimeout(() => socket.close(), LEAVE_MS).unref();
  }

  /** Cuts the oldest `count` connections (all by default) without a word. */
  drop(count = this.#sockets.length): void {
    for (const socket of this.#sockets.slice(0, count)) socket.terminate();
  }

  close(): void {
    this.#closed = true;
    for (const timer of this.#timers) clearTimeout(timer);
    for (const socket of [...this.#sockets]) socket.terminate();
    this.#server.close();
  }
}
