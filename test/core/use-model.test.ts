import { describe, expect, test } from "vitest";
import type { State } from "../../src/core/conversation.ts";
import { type Asked, asked } from "../support/asked.ts";
import { cem, openGuarded } from "../support/guarded.ts";
import { ann } from "../support/random-log.ts";

const NAMES = ["big", "small", "qwen3:8b"];

/** A thread where these may be chosen; `used` are the models that were asked, in order. */
function open(names = NAMES) {
  const used: string[] = [];
  const models = new Map(NAMES.map((name) => [name, noting(asked(name, `from ${name}`), used)]));
  const model = models.get("big") as Asked;
  const modelFor = (state: State) => models.get(state.model ?? "big") ?? model;
  const deck = openGuarded({ answers: () => "", models: names, hands: { model, modelFor } });
  const told = () => [...models.values()].flatMap(({ requests }) => requests).map(({ messages }) => JSON.stringify(messages));
  return { deck, used, told };
}

function noting(model: Asked, used: string[]): Asked {
  return {
    ...model,
    ask(request, options) {
      used.push(model.name ?? "");
      return model.ask(request, options);
    },
  };
}

describe("`use MODEL` at the beginning of a message", () => {
  test.each([
    ["use small: do it", "small"],
    ["Use SMALL, do it", "small"],
    ["use qwen3:8b do it", "qwen3:8b"],
    ["use qwen3:8b: do it", "qwen3:8b"],
    ["in api use small do it", "small"],
    [" use small\ndo it", "small"],
  ])("%j asks that model, from then on, and tells it nothing of it", async (text, name) => {
    const { deck, used, told } = open();
    await deck.say(text);
    await deck.work();
    await deck.say("once more");
    await deck.work();
    expect(used).toEqual([name, name]);
    expect(told().join()).toContain("Ann: do it");
    expect(told().join()).not.toMatch(/\buse\b/i);
  });

  test.each(["use tabs, not spaces", "used as it is", "use the small one", "please use small"])("%j is prose", async (text) => {
    const { deck, used, told } = open();
    await deck.say(text);
    await deck.work();
    expect([used, told()[0]]).toEqual([["big"], expect.stringContaining(text)]);
  });
});

describe("`use MODEL` as a whole message", () => {
  test("chooses and says so, wakes nobody, and is told to no model", async () => {
    const { deck, used, told } = open();
    expect(await deck.say("use small")).toEqual({ whisper: "From the next request on, this thread uses small." });
    expect(deck.rings).toEqual([]);
    await deck.say("do it");
    await deck.work();
    expect(used).toEqual(["small"]);
    expect(told().join()).not.toContain("use small");
  });

  test.each(["use other", "use other:", "use other: do it"])("%j, which is none, is refused with the list", async (text) => {
    const { deck } = open();
    expect(await deck.say(text)).toEqual({ whisper: 'There is no model "other" to choose here. You can use: big, small, qwen3:8b.' });
    expect(await deck.entries()).toEqual([]);
  });

  test("is for those who may ask alone", async () => {
    const { deck } = open();
    await deck.say("use small", { ...cem, key: "slack:U9" });
    expect(await deck.entries()).toEqual([]);
  });

  test("leaves a request open that waits for a decision, as it is no word about it", async () => {
    const { deck } = open();
    await deck.say("do it");
    await deck.say("use small", ann);
    expect((await deck.entries()).map(({ type }) => type)).toEqual(["opened", "message", "message"]);
  });
});

test("where there is one model only, all is prose", async () => {
  const { deck, told } = open(["big"]);
  await deck.say("use other");
  await deck.work();
  expect(told()[0]).toContain("use other");
});
