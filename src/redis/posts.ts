import type { Log, PostState, Settled } from "../core/log.ts";
import { type Connection, script } from "./connect.ts";
import { KEYS } from "./keys.ts";
import { SWEEP_AT_ONCE } from "./notes.ts";

/** The poster's memory of a thread, and when it wants to be woken. */
export function posts(connection: Connection): Pick<Log, "takePosts" | "savePosts" | "settlePosts" | "postAt" | "takeDuePosts"> {
  const take = script(connection, "take-posts.lua");
  const save = script(connection, "save-posts.lua");
  const settle = script(connection, "settle-posts.lua");
  const due = script(connection, "due-posts.lua");
  return {
    async takePosts(conversation, lock, begins) {
      const keys = [KEYS.post(conversation), KEYS.state(conversation), lock.key, KEYS.postsDue];
      const reply = await take(keys, [conversation, lock.token, lock.lasts ?? "", Date.now(), begins ? JSON.stringify(begins) : ""]);
      const [kind, epoch, kept] = reply as ["lost"] | ["taken" | "begun", number, string | null | undefined];
      if (kind === "lost") return null;
      const state = kept ? (JSON.parse(kept) as PostState) : { cursor: 0, sent: {} };
      return { epoch, state, ...(kind === "begun" ? { begun: true } : {}) };
    },
    async savePosts(conversation, epoch, state) {
      return (await save([KEYS.post(conversation)], [epoch, JSON.stringify(state)])) as "saved" | "fenced";
    },
    async settlePosts(conversation, epoch, cursor, { state, at, lock } = {}) {
      const own = lock?.lasts === undefined ? undefined : lock;
      const post = KEYS.post(conversation);
      const keys = [post, KEYS.state(conversation), KEYS.postsDirty, KEYS.postsDue, own?.key ?? post];
      const args = [conversation, epoch, cursor, state ? JSON.stringify(state) : "", at ?? "", own?.token ?? ""];
      return (await settle(keys, args)) as Settled;
    },
    async postAt(conversation, at) {
      await connection.ask(async (client) => {
        await client.zadd(KEYS.postsDue, at, conversation);
        // It waits on purpose until then, so it is not overdue before.
        await client.zadd(KEYS.postsDirty, "XX", "GT", at, conversation);
      });
    },
    async takeDuePosts(now) {
      return (await due([KEYS.postsDue], [now, SWEEP_AT_ONCE])) as string[];
    },
  };
}
