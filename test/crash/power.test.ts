import { cpSync, rmSync } from "node:fs";
import { join } from "node:path";
import { Redis } from "ioredis";
import { afterAll, beforeAll, expect, test } from "vitest";
import { bash, say } from "../../src/model/script.ts";
import { type Corridor, openCorridor, type Said } from "../support/corridor.ts";
import { type RoleProcess, startRole } from "../support/crew.ts";
import { until } from "../support/redis.ts";
import { gather } from "./evidence.ts";
import { type Break, verify } from "./verifier.ts";

/**
 * The power of the whole machine fails. A Redis with `appendfsync everysec` then comes back as it was up to a second ago;
 * that is played by putting back what its files were. With `always` it comes back as it was, as after any SIGKILL.
 */

const rules = [
  { when: /go$/, steps: [() => bash("echo s.k1 >> fx.txt; sleep 1; echo e.k1 >> fx.txt"), () => say("went well")] },
  { when: /come$/, steps: [() => bash("echo s.k2 >> fx.txt; sleep 1; echo e.k2 >> fx.txt"), () => say("came")] },
  { when: /again$/, steps: [() => say("still here")] },
];

/** Where Redis keeps its log of writes. */
async function folderOf(deck: Corridor): Promise<string> {
  const redis = new Redis(deck.redis.url);
  const [, dir] = (await redis.config("GET", "dir")) as [string, string];
  redis.disconnect();
  return join(dir, "appendonlydir");
}

let deck: Corridor;
const crew: RoleProcess[] = [];
const saids: Said[] = [];

const start = async (): Promise<void> => void crew.push(...(await Promise.all([startRole(deck, "gateway"), startRole(deck, "worker")])));

async function allDie(): Promise<void> {
  await Promise.all([...crew.splice(0).map((role) => role.kill()), deck.redis.kill()]);
}

/** What is broken once nothing changes any more, but for what is expected. */
async function broken(expected: readonly Break[] = []): Promise<unknown[]> {
  let left: unknown[] = [];
  const isAtRest = async (): Promise<boolean> => {
    left = verify(await gather(deck, saids)).breaks.filter(({ kind }) => !expected.includes(kind));
    return left.length === 0;
  };
  await until("it is at rest", isAtRest, 60_000).catch(() => {}); // told by what is left
  return left;
}

beforeAll(async () => {
  deck = await openCorridor({ rules, start: false });
  deck.env["DECKHAND_CHANNELS"] = `${deck.stage.channel("C1")}=api`;
  await start();
});
afterAll(async () => {
  await Promise.all(crew.map((role) => role.kill()));
  await deck.close();
});

test("with `appendfsync always` nothing that was answered is missing after it", async () => {
  const said = await deck.mention("go");
  saids.push(said);
  await until("the command has begun", () => deck.files.has("fx.txt"), 30_000);
  const before = await said.entries();
  await allDie();
  await deck.redis.restart();
  expect((await said.entries()).slice(0, before.length)).toEqual(before);
  await start();
  await said.shows(/went well/, 60_000);
  expect(await broken()).toEqual([]);
});

test("with what a second of a power loss takes away, a thread may be told twice but is answered, and goes on", async () => {
  const requests = deck.model.requests.length;
  const said = await deck.mention("come");
  saids.push(said);
  await until("the model was asked", () => deck.model.requests.length > requests, 30_000);
  const [folder, old] = [await folderOf(deck), join(deck.env["DECKHAND_STATE"] ?? "", "..", "old")];
  cpSync(folder, old, { recursive: true });
  await until("the command has begun", () => deck.files.read("fx.txt").includes("s.k2"), 30_000);
  await allDie();
  rmSync(folder, { recursive: true });
  cpSync(old, folder, { recursive: true });
  await deck.redis.restart();
  await start();
  await said.shows(/came/, 60_000);
  await deck.say("and again", { thread: said.root });
  await said.shows(/still here/, 60_000);
  // What was in the lost second is not known any more: it may be told twice, a status that nobody knows of keeps its button,
  // and a command may have run twice.
  expect(await broken(["run twice", "duplicates", "dead buttons"])).toEqual([]);
});
