import { Redis } from "ioredis";
import { expect, test } from "vitest";
import { say } from "../../src/model/script.ts";
import { openCorridor } from "../support/corridor.ts";

test("the doorbell's marks of jobs that are gone keep nobody from being heard and answered", async () => {
  const rules = [
    { when: /hello$/, steps: [() => say("hello back")] },
    { when: /again$/, steps: [() => say("still here")] },
  ];
  const deck = await openCorridor({ rules });
  const redis = new Redis(deck.redis.url);
  try {
    const said = await deck.mention("hello");
    await said.shows(/hello back/);
    await said.shows(/^Done/);
    for (const queue of ["wake-api", "post"]) await redis.set(`{dh}:${queue}:de:${said.conversation}`, "4711");
    await deck.say("and again", { thread: said.root });
    await said.shows(/still here/, 60_000);
    expect((await said.entries()).filter(({ type }) => type === "final")).toHaveLength(2);
  } finally {
    redis.disconnect();
    await deck.close();
  }
}, 90_000);
