import type { Log, PostState } from "./core/log.ts";
import { NOTHING, plus, type Spent } from "./core/spending.ts";
import { LIMITS } from "./limits.ts";
import { type Conversation, isKept, isOver, later, oldest, type Store } from "./memory-store.ts";

const EMPTY: PostState = { cursor: 0, sent: {} };

/** The half of memory.ts that posters and sweepers use. */
export function posts(store: Store): Pick<Log, "takePosts" | "savePosts" | "settlePosts" | "postAt" | "takeDuePosts"> {
  return {
    async takePosts(conversation, lock, begins) {
      const log = store.conversations.get(conversation);
      if (!log || isOver(lock)) return null;
      const { posts } = log;
      posts.epoch += 1;
      if (!begins || posts.state) return { epoch: posts.epoch, state: structuredClone(posts.state ?? EMPTY) };
      posts.state = structuredClone(begins);
      return { epoch: posts.epoch, state: structuredClone(EMPTY), begun: true };
    },
    async savePosts(conversation, epoch, state) {
      const log = store.conversations.get(conversation);
      if (log?.posts.epoch !== epoch) return "fenced";
      log.posts.state = structuredClone(state);
      return "saved";
    },
    async settlePosts(conversation, epoch, cursor, { state, at } = {}) {
      const log = store.conversations.get(conversation);
      if (log?.posts.epoch !== epoch) return "fenced";
      if (state) log.posts.state = structuredClone(state);
      if (log.head.seq > cursor) return "more";
      if (at === undefined) store.postsDirty.delete(conversation);
      else store.postsDue.set(conversation, at);
      if (at !== undefined) later(store.postsDirty, conversation, at);
      return "settled";
    },
    async postAt(conversation, at) {
      store.postsDue.set(conversation, at);
      later(store.postsDirty, conversation, at);
    },
    async takeDuePosts(now) {
      const due = oldest(store.postsDue, now);
      for (const conversation of due) store.postsDue.delete(conversation);
      return due;
    },
  };
}

type Notes =
  | "setBack"
  | "dirtySince"
  | "postsDirtySince"
  | "rung"
  | "approvalsDue"
  | "threadsSince"
  | "mark"
  | "marked"
  | "once"
  | "lease"
  | "spend"
  | "putBlob"
  | "getBlob";

export function notes(store: Store): Pick<Log, Notes> {
  const { clock, conversations, approvals, kept } = store;
  return {
    async setBack(now) {
      for (const list of [store.dirty, store.postsDirty, store.postsDue]) {
        for (const [conversation, at] of list) if (at > now + LIMITS.clockAhead) list.set(conversation, now);
      }
    },
    async dirtySince(before) {
      const workspaceOf = (conversation: string) => (conversations.get(conversation) as Conversation).head.workspace;
      return oldest(store.dirty, before).map((conversation) => ({ conversation, workspace: workspaceOf(conversation) }));
    },
    postsDirtySince: async (before) => oldest(store.postsDirty, before),
    async rung({ work, posts: behind }, at) {
      for (const conversation of work) later(store.dirty, conversation, at);
      for (const conversation of behind) later(store.postsDirty, conversation, at);
    },
    async approvalsDue(now) {
      const open = [...approvals.values()].filter((approval) => !approval.decided);
      return oldest(new Map(open.map(({ asked }) => [asked.approval, asked.deadline])), now);
    },
    threadsSince: async (since) => [...conversations].filter(([, log]) => log.touched >= since).map(([name]) => name),
    mark: async (name, value) => void kept.set(`mark:${name}`, { value, until: Number.POSITIVE_INFINITY }),
    marked: async (name) => (kept.get(`mark:${name}`)?.value as string | undefined) ?? null,
    async once(name, ttlMs) {
      if (isKept(store, `once:${name}`)) return false;
      kept.set(`once:${name}`, { value: true, until: clock.now() + ttlMs });
      return true;
    },
    async lease(name, holder, ttlMs) {
      const key = `lease:${name}`;
      if (isKept(store, key) && kept.get(key)?.value !== holder) return false;
      kept.set(key, { value: holder, until: clock.now() + ttlMs });
      return true;
    },
    async spend(day, request, { tokens, cost }) {
      const all = store.spent.get(day) ?? new Map<string, Spent>();
      const was = all.get(request)?.cost ?? null;
      const known = cost ?? (was === null ? null : 0);
      store.spent.set(day, all.set(request, { tokens: figure(tokens), cost: known === null ? null : figure(known) }));
      return [...all.values()].reduce(plus, NOTHING);
    },
    putBlob: async (key, data, ttlMs) => void kept.set(`blob:${key}`, { value: data.slice(), until: clock.now() + ttlMs }),
    getBlob: async (key) => (isKept(store, `blob:${key}`) ? (kept.get(`blob:${key}`)?.value as Uint8Array) : null),
  };
}

/** As spent.lua has it. */
function figure(value: number): number {
  return Math.floor(Math.max(0, Math.min(value, LIMITS.spentMost))) || 0;
}
