import { expect, it } from "vitest";
import { behindEachDoor, openDoor } from "../../support/doors.ts";
import { noZombies, processesWith, uniqueSleep, zombies } from "../../support/workspace.ts";

/** Fills its sandbox with processes and says how many it got. */
const FILL = `perl -e 'while ($n < 400) { $p = fork; last unless defined $p; if (!$p) { sleep 20; exit } $n++ } print $n; sleep 1'`;

behindEachDoor((door) => {
  it("46 a process left in the background does not hold the command up, and ends with it", async () => {
    const sleep = uniqueSleep();
    expect(await door().sh(`${sleep} & echo done`)).toMatchObject({ how: "exited", exit: 0, output: { text: "done\n" } });
    expect(processesWith(sleep)).toEqual([]);
  });

  it.each([
    ["47 a process in a session of its own ends with the command", (sleep: string) => `setsid ${sleep} & echo done`],
    ["47 a process without output, hung up, twice removed, too", (sleep: string) => `(setsid nohup ${sleep} >/dev/null 2>&1 &); echo done`],
    ["47 one that is deaf to all signals, too", (sleep: string) => `(trap "" TERM INT HUP QUIT USR1; setsid ${sleep} &) ; echo done`],
  ])("%s", async (_, command) => {
    const sleep = uniqueSleep();
    expect(await door().sh(command(sleep), { reach: "read" })).toMatchObject({ how: "exited", exit: 0, output: { text: "done\n" } });
    expect(processesWith(sleep)).toEqual([]);
  });

  it("48 a loop that is deaf to signals ends at its time", async () => {
    const sleep = uniqueSleep();
    const result = await door().sh(`trap "" TERM INT HUP; while :; do ${sleep}; done`, { timeoutMs: 400, reach: "read" });
    expect(result).toMatchObject({ how: "timeout", exit: null });
    expect(result.ms).toBeGreaterThanOrEqual(400);
    expect(result.ms).toBeLessThan(10_000);
    expect(processesWith(sleep)).toEqual([]);
  });

  it("49 a fork bomb ends at its time and leaves nothing", async () => {
    const mark = uniqueSleep();
    const result = await door().sh(`: ${mark}; bomb() { bomb | bomb & }; bomb; ${mark}`, { timeoutMs: 800 });
    expect(result.how).toBe("timeout");
    expect(processesWith(mark)).toEqual([]);
  });

  it("49 each sandbox has its processes to itself", async () => {
    const other = await openDoor(door().starter);
    const results = await Promise.all([door().sh(FILL, { reach: "read" }), other.sh(FILL, { reach: "read" })]);
    for (const { output } of results) {
      expect(Number(output.text)).toBeGreaterThan(240);
      expect(Number(output.text)).toBeLessThan(256);
    }
    await other.leave();
    other.place.cleanup();
  });

  it("51 a command that is stopped ends at once, with all that it started", async () => {
    const sleep = uniqueSleep();
    const stop = new AbortController();
    const command = `trap "" TERM; setsid ${sleep} & echo begun; ${sleep}`;
    const result = await door().sh(command, { signal: stop.signal, onChunk: () => stop.abort() });
    expect(result).toMatchObject({ how: "cancelled", exit: null, output: { text: "begun\n" } });
    expect(processesWith(sleep)).toEqual([]);
  });

  it("52 ten commands leave no zombie", async () => {
    const known = zombies("bwrap");
    for (let run = 0; run < 10; run++) await door().sh(run % 3 === 0 ? "sleep 9 & true" : "true", { reach: "read" });
    await noZombies("bwrap", known);
  });
});
