import { randomBytes } from "node:crypto";
import type { IncomingMessage, Server, ServerResponse } from "node:http";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import type { Acts } from "../control.ts";
import { handleControl } from "../control.ts";
import type { Faults } from "../faults.ts";
import { controlActs } from "./control.ts";
import type { Fault } from "./faults.ts";
import { slackFaults } from "./faults.ts";
import { takeUpload } from "./files.ts";
import { Interactivity } from "./interact.ts";
import { dumpThreads } from "./messages.ts";
import { People } from "./people.ts";
import { Hub } from "./socket.ts";
import type { Json } from "./state.ts";
import { Refusal, World } from "./state.ts";
import type { SlackTwin, SlackTwinOptions } from "./surface.ts";
import type { Tokens } from "./web-api.ts";
import { send, WebApi } from "./web-api.ts";

export type { SlackTwin, SlackTwinOptions } from "./surface.ts";

const SCOPES = ["app_mentions:read", "chat:write", "files:read", "files:write", "reactions:write", "users:read"].concat(
  ["channels", "groups", "im", "mpim"].map((kind) => `${kind}:history`),
);
const RETRY_DELAYS = [0, 60_000, 300_000];

/**
 * Starts a loopback Slack that the unmodified SDK talks to through `slackApiUrl`. It is written from Slack's documentation
 * and from reports of what Slack did; where those leave a limit open it takes the stricter reading.
 */
export async function startSlackTwin(options: SlackTwinOptions = {}): Promise<SlackTwin> {
  const server = createServer();
  await new Promise<void>((resolve, reject) => {
    server.once("error", reject);
    server.listen(options.port ?? 0, "127.0.0.1", resolve);
  });
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const tokens = { bot: "xoxb-1-twin", app: "xapp-1-A1-twin" };
  const world = new World(options.appScopes ?? SCOPES);
  const hub = new Hub(world, options.retryDelaysMs ?? RETRY_DELAYS, options.ackTimeoutMs ?? 3_000);
  world.emit = (event) => void hub.sendEvent(event);
  const interactivity = new Interactivity(world, hub, url);
  const faults = slackFaults();
  const context = { world, hub, url, spendTrigger: (id: string) => interactivity.spend(id) };
  const api = new WebApi(context, tokens, faults, options.limits ?? true);
  const controlToken = options.controlToken ?? randomBytes(16).toString("hex");
  const parts = { server, url, tokens, world, hub, interactivity, faults, api, controlToken };
  const twin = assemble(parts);
  const acts = controlActs(twin);
  server.on("upgrade", (request, stream, head) => hub.upgrade(request, stream, head));
  server.on("request", (request, response) => {
    route(parts, acts, request, response).catch((error: unknown) =>
      send(response, 500, { ok: false, error: "fatal_error", detail: String(error) }),
    );
  });
  return twin;
}

interface Parts {
  server: Server;
  url: string;
  tokens: Tokens;
  world: World;
  hub: Hub;
  interactivity: Interactivity;
  faults: Faults<Fault>;
  api: WebApi;
  controlToken: string;
}

function assemble({ server, url, tokens, world, hub, interactivity, faults, api, controlToken }: Parts): SlackTwin {
  const people = new People(world, url);
  return {
    apiUrl: `${url}/api/`,
    url,
    controlToken,
    botToken: tokens.bot,
    appToken: tokens.app,
    teamId: world.teamId,
    botUserId: world.botUserId,
    botId: world.botId,
    appId: world.appId,
    addUser: (user) => people.addUser(user),
    addChannel: (channel) => people.addChannel(channel),
    say: async (saying) => people.say(saying),
    editMessage: async (edit) => people.edit(edit),
    deleteMessage: async (target) => people.delete(target),
    join: async (channel, user) => people.join(channel, user),
    botSay: async (saying) => people.botSay(saying),
    press: (press) => interactivity.press(press),
    views: () => structuredClone([...world.views.values()]),
    submitView: (submission) => interactivity.submit(submission),
    archive: (channel) => people.archive(channel),
    kickBot: (channel) => people.kickBot(channel),
    revokeTokens: () => people.revokeTokens(),
    thread: (channel, ts) => structuredClone(world.thread(channel, ts)),
    messages: (channel) => structuredClone(world.in(channel)),
    ephemerals: () => structuredClone(world.ephemerals),
    reactions: () => [...world.reactions],
    file: (id) => {
      const file = world.files.get(id);
      return file?.content ? { name: file.name, content: file.content } : undefined;
    },
    sockets: () => hub.count(),
    disconnect: (reason, count) => hub.disconnect(reason, count),
    dropSockets: (count) => hub.drop(count),
    redeliver: (eventId) => hub.redeliver(eventId),
    rateLimitEvents: () =>
      hub.sendBare({
        token: "verification",
        type: "app_rate_limited",
        team_id: world.teamId,
        minute_rate_limited: Math.floor(Date.now() / 60_000) * 60,
        api_app_id: world.appId,
      }),
    fault: (fault) => faults.add(fault),
    calls: (method) => api.calls.filter((call) => method === undefined || call.method === method),
    events: () => hub.deliveries.map((delivery) => ({ ...delivery })),
    waitFor: (probe, ms = 15_000) => world.changes.waitFor(probe, ms, () => dumpThreads(world)),
    close: async () => {
      hub.close();
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

async function route(parts: Parts, acts: Acts, request: IncomingMessage, response: ServerResponse): Promise<void> {
  const { api, faults, interactivity, world } = parts;
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(chunk as Buffer);
  const body = Buffer.concat(chunks);
  const [, place = "", name = "", third = ""] = new URL(request.url ?? "/", parts.url).pathname.split("/");
  if (place === "api") return api.handle(name, request, body, response);
  if (place === "control" && request.method === "POST") return handleControl(acts, parts.controlToken, name, request, body, response);
  const faultName = { upload: "upload", "files-pri": "download", response: "response" }[place];
  if (faultName === undefined) return send(response, 404, { ok: false, error: "not_found" });
  const met = await faults.meet(faultName, request, body, response);
  if (met === "answered") return undefined;
  if (place === "files-pri") return download(parts, name, request, response);
  if (place === "upload") {
    const [status, text] = await takeUpload(world, third, request.headers, body);
    if (met === "reset") request.socket.destroy();
    else response.writeHead(status, { "content-type": "text/plain" }).end(text);
    return undefined;
  }
  return respond(interactivity, name, body, response);
}

/** A response_url: 200 `ok`, or 404 with Slack's word. */
function respond(interactivity: Interactivity, id: string, body: Buffer, response: ServerResponse): void {
  try {
    interactivity.respond(id, JSON.parse(body.toString("utf8")) as Json);
    send(response, 200, { ok: true });
  } catch (thrown) {
    if (!(thrown instanceof Refusal)) throw thrown;
    send(response, 404, { ok: false, error: thrown.code, ...thrown.extra });
  }
}

/** Without the token or its scope Slack shows the sign-in page, with status 200. */
function download({ world, tokens }: Parts, id: string, request: IncomingMessage, response: ServerResponse): void {
  const file = world.files.get(id);
  const allowed = request.headers.authorization === `Bearer ${tokens.bot}` && world.scopes.has("files:read") && !world.revoked;
  if (!allowed)
    response.writeHead(200, { "content-type": "text/html; charset=utf-8" }).end("<!DOCTYPE html><html><title>Sign in</title></html>");
  else if (!file?.content) response.writeHead(404).end();
  else response.writeHead(200, { "content-type": file.mimetype }).end(file.content);
}
