import type { Hits, JudgedCommand, Rules, StandingRule } from "../core/rules.ts";
import { LIMITS } from "../limits.ts";
import { type Connection, script } from "./connect.ts";
import { KEYS } from "./keys.ts";

/** Learned rules as JSON by name, hits as `n:NAME` and `t:NAME`, and a capped list of commands a workspace. */
export function rules(connection: Connection): Rules {
  const revoke = script(connection, "revoke.lua");
  const note = script(connection, "note.lua");
  return {
    async learned() {
      const all = await connection.ask((client) => client.hvals(KEYS.rules));
      return inOrder(all.map((text) => JSON.parse(text) as StandingRule));
    },
    async revoke(name) {
      return (await revoke([KEYS.rules, KEYS.hits], [name])) === 1;
    },
    async note(workspace, judged, decided, at) {
      const commands = judged.map(({ command, cwd }) => JSON.stringify({ command, cwd }));
      const args = [at, LIMITS.recentCommands, LIMITS.recentTime, commands.length, ...commands, ...decided];
      await note([KEYS.recent(workspace), KEYS.hits], args);
    },
    async recent(workspace) {
      const all = await connection.ask((client) => client.lrange(KEYS.recent(workspace), 0, -1));
      return all.map((text) => JSON.parse(text) as JudgedCommand);
    },
    async hits() {
      const fields = await connection.ask((client) => client.hgetall(KEYS.hits));
      const counts = Object.entries(fields).filter(([field]) => field.startsWith("n:"));
      return new Map(counts.map(([field, count]): [string, Hits] => [field.slice(2), hitsOf(count, fields[`t:${field.slice(2)}`])]));
    },
  };
}

function hitsOf(count: string, last: string | undefined): Hits {
  return { count: Number(count), last: Number(last ?? 0) };
}

/** Redis keeps no order among the fields of a hash. */
function inOrder(all: StandingRule[]): StandingRule[] {
  return all.toSorted((a, b) => (a.since ?? 0) - (b.since ?? 0) || (a.name < b.name ? -1 : 1));
}
