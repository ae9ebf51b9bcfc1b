import { cpSync, rmSync } from "node:fs";
import { join } from "node:path";
import { Redis } from "ioredis";
import { expect, test } from "vitest";
import { bash, say } from "../../src/model/script.ts";
import { type Corridor, openCorridor } from "../support/corridor.ts";
import { startRole } from "../support/crew.ts";
import { until } from "../support/redis.ts";
import { gather } from "./evidence.ts";
import { verify } from "./verifier.ts";

/**
 * The power of the whole machine fails. A Redis with `appendfsync everysec` then comes back as it was up to a second ago;
 * that is played by putting back what its files were. With `always` it comes back as it was, as after any SIGKILL.
 */

const rules = [
  { when: /go$/, steps: [() => bash("echo s.k1 >> fx.txt; sleep 1; echo e.k1 >> fx.txt"), () => say("went well")] },
  { when: /again$/, steps: [() => say("still here")] },
];

/** Where Redis keeps its log of writes. */
async function folderOf(deck: Corridor): Promise<string> {
  const redis = new Redis(deck.redis.url);
  const [, dir] = (await redis.config("GET", "dir")) as [string, string];
  redis.disconnect();
  return join(dir, "appendonlydir");
}

test("with what a second of a power loss takes away, a thread may be told twice but is answered, and goes on", async () => {
  const deck = await openCorridor({ rules, start: false });
  deck.env["DECKHAND_CHANNELS"] = `${deck.stage.channel("C1")}=api`;
  const start = async () => await Promise.all([startRole(deck, "gateway"), startRole(deck, "worker")]);
  const crew = await start();
  try {
    const said = await deck.mention("go");
    await until("the model was asked", () => deck.model.requests.length > 0, 30_000);
    const [folder, old] = [await folderOf(deck), join(deck.env["DECKHAND_STATE"] ?? "", "..", "old")];
    cpSync(folder, old, { recursive: true });
    await until("the command has begun", () => deck.files.has("fx.txt"), 30_000);
    await Promise.all([...crew.map((role) => role.kill()), deck.redis.kill()]);
    rmSync(folder, { recursive: true });
    cpSync(old, folder, { recursive: true });
    await deck.redis.restart();
    crew.splice(0, crew.length, ...(await start()));
    await said.shows(/went well/, 60_000);
    await deck.say("and again", { thread: said.root });
    await said.shows(/still here/, 60_000);
    const kinds = async (): Promise<string[]> => verify(await gather(deck, [said])).breaks.map(({ kind }) => kind);
    // What was in the lost second is not known any more: it may be told twice, and its command may have run twice.
    const bad = async (): Promise<string[]> => (await kinds()).filter((kind) => !["run twice", "duplicates"].includes(kind));
    await until("it is at rest", async () => (await bad()).length === 0, 60_000).catch(() => {}); // told below
    expect(await bad()).toEqual([]);
  } finally {
    await Promise.all(crew.map((role) => role.kill()));
    await deck.close();
  }
}, 180_000);

test("with `appendfsync always` nothing that was answered is missing after it", async () => {
  const deck = await openCorridor({ rules, start: false });
  deck.env["DECKHAND_CHANNELS"] = `${deck.stage.channel("C1")}=api`;
  const start = async () => await Promise.all([startRole(deck, "gateway"), startRole(deck, "worker")]);
  const crew = await start();
  try {
    const said = await deck.mention("go");
    await until("the command has begun", () => deck.files.has("fx.txt"), 30_000);
    const before = await said.entries();
    await Promise.all([...crew.map((role) => role.kill()), deck.redis.kill()]);
    await deck.redis.restart();
    expect((await said.entries()).slice(0, before.length)).toEqual(before);
    crew.splice(0, crew.length, ...(await start()));
    await said.shows(/went well/, 60_000);
    const breaks = async () => verify(await gather(deck, [said])).breaks;
    await until("it is at rest", async () => (await breaks()).length === 0, 60_000).catch(() => {}); // told below
    expect(await breaks()).toEqual([]);
  } finally {
    await Promise.all(crew.map((role) => role.kill()));
    await deck.close();
  }
}, 180_000);
