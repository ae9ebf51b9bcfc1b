import { afterAll, beforeAll, expect, test } from "vitest";
import { bash } from "../../src/model/script.ts";
import { type Corridor, openCorridor } from "../support/corridor.ts";

/** Slack alone has guests. */

let deck: Corridor;

beforeAll(async () => {
  const approvers = "slack:U1,slack:U2,slack:*";
  deck = await openCorridor({
    rules: [{ when: /append/, steps: [() => bash("rm -f old; echo ran >> effect.txt")] }],
    env: { DECKHAND_APPROVERS: approvers },
  });
});

afterAll(() => deck.close());

const heard = (pattern: RegExp) => deck.stage.waitFor(() => deck.stage.whispers("U8").some((text) => pattern.test(text)));

test("a guest is refused although everybody else may ask", async () => {
  const said = await deck.mention("append a line", { user: "U8", channel: "C1" });
  await heard(/Guests and people from other organisations are not on the list/);
  expect(await said.entries()).toEqual([]);
});

test("a guest's press decides nothing although every member's does", async () => {
  const said = await deck.mention("append a line", { channel: "C2" });
  const card = await said.shows(/\[ Approve \]/);
  await deck.stage.press({ channel: "C2", root: said.root, ts: card.ts, action: "approve", user: "U8" });
  await heard(/only decide when they are listed by name/);
  expect((await said.entries()).at(-1)?.type).toBe("approval-asked");
});
