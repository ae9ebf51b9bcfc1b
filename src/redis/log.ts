import type { Entry } from "../core/entry.ts";
import type { Appended, Decided, Ingested, Log, Settled, Takeover } from "../core/log.ts";
import type { Trace } from "../core/ports.ts";
import { LIMITS } from "../limits.ts";
import { type Connection, connect, script } from "./connect.ts";
import { hints } from "./hints.ts";
import { KEYS } from "./keys.ts";
import { lists, notes } from "./notes.ts";
import { posts } from "./posts.ts";
import { presence } from "./presence.ts";
import { rules } from "./rules.ts";
import { type Row, appendArgs, entryOf } from "./rows.ts";

/** Lines read from a stream at a time, so that a long log does not hold up everybody else. */
const READ_AT_ONCE = 500;

/** The log in Redis: one stream and one hash a conversation, every act one Lua script. Holds two connections at most. */
export function redisLog(options: { url: string; trace: Trace }): Log {
  const connection = connect(options.url, options.trace, "log");
  connection.client.on("ready", () => {
    // Streams of idle conversations take 4 kB each by default. A service that forbids CONFIG only costs memory.
    connection.client.config("SET", "stream-node-max-bytes", "1024").catch(() => options.trace.info("redis-config-refused"));
  });
  const heard = hints(options.url, options.trace);
  return {
    ...acts(connection),
    ...decisions(connection),
    ...reads(connection),
    ...posts(connection),
    ...lists(connection),
    ...notes(connection),
    rules: rules(connection),
    onHint: heard.onHint,
    onLive: heard.onLive,
    async tellLive(live) {
      await connection.ask((client) => client.publish(KEYS.live, JSON.stringify(live)));
    },
    ...presence(connection),
    async close() {
      await Promise.all([heard.close(), connection.close()]);
    },
  };
}

/** The six keys that entries.lua expects. */
function growing(conversation: string): string[] {
  return [KEYS.state(conversation), KEYS.log(conversation), KEYS.dirty, KEYS.postsDirty, KEYS.open, KEYS.approvalsDue];
}

function acts(connection: Connection): Pick<Log, "ingest" | "decline" | "takeover" | "append" | "settle"> {
  const ingest = script(connection, "entries.lua", "ingest.lua");
  const takeover = script(connection, "takeover.lua");
  const append = script(connection, "entries.lua", "append.lua");
  const settle = script(connection, "settle.lua");
  return {
    async ingest({ conversation, event, at, opened, entry, wakes, supersedes, cancels }): Promise<Ingested> {
      const [decision, by, requester] = cancels ? ["cancelled", cancels, "*"] : ["superseded", supersedes, supersedes?.key ?? ""];
      const closing = JSON.stringify({ type: "approval-decided", decision, by });
      const args = [conversation, at, LIMITS.approvalMemory, LIMITS.seenTime, wakes ? 1 : 0, entry.type];
      const head = opened ? [JSON.stringify(opened), opened.workspace, opened.channel] : ["", "", ""];
      const reply = (await ingest(
        [...growing(conversation), KEYS.seen(event)],
        [...args, ...head, JSON.stringify(entry), requester, closing],
      )) as ["duplicate" | "unknown"] | ["appended", number, string, string];
      if (reply[0] !== "appended") return { kind: reply[0] };
      const [kind, seq, workspace, superseded] = reply;
      return { kind, seq, workspace, ...(superseded ? { superseded } : {}) };
    },
    async decline(event) {
      return (await connection.ask((client) => client.set(KEYS.seen(event), 0, "PX", LIMITS.seenTime, "NX"))) === "OK";
    },
    async takeover(conversation, lock): Promise<Takeover> {
      const reply = await takeover([KEYS.state(conversation), lock.key], [lock.token]);
      const [kind, epoch, takeovers] = reply as ["lost"] | ["taken", number, number];
      return kind === "lost" ? { kind } : { kind, epoch, takeovers };
    },
    async append(conversation, epoch, op, at, entries): Promise<Appended> {
      const args = [conversation, epoch, op, at, LIMITS.approvalMemory, ...entries.flatMap(appendArgs)];
      const [kind, rows] = (await append(growing(conversation), args)) as ["fenced"] | ["appended", Row[]];
      return kind === "fenced" ? { kind } : { kind, entries: rows.map(entryOf) };
    },
    async settle(conversation, epoch, upTo) {
      return (await settle([KEYS.state(conversation), KEYS.dirty], [conversation, epoch, upTo])) as Settled;
    },
  };
}

function decisions(connection: Connection): Pick<Log, "decide" | "approvalOwner"> {
  const decide = script(connection, "entries.lua", "decide.lua");
  async function approvalOwner(approval: string): Promise<string | null> {
    return await connection.ask((client) => client.hget(KEYS.approval(approval), "conv"));
  }
  return {
    approvalOwner,
    async decide(approval, at, decision): Promise<Decided> {
      const conversation = await approvalOwner(approval);
      if (conversation === null) {
        await connection.ask((client) => client.zrem(KEYS.approvalsDue, approval));
        return { kind: "unknown" };
      }
      const body = JSON.stringify({ type: "approval-decided", ...decision });
      const stored = decision.rule ? [decision.rule.name, JSON.stringify(decision.rule)] : ["", ""];
      const keys = [...growing(conversation), KEYS.rules, KEYS.hits];
      const reply = await decide(keys, [conversation, approval, at, LIMITS.approvalMemory, body, ...stored]);
      const [kind, row] = reply as ["unknown"] | ["won" | "already", Row | undefined];
      if (kind === "unknown" || !row) return { kind: "unknown" };
      return { kind, entry: entryOf(row) as Entry<"approval-decided"> };
    },
  };
}

function reads(connection: Connection): Pick<Log, "head" | "read" | "stopSeq"> {
  return {
    async head(conversation) {
      const fields = await connection.ask((client) => client.hmget(KEYS.state(conversation), "seq", "ws", "channel", "ap", "takeovers"));
      const [seq, workspace, channel, approval, takeovers] = fields;
      if (!seq || !workspace || !channel) return null;
      const tried = Number(takeovers ?? 0);
      return { seq: Number(seq), workspace, channel, ...(approval ? { approval } : {}), ...(tried > 0 ? { takeovers: tried } : {}) };
    },
    async read(conversation, after) {
      const entries: Entry[] = [];
      for (let last = after; ; last += READ_AT_ONCE) {
        const rows = await connection.ask((client) => client.xrange(KEYS.log(conversation), `${last + 1}-0`, "+", "COUNT", READ_AT_ONCE));
        entries.push(...rows.map(entryOf));
        if (rows.length < READ_AT_ONCE) return entries;
      }
    },
    async stopSeq(conversation) {
      return Number((await connection.ask((client) => client.hget(KEYS.state(conversation), "stop"))) ?? 0);
    },
  };
}
