import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as wait } from "node:timers/promises";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { RunSpec } from "../../src/core/sandbox.ts";
import { type Door, openDoor, STARTERS } from "../support/doors.ts";
import { makeWorkspace, processesWith, sparesOf, type TestWorkspace, uniqueSleep, until } from "../support/workspace.ts";

/** What a command does when its worker is killed; `mark` is in the words of each of its processes. */
const KINDS: Record<string, (mark: string) => string> = {
  "it sleeps": (mark) => `echo begun; ${mark}`,
  "it has a tree of processes": (mark) => `(bash -c "${mark}; :" & (${mark} & bash -c "(${mark}; :); :"; :); :) & echo begun; wait`,
  "it has daemons in sessions of their own": (mark) =>
    `(trap "" HUP TERM; setsid nohup ${mark} >/dev/null 2>&1 & setsid bash -c "${mark} & disown; ${mark}" &); echo begun; ${mark}`,
  "it floods": (mark) => `: ${mark}; echo begun; yes`,
  "it is a fork bomb": (mark) => `: ${mark}; echo begun; bomb() { bomb | bomb & }; bomb; ${mark}`,
  "it is stopped": (mark) => `${mark} & echo begun; kill -STOP $! $$; ${mark}`,
  "it has closed its output": (mark) => `echo begun; sleep 0.1; exec >&- 2>&-; ${mark}`,
  "it holds its first process": (mark) => `echo begun; perl -e 'syscall(101, 16, 1, 0, 0); sleep 1 while 1; # ${mark}'`,
};
const WAITS = "it waits for the workspace";

describe.each(STARTERS)("a worker started by %s that is killed: nothing is left of a command", (starter) => {
  let place: TestWorkspace;
  const marks = Object.fromEntries([...Object.keys(KINDS), WAITS].map((kind) => [kind, uniqueSleep()]));
  let door: Door;

  /** Every command in a folder of its own, so that none waits for another. */
  function where(kind: string): Pick<RunSpec, "workspace" | "cwd" | "conversation"> {
    const workspace = join(place.root, `ws-${Object.keys(KINDS).indexOf(kind)}`);
    return { workspace, cwd: workspace, conversation: kind };
  }

  beforeAll(async () => {
    place = makeWorkspace();
    for (const kind of Object.keys(KINDS)) {
      mkdirSync(where(kind).workspace);
      place.give(where(kind).workspace);
    }
    door = await openDoor(starter, { floodBytes: Number.MAX_SAFE_INTEGER }, place);
    const gone: Promise<unknown>[] = [];
    for (const [kind, command] of Object.entries(KINDS)) {
      await new Promise<void>((begun) => {
        const running = door.sh(command(marks[kind] as string), { ...where(kind), reach: "approved", onChunk: () => begun() });
        gone.push(
          running.then(
            () => begun(),
            () => begun(),
          ),
        );
      });
    }
    gone.push(door.sh(`: ${marks[WAITS]}`, { ...where("it sleeps"), reach: "read", conversation: "waits" }).catch(() => {}));
    await until("one waits", () => sparesOf(place.stateDir).length > 0);
    door.worker.kill("SIGKILL");
    await Promise.all(gone);
  });
  afterAll(() => place.cleanup());

  it.each([...Object.keys(KINDS), WAITS])("when %s", async (kind) => {
    await until("no process of the command is left", () => processesWith(marks[kind] as string).length === 0);
  });

  it("nor of the runner, and the workspaces are free", async () => {
    await until("the runner is gone", () => processesWith(place.stateDir).length === 0);
    const next = await openDoor(starter, {}, place);
    for (const kind of Object.keys(KINDS))
      expect(await next.sh("echo free", { ...where(kind), reach: "read" })).toMatchObject({ output: { text: "free\n" } });
    await next.leave();
  });

  it("whatever the moment", async () => {
    let at = await openDoor(starter, {}, place);
    for (let moment = 0; moment < 5; moment++) {
      const mark = uniqueSleep();
      const running = at.sh(mark, { reach: moment < 3 ? "read" : "approved" }).catch(() => {});
      await wait(moment * 15);
      at.worker.kill("SIGKILL");
      await running;
      at = await openDoor(starter, {}, place);
      // The first one starts its runner when it is asked, the next one has it.
      if (moment % 2 === 1) expect(await at.sh("echo free")).toMatchObject({ output: { text: "free\n" } });
      await until("no process of the command is left", () => processesWith(mark).length === 0);
    }
    await at.leave();
    expect(processesWith(place.stateDir)).toEqual([]);
  });
});
