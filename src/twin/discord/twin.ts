import { randomBytes } from "node:crypto";
import type { IncomingMessage, Server, ServerResponse } from "node:http";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { handleControl } from "../control.ts";
import type { Faults } from "../faults.ts";
import { controlActs } from "./control.ts";
import type { Fault } from "./faults.ts";
import { discordFaults } from "./faults.ts";
import { Gateway } from "./gateway.ts";
import { Interactions } from "./interact.ts";
import { Limits } from "./limits.ts";
import { archiveQuiet, dumpThreads, INTENTS } from "./messages.ts";
import { People } from "./people.ts";
import { USUAL } from "./permissions.ts";
import { Rest } from "./rest.ts";
import { isThread, World } from "./state.ts";
import type { DiscordTwin, DiscordTwinOptions, PrivilegedIntent } from "./surface.ts";

export type { DiscordTwin, DiscordTwinOptions } from "./surface.ts";
export type { TwinMessage } from "./state.ts";

/** The application's flags for an unverified bot: "limited" forms of the three privileged intents. */
const FLAGS = { GuildPresences: 1 << 13, GuildMembers: 1 << 15, MessageContent: 1 << 19 };
const ALL: PrivilegedIntent[] = ["GuildMembers", "GuildPresences", "MessageContent"];

/**
 * Starts a loopback Discord (REST v10, Gateway, CDN) that the unmodified discord.js talks to through `rest.api`. It is
 * written from Discord's documentation and from reports of what Discord did; where those leave a limit open it takes the
 * stricter reading.
 */
export async function startDiscordTwin(options: DiscordTwinOptions = {}): Promise<DiscordTwin> {
  const server = createServer();
  await new Promise<void>((resolve, reject) => {
    server.once("error", reject);
    server.listen(options.port ?? 0, "127.0.0.1", resolve);
  });
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const parts = build(server, url, options);
  const twin = assemble(parts);
  const acts = controlActs(twin);
  server.on("upgrade", (request, stream, head) => parts.gateway.upgrade(request, stream, head));
  server.on("request", (request, response) => {
    const { pathname, searchParams } = new URL(request.url ?? "/", url);
    const act = request.method === "POST" ? /^\/control\/(\w+)$/.exec(pathname)?.[1] : undefined;
    const answered =
      act === undefined
        ? route(parts, pathname, searchParams, request, response)
        : wholeBody(request).then((body) => handleControl(acts, twin.controlToken, act, request, body, response));
    answered.catch((error: unknown) => response.writeHead(500).end(String(error)));
  });
  return twin;
}

interface Parts {
  server: Server;
  url: string;
  controlToken: string;
  world: World;
  gateway: Gateway;
  interactions: Interactions;
  faults: Faults<Fault>;
  rest: Rest;
  secret: { token: string };
}

function build(server: Server, url: string, options: DiscordTwinOptions): Parts {
  const granted = options.intents ?? ALL;
  const flags = granted.reduce((sum, name) => sum | FLAGS[name], 0);
  const world = new World({
    permissions: options.permissions ?? USUAL,
    messageContent: granted.includes("MessageContent"),
    maxActiveThreads: options.maxActiveThreads ?? 1000,
    cdnUrl: `${url}/cdn`,
  });
  // A token looks like one: its first part is the bot's user id.
  const secret = { token: `${Buffer.from(world.botUserId).toString("base64url")}.twin.${randomBytes(20).toString("base64url")}` };
  const gateway = new Gateway(world, {
    token: () => secret.token,
    privileged: granted.reduce((sum, name) => sum | INTENTS[name], 0),
    heartbeatMs: options.heartbeatMs ?? 41_250,
    url: `${url.replace("http:", "ws:")}/gateway`,
    flags,
  });
  world.emit = (dispatch) => void gateway.dispatch(dispatch);
  const interactions = new Interactions(world, options.ackMs ?? 3_000, (body, channel) => {
    gateway.dispatch({ t: "INTERACTION_CREATE", intent: 0, channel, body: () => body });
    return gateway.sessions().length > 0;
  });
  const faults = discordFaults();
  const rest = new Rest(
    { world, gateway, interactions, limits: new Limits(), rated: options.limits ?? true, url, token: () => secret.token, flags },
    faults,
  );
  const controlToken = options.controlToken ?? randomBytes(16).toString("hex");
  return { server, url, controlToken, world, gateway, interactions, faults, rest, secret };
}

function assemble(parts: Parts): DiscordTwin {
  const { server, url, controlToken, world, gateway, interactions, faults, rest, secret } = parts;
  const people = new People(world);
  return {
    apiUrl: `${url}/api`,
    cdnUrl: world.cdnUrl,
    url,
    controlToken,
    token: secret.token,
    guildId: world.guildId,
    botUserId: world.botUserId,
    botRoleId: world.botRoleId,
    applicationId: world.applicationId,
    ...acting(people, interactions),
    ...looking(world, gateway, rest),
    modals: () => Object.fromEntries([...interactions.modals].map(([id, { body }]) => [id, structuredClone(body)])),
    advance: (ms) => {
      world.moveClock(ms);
      archiveQuiet(world);
    },
    drop: () => gateway.drop(),
    reconnect: () => gateway.reconnect(),
    invalidateSession: (resumable) => gateway.invalidate(resumable),
    closeWith: (code, reason) => gateway.closeWith(code, reason),
    muteHeartbeats: (muted) => {
      gateway.deaf = muted;
    },
    revokeToken: () => {
      secret.token = randomBytes(20).toString("base64url");
      gateway.closeWith(4004, "Authentication failed.");
    },
    fault: (fault) => faults.add(fault),
    waitFor: (probe, ms = 15_000) => world.changes.waitFor(probe, ms, () => dumpThreads(world)),
    close: async () => {
      gateway.close();
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

/** What people do. */
function acting(people: People, interactions: Interactions) {
  return {
    addUser: (user) => people.addUser(user),
    addRole: (role) => people.addRole(role),
    setRoles: (user, roles) => people.setRoles(user, roles),
    addChannel: (channel) => people.addChannel(channel),
    setLacks: (channel, lacks) => people.setLacks(channel, lacks),
    addThread: (thread) => people.addThread(thread),
    addToThread: (thread, user) => people.addToThread(thread, user),
    archiveThread: (id, archived) => people.archiveThread(id, archived),
    lockThread: (id, locked) => people.lockThread(id, locked),
    redeliver: (target) => people.redeliver(target),
    deleteChannel: (id) => people.deleteChannel(id),
    say: async (saying) => people.say(saying),
    editMessage: async (edit) => people.edit(edit),
    deleteMessage: async (target) => people.delete(target),
    press: async (press) => interactions.press(press),
    submitModal: async (submission) => interactions.submitModal(submission),
  } satisfies Partial<DiscordTwin>;
}

/** What a test looks at; copies. */
function looking(world: World, gateway: Gateway, rest: Rest) {
  return {
    thread: (id) => {
      const elsewhere = [...world.messages].filter(([channel]) => channel !== id).flatMap(([, list]) => list);
      const root = elsewhere.filter((message) => message.id === id);
      return structuredClone([...root, ...world.in(id).filter(({ type }) => type !== 21)]);
    },
    messages: (channel) => structuredClone(world.in(channel)),
    threads: (parent) =>
      [...world.channels.values()]
        .filter(isThread)
        .filter(({ thread }) => parent === undefined || thread.parentId === parent)
        .map(({ id, name, thread: { parentId, archived, locked } }) => ({ id, name, parent: parentId, archived, locked })),
    ephemerals: () =>
      world.ephemerals.map(({ user, message: { channel_id, id, content, components } }) =>
        structuredClone({ user, channel: channel_id, id, content, components }),
      ),
    reactions: () => [...world.reactions],
    typing: () => [...world.typing],
    file: (id) => world.files.get(id),
    sockets: () => gateway.connected(),
    sessions: () => gateway.sessions(),
    calls: (pattern = "*") => rest.callsOf(pattern),
    invalidRequests: () => rest.invalid,
    events: () => gateway.deliveries.map((delivery) => ({ ...delivery })),
  } satisfies Partial<DiscordTwin>;
}

async function wholeBody(request: IncomingMessage): Promise<Buffer> {
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(chunk as Buffer);
  return Buffer.concat(chunks);
}

async function route(
  parts: Parts,
  pathname: string,
  query: URLSearchParams,
  request: IncomingMessage,
  response: ServerResponse,
): Promise<void> {
  const body = await wholeBody(request);
  const api = /^\/api\/v10(\/.*)$/.exec(pathname)?.[1];
  if (api !== undefined) return parts.rest.handle(api, query, request, body, response);
  if (pathname.startsWith("/cdn/attachments/")) return download(parts, pathname, query, request, response);
  return void response.writeHead(404, { "content-type": "application/json" }).end('{"message":"404: Not Found","code":0}');
}

/** A file by its signed address; 404 without the signature, or a day later. */
async function download(
  { world, faults }: Parts,
  pathname: string,
  query: URLSearchParams,
  request: IncomingMessage,
  response: ServerResponse,
): Promise<void> {
  const met = await faults.meet(`GET ${pathname}`, request, Buffer.alloc(0), response);
  if (met === "answered") return;
  const id = pathname.split("/")[4] ?? "";
  const file = world.files.get(id);
  const until = Number.parseInt(query.get("ex") ?? "", 16) * 1000;
  const good = file && query.get("hm") === id && until > world.now();
  if (met === "reset") request.socket.destroy();
  else if (!good) response.writeHead(404, { "content-type": "text/plain" }).end("This content is no longer available.");
  else response.writeHead(200, { "content-type": "application/octet-stream" }).end(file.content);
}
