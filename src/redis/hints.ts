import type { Log } from "../core/log.ts";
import type { Trace } from "../core/ports.ts";
import { type Connection, connect } from "./connect.ts";
import { KEYS } from "./keys.ts";

/** Hears the hints on a connection of its own, which is made when somebody wants to hear. */
export function hints(url: string, trace: Trace): Pick<Log, "onHint" | "close"> {
  const listeners = new Set<(conversation: string) => void>();
  let connection: Connection | undefined;
  return {
    async onHint(listener) {
      if (!connection) {
        connection = connect(url, trace, "hints");
        connection.client.on("message", (_channel, conversation: string) => {
          for (const each of listeners) each(conversation);
        });
      }
      listeners.add(listener);
      // Again for each listener: whoever comes while the first subscription is under way waits for one too.
      await connection
        .ask((client) => client.subscribe(KEYS.hints))
        .catch((thrown: unknown) => {
          listeners.delete(listener);
          throw thrown;
        });
      return async () => {
        listeners.delete(listener);
      };
    },
    async close() {
      listeners.clear();
      await connection?.close();
    },
  };
}
