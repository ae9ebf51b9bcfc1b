import { readdirSync } from "node:fs";
import { afterAll, beforeAll, expect, it } from "vitest";
import type { Reach, Sandbox } from "../../src/core/sandbox.ts";
import { bwrapSandbox } from "../../src/sandbox/bwrap.ts";
import { childrenOf } from "../bench/workers.ts";
import { makeWorkspace, processesWith, type Shell, shellIn, type TestWorkspace, uniqueSleep, zombies } from "../support/workspace.ts";

const RUNS = 500;
const REACHES: Reach[] = ["read", "read", "read", "contained", "approved"];

let place: TestWorkspace;
let sandbox: Sandbox;
let sh: Shell;

beforeAll(() => {
  place = makeWorkspace();
  sandbox = bwrapSandbox({ stateDir: place.stateDir, runAs: null });
  sh = shellIn(sandbox, place.path);
});
afterAll(async () => {
  await sandbox.close();
  place.cleanup();
});

it(`${RUNS} runs leave no process, no zombie, no descriptor and no file outside of the state folder`, async () => {
  const sleep = uniqueSleep();
  const ways = [
    () => sh("true", { reach: "read" }),
    () => sh(`setsid ${sleep} & (nohup ${sleep} >/dev/null 2>&1 &); echo left`, { reach: "read" }),
    () => sh(`echo here; ${sleep}`, { reach: "read", timeoutMs: 20 }),
    (index: number) => sh(`echo ${index} > /tmp/note; exit 7`, { reach: REACHES[index % REACHES.length] as Reach }),
    () => stoppedSoon(`trap '' TERM; ${sleep} & ${sleep}`),
  ];
  // What is made once is there after the first of each kind.
  for (let index = 0; index < 25; index++) await ways[index % ways.length]?.(index);
  const before = standing();
  for (let index = 0; index < RUNS; index++) await ways[index % ways.length]?.(index);
  expect(processesWith(sleep)).toEqual([]);
  // Others of this machine have zombies too, for a moment.
  await expect.poll(standing, { timeout: 10_000 }).toEqual(before);
}, 600_000);

async function stoppedSoon(command: string): Promise<void> {
  const control = new AbortController();
  const running = sh(command, { reach: "read", signal: control.signal });
  setTimeout(() => control.abort(), 30);
  await running;
}

/** All that a run could leave behind, outside of the state folder. */
function standing(): object {
  const children = childrenOf(process.pid);
  return {
    children,
    grandchildren: children.flatMap(childrenOf),
    zombies: ["bwrap", "bash", "sh", "sleep", "flock", "setpriv"].flatMap(zombies).length,
    descriptors: [process.pid, ...children].map((pid) => readdirSync(`/proc/${pid}/fd`).length),
    files: readdirSync(place.root, { recursive: true, encoding: "utf8" }).filter((path) => !/^state(\/|$)/.test(path)),
  };
}
