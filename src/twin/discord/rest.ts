import type { IncomingMessage, ServerResponse } from "node:http";
import type { Faults } from "../faults.ts";
import { appRoutes } from "./app-routes.ts";
import { channelRoutes } from "./channel-routes.ts";
import { type Fault, routesOf } from "./faults.ts";
import { interactionRoutes } from "./interact-routes.ts";
import { limited, limitHeaders, RULES } from "./limits.ts";
import { messageRoutes } from "./message-routes.ts";
import { Refusal, refuseBare } from "./refusal.ts";
import type { Json } from "./refusal.ts";
import { readBody } from "./body.ts";
import type { Call, Context, Route } from "./route.ts";
import { threadRoutes } from "./thread-routes.ts";

/** One call as the twin saw it. `route` is `POST /channels/1/messages`; `code` Discord's error code, if it refused. */
export interface ApiCall {
  route: string;
  query: Record<string, string>;
  body: Json;
  /** Names of the files that came along. */
  files: string[];
  at: number;
  status: number;
  code?: number;
}

const ROUTES: Route[] = [...appRoutes, ...channelRoutes, ...messageRoutes, ...threadRoutes, ...interactionRoutes];

interface Found {
  route: Route;
  params: string[];
}

function find(method: string, path: string): Found | undefined {
  const parts = path.split("/").map(decodeURIComponent);
  for (const route of ROUTES) {
    const wanted = route.path.split("/");
    if (route.method !== method || wanted.length !== parts.length) continue;
    if (wanted.every((part, index) => part === ":" || part === parts[index]))
      return { route, params: parts.filter((_, index) => wanted[index] === ":") };
  }
  return undefined;
}

/** `/api/v10/…`: token, limits and faults around the routes. */
export class Rest {
  readonly calls: ApiCall[] = [];
  readonly #byRoute = new Map<string, { upTo: number; is: (route: string) => boolean; calls: ApiCall[] }>();
  /** 401, 403 and 429 answers; Discord bans an address at 10,000 in 10 minutes. */
  invalid = 0;
  readonly #context: Context;
  readonly #faults: Faults<Fault>;

  constructor(context: Context, faults: Faults<Fault>) {
    this.#context = context;
    this.#faults = faults;
  }

  /** Those of a route. Tests ask for them after each change, so each call is looked at once. */
  callsOf(pattern: string): ApiCall[] {
    const known = this.#byRoute.get(pattern) ?? { upTo: 0, is: routesOf(pattern), calls: [] };
    this.#byRoute.set(pattern, known);
    for (const call of this.calls.slice(known.upTo)) if (known.is(call.route)) known.calls.push(call);
    known.upTo = this.calls.length;
    return [...known.calls];
  }

  async handle(path: string, query: URLSearchParams, request: IncomingMessage, bytes: Buffer, response: ServerResponse): Promise<void> {
    const route = `${request.method ?? "GET"} ${decodeURIComponent(path)}`;
    const record: ApiCall = { route, query: Object.fromEntries(query), body: {}, files: [], at: this.#context.world.now(), status: 0 };
    this.calls.push(record);
    const met = await this.#faults.meet(route, request, bytes, response);
    if (met === "answered") record.status = response.headersSent ? response.statusCode : 0;
    else {
      const answer = await this.#answer(path, query, request, bytes, record);
      record.status = answer.status;
      if (met === "reset") request.socket.destroy();
      else reply(response, answer);
    }
    if ([401, 403, 429].includes(record.status)) this.invalid += 1;
    this.#context.world.changed();
  }

  async #answer(path: string, query: URLSearchParams, request: IncomingMessage, bytes: Buffer, record: ApiCall): Promise<Answer> {
    const headers: Record<string, string> = {};
    try {
      const found = find(request.method ?? "GET", path);
      if (!found) throw refuseBare(404, "Not Found");
      if (!found.route.open && request.headers.authorization !== `Bot ${this.#context.token()}`) throw refuseBare(401, "Unauthorized");
      this.#limit(found, headers);
      const { body, files } = await readBody(request.headers["content-type"] ?? "", bytes);
      Object.assign(record, { body, files: files.map(({ name }) => name) });
      const call: Call = { ...this.#context, params: found.params, query, body, files };
      return { status: found.route.status ?? 200, body: found.route.run(call), headers };
    } catch (thrown) {
      if (!(thrown instanceof Refusal)) throw thrown;
      if (typeof thrown.body.code === "number") record.code = thrown.body.code;
      return { status: thrown.status, body: thrown.body, headers: { ...headers, ...thrown.headers } };
    }
  }

  #limit({ route, params }: Found, headers: Record<string, string>): void {
    const { limits, rated } = this.#context;
    if (!rated) return;
    if (!route.open) {
      const taken = limits.take(RULES.global, "");
      if (!taken.ok) throw limited(taken, "global");
    }
    if (!route.rule) return;
    const taken = limits.take(route.rule, route.rule === RULES.webhook ? `${params[1]}` : (params[0] ?? ""));
    Object.assign(headers, limitHeaders(route.rule, taken));
    if (!taken.ok) throw limited(taken, "user");
  }
}

interface Answer {
  status: number;
  body: unknown;
  headers: Record<string, string>;
}

/** JSON; nothing at all, not even a content type, when there is nothing to say. */
function reply(response: ServerResponse, { status, body, headers }: Answer): void {
  if (response.destroyed) return;
  if (body === undefined) response.writeHead(status === 200 ? 204 : status, headers).end();
  else response.writeHead(status, { ...headers, "content-type": "application/json" }).end(JSON.stringify(body));
}
