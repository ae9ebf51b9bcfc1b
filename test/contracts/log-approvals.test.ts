import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { ANNA, BEN, LOGS, type LogDoor, arrival, asked, takenOver } from "./log-doors.ts";

let approvals = 0;

describe.each(LOGS)("approvals in the log in %s", (_name, open) => {
  let door: LogDoor;
  beforeAll(async () => {
    door = await open();
  });
  afterAll(async () => {
    await door.close();
  });

  /** A conversation that waits for a decision on the approval in entry 3. */
  async function waiting(): Promise<{ conversation: string; epoch: number; approval: string }> {
    approvals += 1;
    const approval = `approval-${approvals}`;
    const taken = await takenOver(door);
    await door.log.append(taken.conversation, taken.epoch, "ask", 1100, [asked(approval)]);
    await door.log.settle(taken.conversation, taken.epoch, 3);
    return { ...taken, approval };
  }

  it("an asked approval is open and known by its id", async () => {
    const { conversation, approval } = await waiting();
    expect(await door.log.head(conversation)).toMatchObject({ seq: 3, approval });
    const [entry] = await door.log.read(conversation, 2);
    const place = { conversation, workspace: "w", channel: "slack:C1" };
    expect(await door.log.requestOf(approval)).toEqual({ ...place, asked: entry });
    expect(await door.log.requestOf("never heard of")).toBeNull();
  });

  it("a decision is an entry, closes the approval and wakes", async () => {
    const { log } = door;
    const { conversation, epoch, approval } = await waiting();
    const decided = await log.decide(approval, 1200, { decision: "denied", by: BEN, reason: "not on a Friday" });
    const entry = { type: "approval-decided", approval, call: "call00001", decision: "denied", by: BEN, reason: "not on a Friday" };
    expect(decided).toEqual({ kind: "won", entry: { ...entry, parent: 3, v: 1, seq: 4, at: 1200, epoch: 0 } });
    expect((await log.read(conversation, 3))[0]).toEqual(decided.kind === "won" ? decided.entry : null);
    expect(await log.head(conversation)).toEqual({ seq: 4, workspace: "w", channel: "slack:C1" });
    expect(await log.settle(conversation, epoch, 3)).toBe("more");
    expect(await log.dirtySince(1200)).toContainEqual({ conversation, workspace: "w" });
  });

  it("of many presses at once one wins, and all others learn what stands", async () => {
    const { log } = door;
    const { conversation, approval } = await waiting();
    const press = (i: number) => log.decide(approval, 1200 + i, { decision: i % 2 ? "approved" : "denied", by: i % 2 ? ANNA : BEN });
    const decided = await Promise.all(Array.from({ length: 20 }, (_, i) => press(i)));
    expect(decided.map(({ kind }) => kind).filter((kind) => kind === "won")).toHaveLength(1);
    expect(new Set(decided.map((each) => JSON.stringify(each.kind === "unknown" ? null : each.entry))).size).toBe(1);
    expect(await log.read(conversation, 3)).toHaveLength(1);
  });

  it("a press after the expiry learns that it has expired", async () => {
    const { log } = door;
    const { approval } = await waiting();
    await log.decide(approval, 5000, { decision: "expired" });
    expect(await log.decide(approval, 5001, { decision: "approved", by: BEN })).toMatchObject({
      kind: "already",
      entry: { decision: "expired" },
    });
  });

  it("a decision on something never asked is unknown", async () => {
    expect(await door.log.decide("never heard of", 1200, { decision: "approved", by: BEN })).toEqual({ kind: "unknown" });
  });

  it("the requester's next message supersedes it in the same act", async () => {
    const { log } = door;
    const { conversation, epoch, approval } = await waiting();
    const kept = await log.ingest(arrival(conversation, "no, do this", { supersedes: ANNA, at: 1300 }));
    expect(kept).toEqual({ kind: "appended", seq: 4, workspace: "w", superseded: approval });
    expect(await log.read(conversation, 3)).toMatchObject([
      { type: "message", seq: 4 },
      { type: "approval-decided", seq: 5, at: 1300, epoch: 0, parent: 3, approval, call: "call00001", decision: "superseded", by: ANNA },
    ]);
    expect(await log.head(conversation)).not.toHaveProperty("approval");
    expect(await log.decide(approval, 1400, { decision: "approved", by: BEN })).toMatchObject({
      kind: "already",
      entry: { decision: "superseded", seq: 5 },
    });
    expect(await log.settle(conversation, epoch, 4)).toBe("more");
    expect(await log.approvalsDue(9999)).not.toContain(approval);
  });

  it("somebody else's message leaves it open", async () => {
    const { log } = door;
    const { conversation, approval } = await waiting();
    const kept = await log.ingest(arrival(conversation, "careful", { supersedes: BEN }));
    expect(kept).toEqual({ kind: "appended", seq: 4, workspace: "w" });
    expect(await log.head(conversation)).toMatchObject({ approval });
  });

  it("a stop cancels it in the same act, whoever asked for it", async () => {
    const { log } = door;
    const { conversation, approval } = await waiting();
    await log.ingest(arrival(conversation, "stop", { cancels: BEN, at: 1300 }));
    expect((await log.read(conversation, 4))[0]).toMatchObject({ decision: "cancelled", by: BEN, approval, at: 1300 });
    expect(await log.decide(approval, 1400, { decision: "approved", by: ANNA })).toMatchObject({ kind: "already" });
    expect((await log.head(conversation))?.approval).toBeUndefined();
  });

  it("a message supersedes nothing when nothing waits", async () => {
    const { conversation } = await takenOver(door);
    expect(await door.log.ingest(arrival(conversation, "more", { supersedes: ANNA }))).toEqual({
      kind: "appended",
      seq: 3,
      workspace: "w",
    });
  });

  it("a worker can close it too", async () => {
    const { log } = door;
    const { conversation, epoch, approval } = await waiting();
    await log.append(conversation, epoch, "close", 1400, [
      { type: "approval-decided", approval, call: "call00001", decision: "cancelled" },
    ]);
    expect(await log.head(conversation)).not.toHaveProperty("approval");
    expect(await log.decide(approval, 1500, { decision: "approved", by: BEN })).toMatchObject({
      kind: "already",
      entry: { seq: 4, epoch, decision: "cancelled" },
    });
  });

  it("a worker that comes too late with a decision adds none", async () => {
    const { log } = door;
    const { conversation, epoch, approval } = await waiting();
    await log.decide(approval, 1300, { decision: "approved", by: BEN });
    const late = [{ type: "approval-decided", approval, call: "call00001", decision: "cancelled" } as const];
    expect(await log.append(conversation, epoch, "late", 1400, late)).toEqual({ kind: "appended", entries: [] });
    expect(await log.read(conversation, 3)).toMatchObject([{ decision: "approved" }]);
  });

  it("a second approval can be asked after the first was decided", async () => {
    const { log } = door;
    const { conversation, epoch, approval } = await waiting();
    await log.decide(approval, 1300, { decision: "approved", by: BEN });
    await log.append(conversation, epoch, "again", 1400, [asked(`${approval}-b`, { deadline: 6000 })]);
    expect(await log.head(conversation)).toMatchObject({ approval: `${approval}-b` });
    expect(await log.decide(approval, 1500, { decision: "denied", by: BEN })).toMatchObject({
      kind: "already",
      entry: { decision: "approved" },
    });
    expect(await log.head(conversation)).toMatchObject({ approval: `${approval}-b` });
  });

  it("is due from its deadline until it is decided", async () => {
    const { log } = door;
    const { approval } = await waiting();
    expect(await log.approvalsDue(4999)).not.toContain(approval);
    expect(await log.approvalsDue(5000)).toContain(approval);
    await log.decide(approval, 5000, { decision: "expired" });
    expect(await log.approvalsDue(5000)).not.toContain(approval);
  });
});
