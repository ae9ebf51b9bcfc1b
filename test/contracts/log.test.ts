import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { NewEntry } from "../../src/core/entry.ts";
import { ANNA, LOGS, type LogDoor, arrival, newThread, note, takenOver } from "./log-doors.ts";

describe.each(LOGS)("the log in %s", (_name, open) => {
  let door: LogDoor;
  beforeAll(async () => {
    door = await open();
  });
  afterAll(async () => {
    await door.close();
  });

  it("opens a conversation with its first message and gives both back as they were", async () => {
    const { log } = door;
    const conversation = newThread();
    const first = arrival(conversation, 'naïve "quotes" \ud83d\ude80 \\ \u0000 \ud800', { at: 1699 });
    expect(await log.ingest(first)).toEqual({ kind: "appended", seq: 2, workspace: "w" });
    expect(await log.read(conversation, 0)).toEqual([
      { ...first.opened, v: 1, seq: 1, at: 1699, epoch: 0 },
      { ...first.entry, v: 1, seq: 2, at: 1699, epoch: 0 },
    ]);
    expect(await log.head(conversation)).toEqual({ seq: 2, workspace: "w", channel: "slack:C1" });
  });

  it("reads what came after a seq", async () => {
    const { log } = door;
    const conversation = newThread();
    await log.ingest(arrival(conversation, "one"));
    await log.ingest(arrival(conversation, "two"));
    expect(await log.read(conversation, 2)).toMatchObject([{ seq: 3, text: "two" }]);
    expect(await log.read(conversation, 3)).toEqual([]);
  });

  it("knows nothing of a conversation that was never opened", async () => {
    const { log } = door;
    const conversation = newThread();
    const { opened: _opened, ...reply } = arrival(conversation, "hello");
    expect(await log.ingest(reply)).toEqual({ kind: "unknown" });
    expect(await log.head(conversation)).toBeNull();
    expect(await log.read(conversation, 0)).toEqual([]);
    expect(await log.stopSeq(conversation)).toBe(0);
    expect(await log.takeover(conversation, await door.heldLock())).toEqual({ kind: "lost" });
    expect(await log.takePosts(conversation, await door.heldLock())).toBeNull();
  });

  it("keeps what is to begin a conversation only where there is none, and then in no way", async () => {
    const { log } = door;
    const conversation = newThread();
    expect(await log.ingest(arrival(conversation, "one", { begins: true }))).toMatchObject({ kind: "appended", seq: 2 });
    const second = arrival(conversation, "two", { begins: true });
    expect(await log.ingest(second)).toEqual({ kind: "known" });
    expect((await log.read(conversation, 0)).length).toBe(2);
    expect(await log.ingest({ ...second, begins: false })).toMatchObject({ kind: "appended", seq: 3 });
    expect(await log.ingest(second)).toEqual({ kind: "duplicate" });
  });

  it("takes an event that was refused as unknown when it comes again with an opening", async () => {
    const { log } = door;
    const whole = arrival(newThread(), "hello");
    const { opened: _opened, ...reply } = whole;
    await log.ingest(reply);
    expect(await log.ingest(whole)).toMatchObject({ kind: "appended", seq: 2 });
  });

  it("keeps an event once, however often it comes", async () => {
    const { log } = door;
    const conversation = newThread();
    const record = arrival(conversation, "once");
    const kinds = await Promise.all(Array.from({ length: 20 }, async () => (await log.ingest(record)).kind));
    expect(kinds.toSorted()).toEqual(["appended", ...Array.from({ length: 19 }, () => "duplicate")]);
    expect(await log.read(conversation, 0)).toHaveLength(2);
  });

  it("does not keep an event that was declined, and declines none that is kept", async () => {
    const { log } = door;
    const [declined, kept] = [arrival(newThread(), "no"), arrival(newThread(), "yes")];
    expect(await log.decline(declined.event)).toBe(true);
    expect(await log.decline(declined.event)).toBe(false);
    expect(await log.ingest(declined)).toEqual({ kind: "duplicate" });
    expect(await log.head(declined.conversation)).toBeNull();
    await log.ingest(kept);
    expect(await log.decline(kept.event)).toBe(false);
  });

  it("numbers a hundred arrivals at once without a gap", async () => {
    const { log } = door;
    const conversation = newThread();
    const kept = await Promise.all(Array.from({ length: 100 }, (_, i) => log.ingest(arrival(conversation, String(i)))));
    const seqs = kept.map((each) => (each.kind === "appended" ? each.seq : 0)).toSorted((a, b) => a - b);
    expect(seqs).toEqual(Array.from({ length: 100 }, (_, i) => i + 2));
    const entries = await log.read(conversation, 0);
    expect(entries.map((entry) => entry.seq)).toEqual(Array.from({ length: 101 }, (_, i) => i + 1));
    expect(new Set(entries.slice(1).map((entry) => (entry.type === "message" ? entry.text : ""))).size).toBe(100);
  });

  it("reads a log of more than a thousand lines whole and in order", async () => {
    const { log } = door;
    const { conversation, epoch } = await takenOver(door);
    await log.append(
      conversation,
      epoch,
      "many",
      1000,
      Array.from({ length: 1500 }, (_, i) => note(String(i))),
    );
    const entries = await log.read(conversation, 0);
    expect(entries.map((entry) => entry.seq)).toEqual(Array.from({ length: 1502 }, (_, i) => i + 1));
  });

  it("appends a worker's entries under its epoch", async () => {
    const { log } = door;
    const { conversation, epoch } = await takenOver(door);
    const entries: NewEntry[] = [note("one"), { ...note("two"), parent: 3 }];
    const expected = entries.map((entry, i) => ({ ...entry, v: 1, seq: 3 + i, at: 2000, epoch }));
    expect(await log.append(conversation, epoch, "op", 2000, entries)).toEqual({ kind: "appended", entries: expected });
    expect(await log.read(conversation, 2)).toEqual(expected);
  });

  it("appends nothing under an epoch that was taken over", async () => {
    const { log } = door;
    const { conversation, epoch } = await takenOver(door);
    const newer = await log.takeover(conversation, await door.heldLock());
    expect(newer).toMatchObject({ kind: "taken", epoch: epoch + 1 });
    expect(await log.append(conversation, epoch, "late", 2000, [note("late")])).toEqual({ kind: "fenced" });
    expect(await log.settle(conversation, epoch, 2)).toBe("fenced");
    expect(await log.read(conversation, 2)).toEqual([]);
  });

  it("gives the same entries back for the same operation and adds nothing", async () => {
    const { log } = door;
    const { conversation, epoch } = await takenOver(door);
    const first = await log.append(conversation, epoch, "a", 2000, [note("a1"), note("a2")]);
    await log.ingest(arrival(conversation, "meanwhile"));
    await log.append(conversation, epoch, "b", 2001, [note("b")]);
    expect(await log.append(conversation, epoch, "a", 2002, [note("a1"), note("a2")])).toEqual(first);
    expect(await log.read(conversation, 2)).toHaveLength(4);
  });

  it("lets nobody take over whose lock is not held any more", async () => {
    const { log } = door;
    const { conversation, epoch } = await takenOver(door);
    expect(await log.takeover(conversation, await door.lostLock())).toEqual({ kind: "lost" });
    expect(await log.append(conversation, epoch, "op", 2000, [note("still mine")])).toMatchObject({ kind: "appended" });
  });

  it("counts takeovers until there is progress", async () => {
    const { log } = door;
    const { conversation } = await takenOver(door);
    const again = async () => await log.takeover(conversation, await door.heldLock());
    expect(await again()).toMatchObject({ takeovers: 2 });
    const third = await again();
    expect(third).toMatchObject({ takeovers: 3 });
    await log.append(conversation, third.kind === "taken" ? third.epoch : 0, "op", 2000, [note("progress")]);
    const fourth = await again();
    expect(fourth).toMatchObject({ takeovers: 1 });
    await log.settle(conversation, fourth.kind === "taken" ? fourth.epoch : 0, 3);
    expect(await again()).toMatchObject({ takeovers: 1 });
  });

  it("settles when nothing newer came in, as often as it is asked", async () => {
    const { log } = door;
    const { conversation, epoch } = await takenOver(door);
    expect(await log.settle(conversation, epoch, 2)).toBe("settled");
    expect(await log.settle(conversation, epoch, 2)).toBe("settled");
  });

  it("has more to do when an input that wakes came in meanwhile", async () => {
    const { log } = door;
    const { conversation, epoch } = await takenOver(door);
    await log.ingest(arrival(conversation, "wait, also this"));
    expect(await log.settle(conversation, epoch, 2)).toBe("more");
    expect(await log.settle(conversation, epoch, 3)).toBe("settled");
  });

  it("settles over an input that wakes nobody", async () => {
    const { log } = door;
    const { conversation, epoch } = await takenOver(door);
    await log.ingest(arrival(conversation, "just talking", { wakes: false }));
    expect(await log.settle(conversation, epoch, 2)).toBe("settled");
  });

  it("knows the newest stop", async () => {
    const { log } = door;
    const { conversation } = await takenOver(door);
    const stop = (event: string) => arrival(conversation, "", { event, entry: { type: "stop", event, by: ANNA } });
    expect(await log.stopSeq(conversation)).toBe(0);
    await log.ingest(stop(`${conversation}:1`));
    expect(await log.stopSeq(conversation)).toBe(3);
    await log.ingest(stop(`${conversation}:2`));
    expect(await log.stopSeq(conversation)).toBe(4);
  });

  it("hints at what came in until nobody listens", async () => {
    const { log } = door;
    const heard: string[] = [];
    const others: string[] = [];
    const end = await log.onHint((conversation) => heard.push(conversation));
    await log.onHint((conversation) => others.push(conversation));
    const [first, second] = [newThread(), newThread()];
    await log.ingest(arrival(first, "one"));
    await expect.poll(() => heard).toContain(first);
    await end();
    await log.ingest(arrival(second, "two"));
    await expect.poll(() => others).toContain(second);
    expect(heard).not.toContain(second);
  });
});
