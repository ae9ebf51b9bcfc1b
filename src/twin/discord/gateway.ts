import { randomUUID } from "node:crypto";
import type { IncomingMessage } from "node:http";
import type { Duplex } from "node:stream";
import type { RawData } from "ws";
import { WebSocket, WebSocketServer } from "ws";
import { INTENTS } from "./messages.ts";
import type { Json } from "./refusal.ts";
import { shownGuild, shownUser } from "./shown.ts";
import type { Dispatch, World } from "./state.ts";
import { DM } from "./state.ts";

const PAYLOAD_MAX = 4096;
const SENDS_PER_MINUTE = 120;
/** How long a session without a socket can be resumed, by the twin's clock: "a few minutes". */
const SESSION_MS = 3 * 60_000;
const ALL_INTENTS = (1 << 26) - 1;

interface Session {
  id: string;
  intents: number;
  shard: [number, number];
  seq: number;
  sent: { seq: number; text: string }[];
  socket: WebSocket | undefined;
  leftAt: number;
}

/** One line of the log of events. `sessions`: how many had a live socket for it; the others get it when they resume. */
export interface Delivery {
  t: string;
  /** The message, channel or interaction that it is about. */
  id: string;
  at: number;
  sessions: number;
}

export interface GatewayRules {
  token: () => string;
  /** The privileged intents that the application was given, as bits. */
  privileged: number;
  heartbeatMs: number;
  url: string;
  flags: number;
}

/** The Gateway: HELLO, IDENTIFY, RESUME, heartbeats, sequence numbers, intents. */
export class Gateway {
  readonly deliveries: Delivery[] = [];
  identifies = 0;
  /** No heartbeat is answered while this is set. */
  deaf = false;
  readonly #world: World;
  readonly #rules: GatewayRules;
  readonly #server = new WebSocketServer({ noServer: true });
  readonly #sockets = new Map<WebSocket, { session: Session | undefined; sends: number[] }>();
  readonly #sessions = new Map<string, Session>();

  constructor(world: World, rules: GatewayRules) {
    this.#world = world;
    this.#rules = rules;
  }

  upgrade(request: IncomingMessage, stream: Duplex, head: Buffer): void {
    const { pathname, searchParams } = new URL(request.url ?? "/", "http://twin");
    if (!pathname.startsWith("/gateway")) {
      stream.end("HTTP/1.1 404 Not Found\r\nConnection: close\r\nContent-Length: 0\r\n\r\n");
      return;
    }
    this.#server.handleUpgrade(request, stream, head, (socket) => {
      socket.on("error", () => socket.terminate());
      if (searchParams.get("v") !== "10") return socket.close(4012, "Invalid API version.");
      if (searchParams.get("encoding") !== "json" || searchParams.has("compress")) return socket.close(4002, "The twin speaks plain JSON.");
      return this.#accept(socket);
    });
  }

  #accept(socket: WebSocket): void {
    this.#sockets.set(socket, { session: undefined, sends: [] });
    socket.on("message", (data) => this.#hear(socket, data));
    socket.on("close", (code) => {
      const session = this.#sockets.get(socket)?.session;
      this.#sockets.delete(socket);
      if (session?.socket === socket) {
        session.socket = undefined;
        session.leftAt = this.#world.now();
        // Whoever leaves with 1000 or 1001 gives its session up.
        if (code === 1000 || code === 1001) this.#sessions.delete(session.id);
      }
      this.#world.changed();
    });
    send(socket, { op: 10, d: { heartbeat_interval: this.#rules.heartbeatMs, _trace: [] } });
    this.#world.changed();
  }

  #hear(socket: WebSocket, data: RawData): void {
    const state = this.#sockets.get(socket);
    if (!state || socket.readyState !== WebSocket.OPEN) return;
    const text = String(data);
    if (Buffer.byteLength(text) > PAYLOAD_MAX) return socket.close(4002, "Payload too large.");
    state.sends = [...state.sends.filter((at) => at > Date.now() - 60_000), Date.now()];
    if (state.sends.length > SENDS_PER_MINUTE) return socket.close(4008, "You are being rate limited.");
    let said: { op?: unknown; d?: unknown };
    try {
      said = JSON.parse(text) as typeof said;
    } catch {
      return socket.close(4002, "Error while decoding payload.");
    }
    const d = (typeof said.d === "object" && said.d !== null ? said.d : {}) as Json;
    if (said.op === 1) {
      if (!this.deaf) send(socket, { op: 11 });
      return undefined;
    }
    if (said.op === 2) return state.session ? socket.close(4005, "Already authenticated.") : this.#identify(socket, d);
    if (said.op === 6) return state.session ? socket.close(4005, "Already authenticated.") : this.#resume(socket, d);
    if (!state.session) return socket.close(4003, "Not authenticated.");
    if (said.op === 3 || said.op === 4 || said.op === 8) return undefined;
    return socket.close(4001, "Unknown opcode.");
  }

  #identify(socket: WebSocket, d: Json): void {
    const { token, intents, shard = [0, 1] } = d;
    if (token !== this.#rules.token()) return socket.close(4004, "Authentication failed.");
    if (typeof intents !== "number" || intents < 0 || (intents & ~ALL_INTENTS) !== 0) return socket.close(4013, "Invalid intent(s).");
    const privileged = INTENTS.GuildMembers | INTENTS.GuildPresences | INTENTS.MessageContent;
    if ((intents & privileged & ~this.#rules.privileged) !== 0) return socket.close(4014, "Disallowed intent(s).");
    const [index, count] = Array.isArray(shard) ? (shard as unknown[]) : [];
    if (!Number.isInteger(index) || !Number.isInteger(count) || Number(index) < 0 || Number(index) >= Number(count))
      return socket.close(4010, "Invalid shard.");
    if (!isProperties(d.properties)) return socket.close(4002, "Error while decoding payload.");
    const session: Session = {
      id: randomUUID().replaceAll("-", ""),
      intents,
      shard: [Number(index), Number(count)],
      seq: 0,
      sent: [],
      socket: undefined,
      leftAt: 0,
    };
    this.identifies += 1;
    this.#sessions.set(session.id, session);
    this.#attach(socket, session);
    this.#push(session, "READY", this.#ready(session));
    if ((session.intents & INTENTS.Guilds) !== 0 && this.#ownsGuild(session)) this.#push(session, "GUILD_CREATE", shownGuild(this.#world));
    return this.#world.changed();
  }

  #ready(session: Session): Json {
    return {
      v: 10,
      user: { ...shownUser(this.#world, this.#world.botUserId), verified: true, mfa_enabled: false, email: null, flags: 0 },
      guilds: this.#ownsGuild(session) ? [{ id: this.#world.guildId, unavailable: true }] : [],
      session_id: session.id,
      session_type: "normal",
      resume_gateway_url: this.#rules.url,
      shard: session.shard,
      application: { id: this.#world.applicationId, flags: this.#rules.flags },
      private_channels: [],
      presences: [],
      relationships: [],
      user_settings: {},
    };
  }

  #attach(socket: WebSocket, session: Session): void {
    const state = this.#sockets.get(socket);
    if (state) state.session = session;
    session.socket = socket;
  }

  #resume(socket: WebSocket, d: Json): void {
    if (d.token !== this.#rules.token()) return socket.close(4004, "Authentication failed.");
    const session = this.#sessions.get(String(d.session_id));
    const gone = !session || (session.socket === undefined && this.#world.now() - session.leftAt > SESSION_MS);
    if (gone) return send(socket, { op: 9, d: false });
    if (typeof d.seq !== "number" || d.seq > session.seq) return socket.close(4007, "Invalid seq.");
    if (session.socket && session.socket !== socket) session.socket.close(4000, "Resumed elsewhere.");
    this.#attach(socket, session);
    for (const { seq, text } of session.sent) if (seq > d.seq) socket.send(text);
    this.#push(session, "RESUMED", { _trace: [] });
    return this.#world.changed();
  }

  #push(session: Session, t: string, d: Json): boolean {
    session.seq += 1;
    const text = JSON.stringify({ op: 0, t, s: session.seq, d });
    session.sent.push({ seq: session.seq, text });
    if (session.socket?.readyState !== WebSocket.OPEN) return false;
    session.socket.send(text);
    return true;
  }

  /** The shard that a guild belongs to; direct messages are the first one's. */
  #ownsGuild({ shard: [index, count] }: Session): boolean {
    return (BigInt(this.#world.guildId) >> 22n) % BigInt(count) === BigInt(index);
  }

  /** Sends an event to every session whose intents and permissions let it through. Gives the number of live ones. */
  dispatch({ t, intent, channel, body }: Dispatch): number {
    if (channel && !this.#world.sees(channel)) return 0;
    let sessions = 0;
    for (const session of this.#sessions.values()) {
      if (intent !== 0 && (session.intents & intent) === 0) continue;
      if (channel?.type === DM ? session.shard[0] !== 0 : !this.#ownsGuild(session)) continue;
      if (this.#push(session, t, body((session.intents & INTENTS.MessageContent) !== 0))) sessions += 1;
    }
    this.deliveries.push({ t, id: String(body(false).id), at: this.#world.now(), sessions });
    return sessions;
  }

  /** Sockets with a session. */
  connected(): number {
    return [...this.#sockets.values()].filter(({ session }) => session).length;
  }

  /** Sessions that are connected or can still be resumed. */
  sessions(): { id: string; intents: number; connected: boolean }[] {
    return [...this.#sessions.values()].map(({ id, intents, socket }) => ({ id, intents, connected: socket !== undefined }));
  }

  drop(): void {
    for (const socket of this.#sockets.keys()) socket.terminate();
  }

  /** Op 7: "reconnect and resume at once". */
  reconnect(): void {
    for (const socket of this.#sockets.keys()) send(socket, { op: 7, d: null });
  }

  /** Op 9: the connections are without a session, which can be resumed (over the same connection too) or is gone. */
  invalidate(resumable: boolean): void {
    for (const [socket, state] of this.#sockets) {
      if (!state.session) continue;
      state.session.socket = undefined;
      state.session.leftAt = this.#world.now();
      state.session = undefined;
      send(socket, { op: 9, d: resumable });
    }
    if (!resumable) this.#sessions.clear();
  }

  closeWith(code: number, reason = ""): void {
    for (const socket of this.#sockets.keys()) socket.close(code, reason);
  }

  close(): void {
    this.drop();
    this.#server.close();
  }
}

function isProperties(value: unknown): boolean {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

function send(socket: WebSocket, body: Json): void {
  if (socket.readyState === WebSocket.OPEN) socket.send(JSON.stringify(body));
}
