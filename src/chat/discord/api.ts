import { DefaultRestOptions, type InternalRequest, REST, type RESTOptions } from "discord.js";

export interface Access {
  token: string;
  /** Null: Discord itself; else the address of a twin, up to and with `/api`. */
  apiUrl: string | null;
}

/** REST clients by class, so that what waits never holds up what must not. */
export interface Api {
  /** Posts, edits, threads, answers to presses. Tried once, and a 429 rejects at once: the caller decides. */
  write: REST;
  /** Channels, members, histories: harmless to repeat. Waits out a 429. */
  read: REST;
}

export function discordApi(access: Access): Api {
  return {
    write: new SteadyRest(access.token, { ...restOptions(access.apiUrl), timeout: 30_000, rejectOnRateLimit: () => true }),
    read: new SteadyRest(access.token, { ...restOptions(access.apiUrl), retries: 2 }),
  };
}

export function restOptions(apiUrl: string | null): Partial<RESTOptions> {
  return { version: "10", ...(apiUrl !== null && { api: apiUrl }), retries: 0, timeout: 10_000, makeRequest };
}

/** As the SDK names routes. */
const SENDS = "POST:/channels/:id/messages";
const EDITS = "PATCH:/channels/:id/messages/:id";

const withFetch = fetch as unknown as RESTOptions["makeRequest"];

/**
 * The SDK's own way costs a third less than fetch, but its undici cannot send forms through a dispatcher that another undici in
 * this process has made global.
 */
const makeRequest: RESTOptions["makeRequest"] = async (url, request) =>
  await (request.body instanceof FormData ? withFetch : DefaultRestOptions.makeRequest)(url, request);

/** After one 401 the SDK has no token any more and fails in words of its own; this client asks Discord again. */
class SteadyRest extends REST {
  readonly #token: string;

  constructor(token: string, options: Partial<RESTOptions>) {
    super(options);
    this.#token = token;
  }

  override async request(options: InternalRequest): Promise<unknown> {
    this.setToken(this.#token);
    // Edits share the limit of sends. The SDK learns that from the first answer to one, which may be a 429.
    const known = this.hashes.get(SENDS);
    if (known && !this.hashes.has(EDITS)) this.hashes.set(EDITS, { ...known });
    return await super.request(options);
  }
}
