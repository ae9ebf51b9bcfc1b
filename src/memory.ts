import type { Entry, NewEntry } from "./core/entry.ts";
import type { ArrivalRecord, Deciding, Log } from "./core/log.ts";
import type { Clock } from "./core/ports.ts";
import { LIMITS } from "./limits.ts";
import { notes, posts } from "./memory-posts.ts";
import { memoryRules } from "./memory-rules.ts";
import { type Approval, type Conversation, isKept, isOver, type Store } from "./memory-store.ts";

/** The log in this process's memory, for `deckhand run` and for tests. It passes the same suite as the one in Redis. */
export function memoryLog(clock: Clock): Log {
  const store: Store = {
    clock,
    conversations: new Map(),
    approvals: new Map(),
    kept: new Map(),
    dirty: new Map(),
    postsDirty: new Map(),
    postsDue: new Map(),
    listeners: new Set(),
    lookers: new Set(),
    spent: new Map(),
    rules: memoryRules(),
  };
  return {
    ...acts(store),
    ...decisions(store),
    ...reads(store),
    ...posts(store),
    ...notes(store),
    rules: store.rules,
    async close() {
      store.listeners.clear();
      store.lookers.clear();
    },
  };
}

function push(store: Store, conversation: string, epoch: number, at: number, entry: NewEntry): Entry {
  const log = store.conversations.get(conversation) as Conversation;
  const added = structuredClone({ ...entry, v: 1, seq: log.entries.length + 1, at, epoch }) as Entry;
  log.entries.push(added);
  log.head.seq = added.seq;
  log.touched = Math.max(log.touched, at);
  if (!store.postsDirty.has(conversation)) store.postsDirty.set(conversation, at);
  return added;
}

function wake(store: Store, conversation: string, seq: number, at: number): void {
  (store.conversations.get(conversation) as Conversation).woke = seq;
  if (!store.dirty.has(conversation)) store.dirty.set(conversation, at);
  for (const listener of store.listeners) listener(conversation);
}

function closeApproval(store: Store, approval: Approval, decided: Entry<"approval-decided">): void {
  approval.decided = decided;
  const { head } = store.conversations.get(approval.conversation) as Conversation;
  if (head.approval === decided.approval) delete head.approval;
}

function decideOpen(store: Store, approval: Approval, at: number, decision: Deciding) {
  const { approval: id, call, seq } = approval.asked;
  const body: NewEntry = { type: "approval-decided", approval: id, call, parent: seq, ...decision };
  const entry = push(store, approval.conversation, 0, at, body) as Entry<"approval-decided">;
  closeApproval(store, approval, entry);
  if (decision.rule) store.rules.store(decision.rule);
  wake(store, approval.conversation, entry.seq, at);
  return entry;
}

function acts(store: Store): Pick<Log, "ingest" | "decline" | "takeover" | "append" | "settle"> {
  return {
    async ingest({ conversation, event, at, opened, begins, entry, wakes, supersedes, cancels }: ArrivalRecord) {
      if (isKept(store, `seen:${event}`)) return { kind: "duplicate" };
      if (begins && store.conversations.has(conversation)) return { kind: "known" };
      if (!store.conversations.has(conversation)) {
        if (!opened) return { kind: "unknown" };
        store.conversations.set(conversation, newConversation(opened));
        push(store, conversation, 0, at, opened);
      }
      const log = store.conversations.get(conversation) as Conversation;
      store.kept.set(`seen:${event}`, { value: true, until: store.clock.now() + LIMITS.seenTime });
      const { seq } = push(store, conversation, 0, at, entry);
      if (entry.type === "stop") log.stop = seq;
      if (entry.type === "retried") log.takeovers = 0;
      if (wakes) wake(store, conversation, seq, at);
      const kept = { kind: "appended", seq, workspace: log.head.workspace } as const;
      const open = store.approvals.get(log.head.approval ?? "");
      const by = cancels ?? (open?.asked.requester.key === supersedes?.key ? supersedes : undefined);
      if (!open || !by) return kept;
      const { approval } = decideOpen(store, open, at, { decision: cancels ? "cancelled" : "superseded", by });
      return { ...kept, superseded: approval };
    },
    async decline(event) {
      if (isKept(store, `seen:${event}`)) return false;
      store.kept.set(`seen:${event}`, { value: true, until: store.clock.now() + LIMITS.seenTime });
      return true;
    },
    async takeover(conversation, lock, manner) {
      const log = store.conversations.get(conversation);
      if (!log || isOver(lock)) return { kind: "lost" };
      if (manner === "unless-suspect" && log.takeovers > 0) return { kind: "suspect" };
      log.epoch += 1;
      log.takeovers += 1;
      log.ops.clear();
      return { kind: "taken", epoch: log.epoch, takeovers: log.takeovers, entries: structuredClone(log.entries), whole: true };
    },
    async append(conversation, epoch, op, at, entries) {
      const log = store.conversations.get(conversation);
      if (log?.epoch !== epoch) return { kind: "fenced" };
      const done = log.ops.get(op) ?? entries.flatMap((entry) => appendOne(store, conversation, epoch, at, entry));
      log.ops.set(op, done);
      log.takeovers = 0;
      if (store.dirty.has(conversation)) store.dirty.set(conversation, at);
      return { kind: "appended", entries: structuredClone(done) };
    },
    async settle(conversation, epoch, upTo) {
      const log = store.conversations.get(conversation);
      if (log?.epoch !== epoch) return "fenced";
      if (log.woke > upTo) return "more";
      store.dirty.delete(conversation);
      log.takeovers = 0;
      log.ops.clear();
      return "settled";
    },
  };
}

function newConversation(opened: NewEntry<"opened">): Conversation {
  const { workspace, channel } = opened;
  const posts = { epoch: 0, state: null };
  return { head: { seq: 0, workspace, channel }, entries: [], epoch: 0, takeovers: 0, ops: new Map(), woke: 0, stop: 0, posts, touched: 0 };
}

function appendOne(store: Store, conversation: string, epoch: number, at: number, entry: NewEntry): Entry[] {
  const approval = entry.type === "approval-decided" ? store.approvals.get(entry.approval) : undefined;
  if (approval?.decided) return [];
  const added = push(store, conversation, epoch, at, entry);
  if (added.type === "approval-asked") {
    store.approvals.set(added.approval, { conversation, asked: added });
    (store.conversations.get(conversation) as Conversation).head.approval = added.approval;
  }
  if (approval) closeApproval(store, approval, added as Entry<"approval-decided">);
  return [added];
}

function decisions(store: Store): Pick<Log, "decide" | "requestOf"> {
  return {
    async decide(id, at, decision) {
      const approval = store.approvals.get(id);
      if (!approval) return { kind: "unknown" };
      if (approval.decided) return { kind: "already", entry: structuredClone(approval.decided) };
      return { kind: "won", entry: structuredClone(decideOpen(store, approval, at, decision)) };
    },
    async requestOf(id) {
      const { conversation = "", asked } = store.approvals.get(id) ?? {};
      const head = store.conversations.get(conversation)?.head;
      return asked && head ? { conversation, workspace: head.workspace, channel: head.channel, asked: structuredClone(asked) } : null;
    },
  };
}

function reads(store: Store): Pick<Log, "head" | "read" | "stopSeq" | "onHint" | "tellLive" | "onLive" | "isServed"> {
  return {
    async head(conversation) {
      const log = store.conversations.get(conversation);
      return log ? { ...log.head } : null;
    },
    read: async (conversation, after) => structuredClone(store.conversations.get(conversation)?.entries.slice(after) ?? []),
    stopSeq: async (conversation) => store.conversations.get(conversation)?.stop ?? 0,
    async onHint(listener) {
      store.listeners.add(listener);
      return async () => void store.listeners.delete(listener);
    },
    async tellLive(live) {
      for (const listener of store.lookers) listener(live);
    },
    async onLive(listener) {
      store.lookers.add(listener);
      return async () => void store.lookers.delete(listener);
    },
    isServed: async () => true,
  };
}
