import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { PostState } from "../../src/core/log.ts";
import { LOGS, type LogDoor, arrival, newThread, note, takenOver } from "./log-doors.ts";

describe.each(LOGS)("posts, lists and marks in the log in %s", (_name, open) => {
  let door: LogDoor;
  beforeAll(async () => {
    door = await open();
  });
  afterAll(async () => {
    await door.close();
  });

  async function claimed(): Promise<{ conversation: string; epoch: number; state: PostState }> {
    const conversation = newThread();
    await door.log.ingest(arrival(conversation, "hello"));
    const claim = await door.log.takePosts(conversation, await door.heldLock());
    if (!claim) throw new Error("the lock was held");
    return { conversation, ...claim };
  }

  it("a thread's posts begin at the beginning and go on where they were saved", async () => {
    const { log } = door;
    const { conversation, epoch, state } = await claimed();
    expect(state).toEqual({ cursor: 0, sent: {} });
    const saved: PostState = {
      cursor: 2,
      pending: { key: "k", chunk: 0, nonce: "n", at: 7, shows: "d", tries: 1 },
      sent: { k: { refs: ["1.2"], shows: ["d"] } },
    };
    expect(await log.savePosts(conversation, epoch, saved)).toBe("saved");
    expect(await log.takePosts(conversation, await door.heldLock())).toEqual({ epoch: epoch + 1, state: saved });
  });

  it("what a thread is to begin with is kept with the first claim alone, and not given back with it", async () => {
    const { log } = door;
    const conversation = newThread();
    await log.ingest(arrival(conversation, "hello"));
    const begins: PostState = { cursor: 0, sent: {}, pending: { key: "k", chunk: 0, nonce: "n", at: 7, shows: "d", tries: 1 } };
    const claim = async (state: PostState) => await log.takePosts(conversation, await door.heldLock(), state);
    expect(await claim(begins)).toEqual({ epoch: 1, state: { cursor: 0, sent: {} }, begun: true });
    expect(await claim({ cursor: 9, sent: {} })).toEqual({ epoch: 2, state: begins });
    expect(await log.takePosts(newThread(), await door.heldLock(), begins)).toBeNull();
  });

  it("an older poster is fenced off", async () => {
    const { log } = door;
    const { conversation, epoch } = await claimed();
    const newer = await log.takePosts(conversation, await door.heldLock());
    expect(await log.savePosts(conversation, epoch, { cursor: 9, sent: {} })).toBe("fenced");
    expect(await log.settlePosts(conversation, epoch, 9)).toBe("fenced");
    expect(newer?.state.cursor).toBe(0);
  });

  it("nobody claims posts whose lock is not held any more", async () => {
    const { conversation, epoch } = await claimed();
    expect(await door.log.takePosts(conversation, await door.lostLock())).toBeNull();
    expect(await door.log.savePosts(conversation, epoch, { cursor: 1, sent: {} })).toBe("saved");
  });

  it("a worker's takeover does not fence the poster, nor the poster the worker", async () => {
    const { log } = door;
    const { conversation, epoch } = await claimed();
    const worker = await log.takeover(conversation, await door.heldLock());
    expect(await log.savePosts(conversation, epoch, { cursor: 1, sent: {} })).toBe("saved");
    expect(await log.append(conversation, worker.kind === "taken" ? worker.epoch : 0, "op", 1000, [note("x")])).toMatchObject({
      kind: "appended",
    });
  });

  it("posts have more to do until the cursor is at the end of the log", async () => {
    const { log } = door;
    const { conversation, epoch } = await claimed();
    expect(await log.settlePosts(conversation, epoch, 1)).toBe("more");
    expect(await log.postsDirtySince(1000)).toContain(conversation);
    expect(await log.settlePosts(conversation, epoch, 2)).toBe("settled");
    expect(await log.postsDirtySince(9999)).not.toContain(conversation);
  });

  it("the end of a drain keeps what the poster remembers, and when it wants to be woken if more is to be posted", async () => {
    const { log } = door;
    const { conversation, epoch } = await claimed();
    const state: PostState = { cursor: 1, sent: { k: { refs: ["1.2"], shows: ["d"] } } };
    expect(await log.settlePosts(conversation, epoch, 1, { state, at: 7000 })).toBe("more");
    expect(await log.takeDuePosts(7000)).not.toContain(conversation);
    expect(await log.settlePosts(conversation, epoch, 2, { state, at: 7000 })).toBe("settled");
    expect(await log.postsDirtySince(6999)).not.toContain(conversation);
    expect(await log.takeDuePosts(7000)).toContain(conversation);
    expect(await log.takePosts(conversation, await door.heldLock())).toEqual({ epoch: epoch + 1, state });
    expect(await log.settlePosts(conversation, epoch, 2, { state: { cursor: 9, sent: {} } })).toBe("fenced");
    expect((await log.takePosts(conversation, await door.heldLock()))?.state).toEqual(state);
  });

  it("an entry of a worker gives the poster something to do", async () => {
    const { log } = door;
    const { conversation, epoch } = await claimed();
    await log.settlePosts(conversation, epoch, 2);
    const worker = await log.takeover(conversation, await door.heldLock());
    await log.append(conversation, worker.kind === "taken" ? worker.epoch : 0, "op", 3000, [note("x")]);
    expect(await log.postsDirtySince(2999)).not.toContain(conversation);
    expect(await log.postsDirtySince(3000)).toContain(conversation);
  });

  it("a poster is woken once at the time it asked for, and does not count as late before", async () => {
    const { log } = door;
    const { conversation } = await claimed();
    await log.postAt(conversation, 8000);
    expect(await log.takeDuePosts(7999)).not.toContain(conversation);
    expect(await log.postsDirtySince(7999)).not.toContain(conversation);
    expect(await log.takeDuePosts(8000)).toContain(conversation);
    expect(await log.takeDuePosts(8000)).not.toContain(conversation);
    expect(await log.postsDirtySince(8000)).toContain(conversation);
  });

  it("a conversation is dirty from its first input until it is settled", async () => {
    const { log } = door;
    const { conversation, epoch } = await takenOver(door);
    const dirty = { conversation, workspace: "w" };
    expect(await log.dirtySince(999)).not.toContainEqual(dirty);
    await log.ingest(arrival(conversation, "again", { at: 1500 }));
    expect(await log.dirtySince(1000)).toContainEqual(dirty);
    await log.settle(conversation, epoch, 3);
    expect(await log.dirtySince(9999)).not.toContainEqual(dirty);
  });

  it("a conversation whose worker makes progress does not count as left alone", async () => {
    const { log } = door;
    const { conversation, epoch } = await takenOver(door);
    await log.append(conversation, epoch, "op", 4000, [note("x")]);
    expect(await log.dirtySince(3999)).not.toContainEqual({ conversation, workspace: "w" });
    expect(await log.dirtySince(4000)).toContainEqual({ conversation, workspace: "w" });
  });

  it("what a clock marked that was set back an hour since counts as left alone now, and what waits on purpose does not", async () => {
    const { log } = door;
    const hour = 3_600_000;
    const [late, waits] = [newThread(), newThread()];
    for (const conversation of [late, waits]) await log.ingest(arrival(conversation, "hello", { at: hour }));
    await log.postAt(late, hour + 1000);
    await log.postAt(waits, 60_000);
    await log.setBack(1000);
    expect(await log.dirtySince(1000)).toContainEqual({ conversation: late, workspace: "w" });
    expect(await log.postsDirtySince(1000)).toContain(late);
    expect(await log.takeDuePosts(1000)).toContain(late);
    await log.setBack(1000);
    expect(await log.takeDuePosts(1000)).not.toContain(waits);
    expect(await log.takeDuePosts(60_000)).toContain(waits);
  });

  it("a conversation that was rung for does not count as left alone before that, and a clean one stays clean", async () => {
    const { log } = door;
    const { conversation, epoch } = await claimed();
    const clean = newThread();
    await log.rung({ work: [conversation, clean], posts: [conversation, clean] }, 5000);
    expect(await log.dirtySince(4999)).not.toContainEqual({ conversation, workspace: "w" });
    expect(await log.dirtySince(5000)).toContainEqual({ conversation, workspace: "w" });
    expect(await log.postsDirtySince(4999)).not.toContain(conversation);
    expect(await log.postsDirtySince(9999)).toContain(conversation);
    expect(await log.postsDirtySince(9999)).not.toContain(clean);
    await log.settlePosts(conversation, epoch, 2);
    expect(await log.postsDirtySince(9999)).not.toContain(conversation);
  });

  it("an append after the settling leaves it clean", async () => {
    const { log } = door;
    const { conversation, epoch } = await takenOver(door);
    await log.settle(conversation, epoch, 2);
    await log.append(conversation, epoch, "op", 4000, [note("x")]);
    expect(await log.dirtySince(9999)).not.toContainEqual({ conversation, workspace: "w" });
  });

  it("an input that wakes nobody leaves the conversation clean but gives the poster something to do", async () => {
    const { log } = door;
    const conversation = newThread();
    await log.ingest(arrival(conversation, "context", { wakes: false }));
    expect(await log.dirtySince(9999)).not.toContainEqual({ conversation, workspace: "w" });
    expect(await log.postsDirtySince(9999)).toContain(conversation);
  });

  it("gives a sweeper a hundred at a time, the oldest first", async () => {
    const { log } = door;
    const names = Array.from({ length: 120 }, newThread);
    await Promise.all(names.map((name, i) => log.ingest(arrival(name, "x", { at: i - 1000 }))));
    const dirty = await log.dirtySince(0);
    expect(dirty.map(({ conversation }) => conversation)).toEqual(names.slice(0, 100));
  });

  it("knows the threads that were active since a time", async () => {
    const { log } = door;
    const [old, recent] = [newThread(), newThread()];
    await log.ingest(arrival(old, "x", { at: 700_000 }));
    await log.ingest(arrival(recent, "x", { at: 600_000 }));
    await log.ingest(arrival(recent, "y", { at: 800_000 }));
    const since = await log.threadsSince(700_001);
    expect(since).toContain(recent);
    expect(since).not.toContain(old);
  });

  it("keeps marks", async () => {
    const { log } = door;
    expect(await log.marked("slack:C1")).toBeNull();
    await log.mark("slack:C1", "1699.01");
    await log.mark("slack:C1", "1699.02");
    expect(await log.marked("slack:C1")).toBe("1699.02");
  });

  it("says once what should be said once", async () => {
    const { log } = door;
    const first = await Promise.all(Array.from({ length: 10 }, () => log.once("told:slack:U1", 60_000)));
    expect(first.filter(Boolean)).toHaveLength(1);
    expect(await log.once("short", 20)).toBe(true);
    await expect.poll(() => log.once("short", 20)).toBe(true);
  });

  it("leases to one holder at a time, who may keep it, give it up or lose it with its time", async () => {
    const { log } = door;
    const first = await Promise.all(["a", "b", "c"].map((holder) => log.lease("gateway", holder, 60_000)));
    expect(first.filter(Boolean)).toHaveLength(1);
    const holder = ["a", "b", "c"][first.indexOf(true)] as string;
    expect(await log.lease("gateway", holder, 60_000)).toBe(true);
    expect(await log.lease("gateway", "d", 60_000)).toBe(false);
    expect(await log.lease("another", "d", 60_000)).toBe(true);
    expect(await log.lease("gateway", "d", 0)).toBe(false);
    expect(await log.lease("gateway", holder, 0)).toBe(true);
    expect(await log.lease("gateway", "d", 30)).toBe(true);
    await expect.poll(() => log.lease("gateway", holder, 60_000)).toBe(true);
  });

  it("keeps blobs as they are, for their time", async () => {
    const { log } = door;
    const data = Uint8Array.from({ length: 70_000 }, (_, i) => i % 256);
    await log.putBlob("whole", data, 60_000);
    expect(Buffer.from((await log.getBlob("whole")) ?? []).equals(data)).toBe(true);
    expect(await log.getBlob("never kept")).toBeNull();
    await log.putBlob("short", data, 20);
    await expect.poll(() => log.getBlob("short")).toBeNull();
  });
});
