import type { IncomingMessage, ServerResponse } from "node:http";
import { chatMethods } from "./chat.ts";
import { conversationMethods } from "./conversations.ts";
import type { Faults } from "../faults.ts";
import type { Fault } from "./faults.ts";
import { fileMethods } from "./files.ts";
import { viewMethods } from "./interact.ts";
import { Limits } from "./limits.ts";
import type { Call, Method } from "./method.ts";
import type { Json } from "./state.ts";
import { Refusal } from "./state.ts";

/** One call of a Web API method, as the twin saw it. */
export interface ApiCall {
  method: string;
  args: Json;
  at: number;
  status: number;
  error?: string;
}

export interface Tokens {
  bot: string;
  app: string;
}

const METHODS: Record<string, Method> = {
  ...chatMethods,
  ...conversationMethods,
  ...fileMethods,
  ...viewMethods,
  "auth.test": { tier: "none", run: authTest },
  "apps.connections.open": { tier: 50, appToken: true, run: openConnection },
};

function authTest({ world, url }: Call): Json {
  return {
    url: `${url}/`,
    team: "twin",
    user: "deckhand",
    team_id: world.teamId,
    user_id: world.botUserId,
    bot_id: world.botId,
    is_enterprise_install: false,
  };
}

function openConnection({ hub, world, url }: Call): Json {
  return { url: `${url.replace("http:", "ws:")}/link/?ticket=${hub.ticket()}&app_id=${world.appId}` };
}

/** `/api/<method>`: tokens, scopes, limits and faults around the methods. */
export class WebApi {
  readonly calls: ApiCall[] = [];
  readonly #context: Omit<Call, "args">;
  readonly #tokens: Tokens;
  readonly #faults: Faults<Fault>;
  readonly #limits: Limits | null;

  constructor(context: Omit<Call, "args">, tokens: Tokens, faults: Faults<Fault>, limits: boolean) {
    this.#context = context;
    this.#tokens = tokens;
    this.#faults = faults;
    this.#limits = limits ? new Limits() : null;
  }

  async handle(name: string, request: IncomingMessage, body: Buffer, response: ServerResponse): Promise<void> {
    const record: ApiCall = { method: name, args: {}, at: Date.now(), status: 200 };
    this.calls.push(record);
    response.setHeader("x-oauth-scopes", [...this.#context.world.scopes].join(","));
    const fault = await this.#faults.meet(name, request, body, response);
    if (fault === "answered") {
      record.status = response.statusCode;
      record.error = "fault";
    } else {
      const answer = this.#answer(name, request, body, record);
      if (typeof answer.error === "string") record.error = answer.error;
      record.status = answer.error === "ratelimited" ? 429 : 200;
      if (fault === "reset") request.socket.destroy();
      else send(response, record.status, answer);
    }
    this.#context.world.changed();
  }

  #answer(name: string, request: IncomingMessage, body: Buffer, record: ApiCall): Json {
    try {
      record.args = parseArgs(request, body);
      const method = Object.hasOwn(METHODS, name) ? METHODS[name] : undefined;
      if (!method) throw new Refusal("unknown_method", { req_method: name });
      this.#authorise(method, request, record.args);
      const channel = String(record.args.channel ?? "");
      const wait = this.#limits?.take(name, method.tier, channel) ?? 0;
      if (wait > 0) throw new Refusal("ratelimited", { retryAfter: wait });
      return { ok: true, ...method.run({ ...this.#context, args: record.args }) };
    } catch (thrown) {
      if (thrown instanceof Refusal) return { ok: false, error: thrown.code, ...thrown.extra };
      throw thrown;
    }
  }

  #authorise(method: Method, request: IncomingMessage, args: Json): void {
    const header = /^Bearer (\S+)$/.exec(request.headers.authorization ?? "")?.[1];
    const token = header ?? (method.appToken ? undefined : args.token);
    if (token === undefined) throw new Refusal("not_authed");
    if (token !== this.#tokens.bot && token !== this.#tokens.app) throw new Refusal("invalid_auth");
    if (this.#context.world.revoked) throw new Refusal("token_revoked");
    if ((token === this.#tokens.app) !== (method.appToken === true)) throw new Refusal("not_allowed_token_type");
    const { scope = [] } = method;
    const { scopes } = this.#context.world;
    const missing = (typeof scope === "function" ? scope(args) : [scope].flat()).filter((each) => !scopes.has(each));
    if (missing.length > 0) throw new Refusal("missing_scope", { needed: missing.join(","), provided: [...scopes].join(",") });
  }
}

/** Arguments from the query, a form (nested values are JSON text) or a JSON body. */
function parseArgs(request: IncomingMessage, body: Buffer): Json {
  const type = request.headers["content-type"] ?? "";
  const args: Json = Object.fromEntries(new URL(request.url ?? "/", "http://twin").searchParams);
  if (type.startsWith("application/json")) {
    try {
      Object.assign(args, JSON.parse(body.toString("utf8") || "{}"));
    } catch {
      throw new Refusal("invalid_json");
    }
    return args;
  }
  if (body.length > 0 && !type.startsWith("application/x-www-form-urlencoded")) throw new Refusal("invalid_post_type");
  Object.assign(args, Object.fromEntries(new URLSearchParams(body.toString("utf8"))));
  for (const name of ["blocks", "attachments", "metadata", "view", "files"]) {
    const value = args[name];
    if (typeof value !== "string" || value === "") continue;
    try {
      args[name] = JSON.parse(value);
    } catch {
      // Left as text: the method refuses it under its own name (invalid_blocks_format and so on).
    }
  }
  return args;
}

/** Answers with JSON; a rate limit goes into its header. */
export function send(response: ServerResponse, status: number, body: unknown): void {
  if (response.destroyed) return;
  const { retryAfter, ...rest } = body as Json;
  if (typeof retryAfter === "number") response.setHeader("retry-after", String(retryAfter));
  response.writeHead(status, { "content-type": "application/json; charset=utf-8" });
  response.end(JSON.stringify(Array.isArray(body) ? body : rest));
}
