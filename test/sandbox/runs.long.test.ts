import { expect, it } from "vitest";
import { behindEachDoor } from "../support/doors.ts";
import { manyRuns } from "../support/many-runs.ts";

behindEachDoor((door) => {
  it("500 commands leave no process, no zombie, no descriptor, and no file outside of the state folder, which does not grow", async () => {
    await manyRuns(door(), 500);
    expect(door().worker.exitCode).toBeNull();
  }, 600_000);
});
