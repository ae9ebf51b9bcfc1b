import { messageOf } from "../core/errors.ts";
import type { Live, Log } from "../core/log.ts";
import type { Trace } from "../core/ports.ts";
import { type Connection, connect } from "./connect.ts";
import { KEYS } from "./keys.ts";

/** Hears what may be lost, on a connection of its own, which is made when somebody wants to hear. */
export function hints(url: string, trace: Trace): Pick<Log, "onHint" | "onLive" | "close"> {
  const channels = new Map<string, Set<(message: string) => void>>();
  /** Subscriptions that are there; the client makes them again after each break. */
  const there = new Set<string>();
  let connection: Connection | undefined;

  async function hear(channel: string, listener: (message: string) => void): Promise<() => Promise<void>> {
    if (!connection) {
      connection = connect(url, trace, "hints");
      connection.client.on("message", (from: string, message: string) => {
        for (const each of channels.get(from) ?? []) each(message);
      });
    }
    const listeners = channels.get(channel) ?? new Set();
    channels.set(channel, listeners.add(listener));
    // Whoever comes while the first subscription is under way asks for one too.
    if (!there.has(channel)) {
      await connection
        .ask((client) => client.subscribe(channel))
        .catch((thrown: unknown) => {
          listeners.delete(listener);
          throw thrown;
        });
      there.add(channel);
    }
    return async () => {
      listeners.delete(listener);
    };
  }

  return {
    // Each call is a listener of its own.
    onHint: async (listener) => await hear(KEYS.hints, (conversation) => listener(conversation)),
    onLive: async (listener) =>
      await hear(KEYS.live, (message) => {
        const live = liveOf(message, trace);
        if (live) listener(live);
      }),
    async close() {
      channels.clear();
      await connection?.close();
    },
  };
}

/** Null for what another version of us may have sent. */
function liveOf(message: string, trace: Trace): Live | null {
  try {
    const { conversation, call, text, wait } = JSON.parse(message) as Partial<Live>;
    if (conversation && call && text !== undefined) return { conversation, call, text, ...(wait ? { wait } : {}) };
    throw new Error("it lacks a field");
  } catch (thrown) {
    trace.info("live-not-understood", { error: messageOf(thrown) });
    return null;
  }
}
