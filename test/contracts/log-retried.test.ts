import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { ANNA, BEN, LOGS, type LogDoor, arrival, asked, note, takenOver } from "./log-doors.ts";

describe.each(LOGS)("what comes after a crash, in the log in %s", (_name, open) => {
  let door: LogDoor;
  beforeAll(async () => {
    door = await open();
  });
  afterAll(async () => {
    await door.close();
  });

  it("counts takeovers from the beginning when an operator lets the conversation go on", async () => {
    const { log } = door;
    const { conversation } = await takenOver(door);
    const again = async () => await log.takeover(conversation, await door.heldLock());
    await again();
    expect(await again()).toMatchObject({ takeovers: 3 });
    await log.ingest(arrival(conversation, "", { entry: { type: "retried", by: ANNA } }));
    expect(await again()).toMatchObject({ takeovers: 1 });
  });

  it("leaves one alone that did not get on since it was taken over, when it is told to", async () => {
    const { log } = door;
    const { conversation, epoch } = await takenOver(door);
    const careful = async () => await log.takeover(conversation, await door.heldLock(), "unless-suspect");
    expect(await careful()).toEqual({ kind: "suspect" });
    expect(await log.append(conversation, epoch, "on", 1100, [note("on")])).toMatchObject({ kind: "appended" });
    expect(await careful()).toMatchObject({ kind: "taken", epoch: epoch + 1, takeovers: 1 });
  });

  it("gives what is in the log along with a takeover, all of it or its beginning", async () => {
    const { log } = door;
    const { conversation, epoch } = await takenOver(door);
    const again = async () => await log.takeover(conversation, await door.heldLock());
    expect(await again()).toMatchObject({ entries: await log.read(conversation, 0), whole: true });
    const taken = await again();
    if (taken.kind !== "taken") throw new Error("the lock was held");
    expect(taken.epoch).toBe(epoch + 2);
    await log.append(
      conversation,
      taken.epoch,
      "many",
      1100,
      Array.from({ length: 150 }, (_, index) => note(`${index}`)),
    );
    const long = await again();
    const all = await log.read(conversation, 0);
    expect(long).toMatchObject({ kind: "taken" });
    if (long.kind === "taken") expect([long.entries, long.whole]).toEqual([all.slice(0, long.entries.length), long.entries.length === 152]);
  });

  it("takes an approval that is asked and decided in one act", async () => {
    const { log } = door;
    const { conversation, epoch } = await takenOver(door);
    const approval = `${conversation}:both`;
    const decided = { type: "approval-decided", approval, call: "call00001", decision: "approved", by: BEN } as const;
    expect(await log.append(conversation, epoch, "both", 1100, [asked(approval), decided])).toMatchObject({
      entries: [
        { type: "approval-asked", seq: 3 },
        { type: "approval-decided", seq: 4, decision: "approved", by: BEN },
      ],
    });
    expect(await log.head(conversation)).not.toHaveProperty("approval");
    expect(await log.approvalsDue(9e12)).not.toContain(approval);
    expect(await log.decide(approval, 1200, { decision: "denied", by: ANNA })).toMatchObject({ kind: "already", entry: { seq: 4 } });
  });
});
