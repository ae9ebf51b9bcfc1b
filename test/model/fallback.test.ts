import { setTimeout } from "node:timers/promises";
import { expect, test } from "vitest";
import { openModels } from "../../src/app/models.ts";
import { readConfig } from "../../src/config.ts";
import { openaiModel } from "../../src/model/openai.ts";
import { openGuarded } from "../support/guarded.ts";
import { delta, finish, startFaultServer } from "./fault-server.ts";

test("when the service is not there, the fallback of deckhand.yaml answers over HTTP, with its own key, and the thread is told", async () => {
  const [first, spare] = [await startFaultServer(), await startFaultServer()];
  await first.close();
  let key: string | undefined;
  spare.next = () => ({ frames: [delta({ content: "the spare one answers" }), finish("stop"), "[DONE]"] });
  spare.heard = (headers) => (key = headers.authorization);
  const env = { OPENAI_BASE_URL: first.url, OPENAI_MODEL: "m", OPENAI_API_KEY: "key-of-the-first", SPARE_KEY: "key-of-the-spare" };
  const yaml = `models: {other: {model: qwen3, base_url: "${spare.url}", key: SPARE_KEY}}\nfallback: other\n`;
  const read = await readConfig(env, () => yaml);
  if ("problems" in read) throw new Error(read.problems.join("\n"));
  // No wait is longer than this, so that all tries are over at once.
  const clock = { now: () => 0, sleep: async () => await setTimeout(5) };
  const deck = openGuarded({ answers: () => "", hands: { ...openModels(read.config, openaiModel), clock } });

  await deck.say("do it");
  await deck.work();
  await spare.close();

  expect(await deck.last()).toMatchObject({ type: "final", text: "the spare one answers" });
  expect(await deck.posts()).toContainEqual(expect.stringMatching(/does not answer: nothing listens at .* I use another model/));
  expect(spare.bodies).toEqual([expect.objectContaining({ model: "qwen3" })]);
  expect(key).toBe("Bearer key-of-the-spare");
});
