import { messageOf } from "../core/errors.ts";
import type { Live, Log } from "../core/log.ts";
import type { Trace } from "../core/ports.ts";
import { type Connection, connect } from "./connect.ts";
import { KEYS } from "./keys.ts";

/** Hears what may be lost, on a connection of its own, which is made when somebody wants to hear. */
export function hints(url: string, trace: Trace): Pick<Log, "onHint" | "onLive" | "close"> {
  const channels = new Map<string, Set<(message: string) => void>>();
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
    // Again for each listener: whoever comes while the first subscription is under way waits for one too.
    await connection
      .ask((client) => client.subscribe(channel))
      .catch((thrown: unknown) => {
        listeners.delete(listener);
        throw thrown;
      });
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
