import { mkdirSync, readdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, expect, it } from "vitest";
import { type Door, openDoor, STARTERS, TALK } from "../support/doors.ts";
import { until } from "../support/workspace.ts";

/** What an adversary once got through. */
let door: Door;
beforeAll(async () => {
  door = await openDoor(STARTERS[0] as "root" | "user");
});
afterAll(async () => {
  await door.leave();
  door.place.cleanup();
});

/** A folder of the host's that the run user could write if it were in reach. */
function folder(name: string): string {
  const path = join(door.place.root, name);
  mkdirSync(path);
  door.place.give(path);
  return path;
}

it("a link where a grant is to be mounted does not lead to a folder outside", async () => {
  const [victim, given] = [folder("victim"), folder("given")];
  writeFileSync(join(given, "file"), "given\n");
  // The mounts are made while the host's own files are still in reach, below /oldroot.
  await door.sh(`rm -rf ${given}; ln -s /oldroot${victim} ${given}`, { reach: "read" });
  await door.sh("true", { reach: "approved", grants: [`read=${given}/file`] });
  expect(readdirSync(victim)).toEqual([]);
});

it("nor one that is put where the workspace is to be mounted, while a command waits", async () => {
  const victim = folder("other");
  const { root } = door.place;
  let begun = false;
  const swap = `echo begun; sleep 1; mv ${root} ${root}.moved; ln -s /oldroot${victim} ${root}`;
  const first = door.sh(swap, { reach: "read", conversation: "swaps", onChunk: () => void (begun = true) });
  await until("the first has the workspace", () => begun);
  await Promise.all([first, door.sh("true", { reach: "approved", conversation: "swaps" })]);
  expect(readdirSync(victim)).toEqual([]);
});

it("folders that a command has closed to itself are removed with the rest of its conversation", async () => {
  await door.sh("touch /tmp/x ~/x; chmod 000 /tmp ~ /run/sess", { reach: "read" });
  const kept = () => readdirSync(join(door.place.stateDir, "c")).length;
  const before = kept();
  await door.dispose(TALK);
  expect(kept()).toBe(before - 1);
});

it.each(["-x", "--", "+x", "--version", "-c 'echo hi'"])("a command that begins like an option is a command: %s", async (command) => {
  expect(await door.sh(command, { reach: "read" })).toMatchObject({ how: "exited", exit: 127 });
});

it("an interrupt to the sandbox's first process does not change how a command ends", async () => {
  expect(await door.sh("kill -INT 1; exit 3", { reach: "read" })).toMatchObject({ how: "exited", exit: 3 });
});
