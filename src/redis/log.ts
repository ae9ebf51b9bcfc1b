import type { Entry } from "../core/entry.ts";
import type { Appended, Decided, Ingested, Log, Settled, Takeover } from "../core/log.ts";
import type { Limiter, Trace } from "../core/ports.ts";
import { LIMITS } from "../limits.ts";
import { type Connection, connect, script } from "./connect.ts";
import { hints } from "./hints.ts";
import { KEYS } from "./keys.ts";
import { limiter } from "./limiter.ts";
import { lists, notes } from "./notes.ts";
import { posts } from "./posts.ts";
import { presence } from "./presence.ts";
import { rules } from "./rules.ts";
import { type Row, appendArgs, entryOf, placed } from "./rows.ts";

/** Lines read from a stream at a time, so that a long log does not hold up everybody else. */
const READ_AT_ONCE = 500;
/** Lines that come along with a takeover: most conversations have no more. */
const TAKEN_ALONG = 100;

/** The log in Redis: one stream and one hash a conversation, every act one Lua script. Holds two connections at most. */
export function redisLog(options: { url: string; trace: Trace }): Log & { limiter: Limiter; connection: Connection } {
  const connection = connect(options.url, options.trace, "log");
  connection.client.on("ready", () => {
    // Streams of idle conversations take 4 kB each by default. A service that forbids CONFIG only costs memory.
    connection.client.config("SET", "stream-node-max-bytes", "1024").catch(() => options.trace.info("redis-config-refused"));
  });
  const heard = hints(options.url, options.trace);
  return {
    connection,
    ...acts(connection),
    ...decisions(connection),
    ...reads(connection),
    ...posts(connection),
    ...lists(connection),
    ...notes(connection),
    rules: rules(connection),
    // On the same connection: what a send costs and that it begins are noted in one go.
    limiter: limiter(connection),
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
    async ingest({ conversation, event, at, opened, begins, entry, wakes, supersedes, cancels }): Promise<Ingested> {
      const [decision, by, requester] = cancels ? ["cancelled", cancels, "*"] : ["superseded", supersedes, supersedes?.key ?? ""];
      const closing = JSON.stringify({ type: "approval-decided", decision, by });
      const args = [conversation, at, LIMITS.approvalMemory, LIMITS.seenTime, wakes ? 1 : 0, entry.type];
      const head = opened ? [JSON.stringify(opened), opened.workspace, opened.channel] : ["", "", ""];
      const reply = (await ingest(
        [...growing(conversation), KEYS.seen(event)],
        [...args, ...head, JSON.stringify(entry), requester, closing, begins ? 1 : 0],
      )) as ["duplicate" | "known" | "unknown"] | ["appended", number, string, string];
      if (reply[0] !== "appended") return { kind: reply[0] };
      const [kind, seq, workspace, superseded] = reply;
      return { kind, seq, workspace, ...(superseded ? { superseded } : {}) };
    },
    async decline(event) {
      return (await connection.ask((client) => client.set(KEYS.seen(event), 0, "PX", LIMITS.seenTime, "NX"))) === "OK";
    },
    async takeover(conversation, lock, manner): Promise<Takeover> {
      const keys = [KEYS.state(conversation), lock.key, KEYS.log(conversation)];
      const reply = await takeover(keys, [lock.token, manner === "unless-suspect" ? 1 : 0, TAKEN_ALONG]);
      const [kind, epoch, takeovers, rows] = reply as ["lost" | "suspect"] | ["taken", number, number, Row[]];
      if (kind !== "taken") return { kind };
      return { kind, epoch, takeovers, entries: rows.map(entryOf), whole: rows.length < TAKEN_ALONG };
    },
    async append(conversation, epoch, op, at, entries): Promise<Appended> {
      const all = entries.map(appendArgs);
      const args = [conversation, epoch, op, at, LIMITS.approvalMemory, ...all.flat()];
      const [kind, given] = (await append(growing(conversation), args)) as ["fenced"] | ["added", number] | ["appended", Row[]];
      if (kind === "fenced") return { kind };
      if (kind === "appended") return { kind, entries: given.map(entryOf) };
      // As they will be read: what JSON does not keep is in no memory either.
      return { kind: "appended", entries: all.map(([, body], index) => placed(body, given + index, at, epoch)) };
    },
    async settle(conversation, epoch, upTo) {
      return (await settle([KEYS.state(conversation), KEYS.dirty], [conversation, epoch, upTo])) as Settled;
    },
  };
}

function decisions(connection: Connection): Pick<Log, "decide" | "requestOf"> {
  const decide = script(connection, "entries.lua", "decide.lua");
  const request = script(connection, "request.lua");
  async function approvalOwner(approval: string): Promise<string | null> {
    return await connection.ask((client) => client.hget(KEYS.approval(approval), "conv"));
  }
  return {
    async requestOf(approval) {
      const reply = await request([KEYS.approval(approval)], []);
      const [conversation = "", workspace = "", channel = "", row] = reply as [string?, string?, string?, Row?];
      return row ? { conversation, workspace, channel, asked: entryOf(row) as Entry<"approval-asked"> } : null;
    },
    async decide(approval, at, decision, of): Promise<Decided> {
      const conversation = of ?? (await approvalOwner(approval));
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
      const fields = await connection.ask((client) => client.hmget(KEYS.state(conversation), "seq", "ws", "channel", "ap"));
      const [seq, workspace, channel, approval] = fields;
      if (!seq || !workspace || !channel) return null;
      return { seq: Number(seq), workspace, channel, ...(approval ? { approval } : {}) };
    },
    async read(conversation, after) {
      const page = (last: number) =>
        connection.ask((client) => client.xrange(KEYS.log(conversation), `${last + 1}-0`, "+", "COUNT", READ_AT_ONCE));
      const entries: Entry[] = [];
      let rows = await page(after);
      for (let last = after + READ_AT_ONCE; rows.length === READ_AT_ONCE; last += READ_AT_ONCE) {
        // Redis looks the next ones up while these are parsed.
        const following = page(last);
        for (const row of rows) entries.push(entryOf(row));
        rows = await following;
      }
      for (const row of rows) entries.push(entryOf(row));
      return entries;
    },
    async stopSeq(conversation) {
      return Number((await connection.ask((client) => client.hget(KEYS.state(conversation), "stop"))) ?? 0);
    },
  };
}
