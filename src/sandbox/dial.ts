import { lookup as ask } from "node:dns/promises";
import { connect, isIP, type LookupFunction, type Socket } from "node:net";
import type { Attempt } from "../core/entry.ts";
import { messageOf } from "../core/errors.ts";
import { plainHost } from "../core/grants.ts";
import { lines } from "../core/lines.ts";
import { visible } from "../core/visible.ts";
import { LIMITS } from "../limits.ts";
import { isOwn, isPublic } from "./addresses.ts";

/** A host and its port; `*` with null is every public host, at every port. */
export interface Allow {
  host: string;
  port: number | null;
}

export interface DialOptions {
  allows: readonly Allow[];
  /** All addresses of a name; rejects when it has none. The system's own way when left out. */
  lookup?: (host: string) => Promise<string[]>;
  /** Whether an address may be connected to: public and not this machine's own, when left out. */
  isPublic?: (address: string) => boolean;
}

export interface Refusal {
  status: 403 | 502;
  /** One line. */
  text: string;
}

export interface Dialer {
  /** A connection that stands, or why there is none; `asked` is what the client wrote. Never rejects. */
  reach(target: Target | null, asked: string): Promise<{ socket: Socket } | Refusal>;
  /** Keeps what cannot even be understood. */
  refuse(asked: string): Refusal;
  attempts(): Attempt[];
  /** Ends this connection when it is silent for too long, and with `end`. */
  watch(socket: Socket): void;
  end(): void;
}

type Target = { host: string; port: number };

const NOT_PLAIN = "this is not a host and a port in plain spelling";

/** Decides where one run may connect, and connects there. */
export function dialer(options: DialOptions): Dialer {
  const names = inTurn(options.lookup ?? addressesOf);
  const isOpen = options.isPublic ?? isOutside;
  const attempts = new Map<string, Attempt>();
  const sockets = new Set<Socket>();
  let ended = false;

  function note(host: string, port: number, refused: string | null): void {
    const attempt = { host: visible(host).slice(0, 253), port, refused };
    if (attempts.size < LIMITS.networkAttempts) attempts.set(JSON.stringify(attempt), attempt);
  }

  function refuse(asked: string): Refusal {
    note(hostPart(asked), 0, NOT_PLAIN);
    return { status: 403, text: `refused: ${NOT_PLAIN}` };
  }

  function watch(socket: Socket): void {
    if (ended) socket.destroy();
    sockets.add(socket);
    socket.on("error", () => socket.destroy());
    socket.once("close", () => sockets.delete(socket));
    socket.setTimeout(LIMITS.networkIdle, () => socket.destroy());
  }

  async function reach(target: Target | null, asked: string): Promise<{ socket: Socket } | Refusal> {
    if (target === null) return refuse(asked);
    const { host, port } = target;
    const closed = (refused: string, status: 403 | 502 = 403): Refusal => {
      note(host, port, refused);
      return { status, text: `${host}:${port} is refused: ${refused}` };
    };
    const why = refusal(target, options.allows);
    if (why !== null) return closed(why);
    let addresses: string[];
    try {
      addresses = await within(LIMITS.networkConnect, names(host), "the name server does not answer");
    } catch (thrown) {
      return closed(`its address is not known (${messageOf(thrown)})`, 502);
    }
    if (addresses.length === 0 || !addresses.every((address) => isIP(address) > 0 && isOpen(address)))
      return closed("it leads to an address that is not a public one");
    if (ended) return { status: 502, text: "the run is over" };
    note(host, port, null);
    const socket = connectTo(target, addresses);
    watch(socket);
    return await connected(socket, `${host}:${port}`);
  }

  return {
    reach,
    refuse,
    watch,
    attempts: () => [...attempts.values()],
    end: () => {
      ended = true;
      for (const socket of sockets) socket.destroy();
    },
  };
}

/** Of what a client wrote, without path and password: people read it in the thread. */
function hostPart(asked: string): string {
  return (
    asked
      .replace(/^\w+:\/\//, "")
      .replace(/[/?#].*$/s, "")
      .replace(/^.*@/s, "...@") || "?"
  );
}

function refusal({ host, port }: Target, allows: readonly Allow[]): string | null {
  const named = allows.filter((allow) => plainHost(allow.host) === host);
  if (named.some((allow) => allow.port === port)) return null;
  // An IPv6 address can stand for other things than a host; who means one can name it.
  if (allows.some((allow) => allow.host === "*" && (allow.port ?? port) === port) && !host.startsWith("[")) return null;
  if (named.length > 0) return `only port ${named.map((allow) => allow.port).join(", ")} of it is allowed`;
  return "it is not among the hosts that are allowed";
}

/** Tries the addresses one after the other; no name is looked up again. */
function connectTo({ host, port }: Target, addresses: string[]): Socket {
  const found = addresses.map((address) => ({ address, family: isIP(address) }));
  const [first] = found as [{ address: string; family: number }];
  const known: LookupFunction = (_host, { all }, done) => (all ? done(null, found) : done(null, first.address, first.family));
  return connect({
    ...{ host: bare(host), port, lookup: known, allowHalfOpen: true, noDelay: true },
    ...{ autoSelectFamily: true, autoSelectFamilyAttemptTimeout: 1000 },
  });
}

async function connected(socket: Socket, where: string): Promise<{ socket: Socket } | Refusal> {
  const standing = new Promise<void>((done, failed) => {
    socket.once("connect", done);
    socket.once("error", failed);
    socket.once("close", () => failed(new Error("it was closed")));
  });
  try {
    await within(LIMITS.networkConnect, standing, "it does not answer");
    return { socket };
  } catch (thrown) {
    socket.destroy();
    return { status: 502, text: `${where} cannot be reached: ${messageOf(thrown)}` };
  }
}

/** One name at a time: slow ones that a command asks for must not hold up what the worker itself looks up. */
function inTurn(lookup: (host: string) => Promise<string[]>): (host: string) => Promise<string[]> {
  const inLine = lines();
  const asked = new Map<string, Promise<string[]>>();
  return async (host) => {
    if (isIP(bare(host)) > 0) return [bare(host)];
    const known = asked.get(host);
    if (known !== undefined) return await known;
    const fresh = inLine("names", host, () => lookup(host)).finally(() => asked.delete(host));
    asked.set(host, fresh);
    return await fresh;
  };
}

async function within<T>(ms: number, promise: Promise<T>, otherwise: string): Promise<T> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<never>((_, failed) => {
    timer = setTimeout(() => failed(new Error(otherwise)), ms);
  });
  try {
    return await Promise.race([promise, late]);
  } finally {
    clearTimeout(timer);
  }
}

/** An IPv6 address without its brackets. */
function bare(host: string): string {
  return host.replace(/^\[|\]$/g, "");
}

async function addressesOf(host: string): Promise<string[]> {
  const found = await ask(host, { all: true });
  return found.map(({ address }) => address);
}

function isOutside(address: string): boolean {
  return isPublic(address) && !isOwn(address);
}
