import { expect, test } from "vitest";
import { CHECKPOINTS, type Checkpoint } from "../../src/core/checkpoint.ts";
import type { At, Role } from "./keeper.ts";
import { converse, MANNERS } from "./play.ts";
import { openScene } from "./scene.ts";
import { table } from "./table.ts";

/** At every checkpoint a process is killed once, in the middle of everything else, on both platforms at once. */

const AT_GATEWAY: readonly Checkpoint[] = [
  ...(["kept", "decided", "post-taken", "before-send", "after-send", "after-sent", "after-edit", "before-posts-settle"] as const),
];
/** What comes by seldom kills the first time, the rest some times later: between two deaths something must go on. */
const SELDOM: readonly Checkpoint[] = [
  "decided",
  "expired",
  "before-approval-asked",
  "after-approval-asked",
  "before-final",
  "after-final",
];
const AT_ONCE = 5;
const { random } = Math;

test("a process that is killed at a checkpoint, each once, loses nothing and doubles nothing", async () => {
  const open = new Set<Checkpoint>(CHECKPOINTS);
  const arm = (role: Role, nth: number, armed: Checkpoint[]): At | null => {
    // One worker lives: a conversation whose worker dies again and again is set aside, which is not what is tried here.
    if (role === "worker" && nth === 0) return null;
    const left = [...open].filter((name) => name === "expired" || AT_GATEWAY.includes(name) === (role === "gateway"));
    const name = left.find((each) => !armed.includes(each)) ?? left[Math.floor(random() * left.length)];
    return name ? { name, nth: SELDOM.includes(name) ? 1 : 1 + Math.floor(random() * 3) } : null;
  };
  const scene = await openScene({
    ...{ count: { gateway: 2, worker: 3 }, arm, hit: (name) => void open.delete(name), random },
    // Some cards expire while people still think.
    env: (role, nth) => (role === "worker" && nth === 0 ? { DECKHAND_APPROVAL_HOURS: String(6 / 3600) } : {}),
  });
  const { people, keeper } = scene;
  let turn = 0;
  const talks = Array.from({ length: AT_ONCE }, async () => {
    while (!people.quiet.aborted) {
      const index = turn++;
      await converse(people, scene.where(index), MANNERS[index % MANNERS.length] ?? "approved");
    }
  });
  try {
    await scene.until("half of them were hit", () => open.size <= CHECKPOINTS.length / 2, 300_000);
    await keeper.kill("redis");
    await scene
      .until("every checkpoint was hit", () => open.size === 0, 400_000)
      .catch((thrown: unknown) => {
        throw new Error(`not hit: ${[...open].join()}`, { cause: thrown });
      });
    const hit = scene.ms();
    const found = await scene.rest(180_000);
    await Promise.all(talks);
    console.log(table(`Checkpoints: all hit after ${hit} ms, at rest after ${scene.ms()} ms`, found, keeper.kills));
    expect(found.breaks).toEqual([]);
    // What still waited for a person is decided now.
    for (const talk of people.talks) if (talk.manner === "silent") talk.manner = "approved";
    const after = await scene.rest(120_000, { allDecided: true });
    expect(after.breaks).toEqual([]);
    expect(after.counts).toMatchObject({ parked: 0 });
  } finally {
    await scene.close();
  }
}, 900_000);
