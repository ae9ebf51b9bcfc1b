import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { type Corridor, openCorridor } from "../support/corridor.ts";
import { type TestWorkspace, makeWorkspace } from "../support/workspace.ts";
import { DECKHAND, type Running, deckhand, start } from "./kit.ts";

let deck: Corridor;
let elsewhere: TestWorkspace;
let running: Running[];
beforeEach(async () => {
  elsewhere = makeWorkspace();
  running = [];
  deck = await openCorridor({ rules: [], start: false });
});
afterEach(async () => {
  for (const each of running) each.kill("SIGKILL");
  await Promise.all(running.map((each) => each.ended));
  await deck.close();
  elsewhere.cleanup();
});

async function worker(): Promise<void> {
  const child = start([DECKHAND, "start", "--role", "worker"], { env: deck.env });
  running.push(child);
  await child.says(/deckhand is ready/);
}

const refused = (env: Record<string, string>) => deckhand(["start", "--role", "worker"], { env: { ...deck.env, ...env } });

test("two workers of one host serve a workspace; a worker of another host is not started", async () => {
  await worker();
  await worker();
  const { code, stderr, stdout } = await refused({ DECKHAND_STATE: elsewhere.stateDir, DECKHAND_WORKSPACES: `api=${elsewhere.path}` });
  expect(stderr).toMatch(/Another host has the workspace api: \S+, since .* UTC\. .*Stop the workers there.*\(WORKSPACE_CLAIMED\)/);
  expect({ code, stdout }).toEqual({ code: 3, stdout: "" });
});

test("a host whose worker was killed starts again at once", async () => {
  await worker();
  running[0]?.kill("SIGKILL");
  await running[0]?.ended;
  await worker();
});

test("workspaces that share files are not started, by whatever way they share them", async () => {
  const inner = join(deck.workspace, "web");
  mkdirSync(inner);
  const { code, stderr } = await refused({ DECKHAND_WORKSPACES: `api=${deck.workspace},web=${inner}` });
  expect(stderr).toMatch(/"web" lies inside "api"|it (?:lies in|contains) the workspace/);
  expect(code).toBe(3);
});
