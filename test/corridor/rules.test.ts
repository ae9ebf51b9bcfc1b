import { Redis } from "ioredis";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { isEntry } from "../../src/core/entry.ts";
import { bash, say } from "../../src/model/script.ts";
import { type Corridor, type Said, openCorridor } from "../support/corridor.ts";
import { startRole } from "../support/crew.ts";
import { until } from "../support/redis.ts";
import { PLATFORMS } from "../support/stage.ts";
import { deckhand } from "../cli/kit.ts";

const NAMES = ["a", "b", "c", "d", "e", "f"];

/** Each has a rule of its own: `remove a`, `remove b` ... */
const SCRIPT = [
  { when: /remove everything/, steps: [() => bash("rm -f *.none"), () => say("never")] },
  ...NAMES.map((name) => ({
    when: new RegExp(`also remove ${name}`),
    steps: [() => bash(`rm -f ${name} other`), ({ lastResult }: { lastResult: string }) => say(`Result of ${name} too: ${lastResult}`)],
  })),
  ...NAMES.map((name) => ({
    when: new RegExp(`remove ${name}$`),
    steps: [() => bash(`rm -f ${name}`), ({ lastResult }: { lastResult: string }) => say(`Result of ${name}: ${lastResult}`)],
  })),
];

describe.each(PLATFORMS)("a rule by a button on %s", (platform) => {
  let deck: Corridor;

  beforeAll(async () => {
    deck = await openCorridor({ platform, rules: SCRIPT });
  });
  afterAll(() => deck.close());

  const press = (said: Said, ts: string, action: string, user = "U1") =>
    deck.stage.press({ channel: said.channel, root: said.root, ts, action, user });
  const whispered = (user: string, pattern: RegExp) =>
    deck.stage.waitFor(() => deck.stage.whispers(user).some((text) => pattern.test(text)));
  const stored = async (): Promise<string[]> => (await deck.log.rules.learned()).map(({ name }) => name);
  const types = async (said: Said): Promise<string[]> => (await said.entries()).map(({ type }) => type);

  /** Asks, presses "always" and waits for the rule on the card. */
  async function preview(name: string, channel: string): Promise<{ said: Said; card: string }> {
    const said = await deck.mention(`remove ${name}`, { channel });
    const { ts: card } = await said.shows(/\[ Approve \] +\[ Deny \] +\[ Always … \]/);
    await press(said, card, "always");
    await said.shows(/\[ Store and run \] +\[ Only this time \] +\[ Deny \]/);
    return { said, card };
  }

  test("is shown whole before it is stored, then runs the same command by itself, and asks again once it is revoked", async () => {
    const other = await deck.mention("also remove a", { channel: "C1" });
    await other.press("deny");
    await other.shows(/Result of a too/);
    const { said, card } = await preview("a", "C2");
    expect(said.text({ ts: card })).toMatch(
      new RegExp(
        [
          "This rule would be stored: in workspace api, a command that begins with",
          " {2}\\| rm -f a",
          "runs without asking, whoever asks for it, until \\d{4}-\\d\\d-\\d\\d \\d\\d:\\d\\d UTC \\(30 days\\)\\.",
          "It gets nothing beyond the sandbox\\.",
          "Of the last \\d+ commands here it would have let through 1: rm -f a other\\.",
          "It is stored in the name of whoever presses; .*deckhand rules revoke.* takes it back\\. Nothing is stored yet\\.",
        ].join("\n"),
      ),
    );
    expect(await stored()).toEqual([]);
    expect(await types(said)).not.toContain("approval-decided");

    await press(said, card, "store", "U2");
    await said.shows(/Result of a: \(no output\)/);
    await whispered("U2", /Approved, and the rule "api: rm -f a" is stored\. It runs now\./);
    await deck.stage.waitFor(() =>
      /Approved by Bob · .* UTC\nFrom now on it runs without asking, by the rule/.test(said.text({ ts: card })),
    );
    expect(said.text({ ts: card })).not.toContain("[ ");
    expect(await deck.log.rules.learned()).toMatchObject([
      {
        name: "api: rm -f a",
        pattern: ["rm", "-f", "a"],
        decision: "auto",
        scope: { workspace: "api" },
        owner: expect.stringMatching(/^Bob \(/),
      },
    ]);

    const again = await deck.mention("remove a", { channel: "C3" });
    await again.shows(/Result of a: \(no output\)/);
    expect(await types(again)).not.toContain("approval-asked");
    expect((await again.entries()).find((e) => isEntry(e, "judged"))).toMatchObject({ verdict: "auto", rule: "api: rm -f a" });
    await until("the hit is counted", async () => (await deck.log.rules.hits()).get("api: rm -f a")?.count === 1);

    expect(await deckhand(["rules", "revoke", "api: rm -f a"], { env: deck.env })).toMatchObject({
      code: 0,
      stdout: "Revoked: api: rm -f a\n",
    });
    const last = await deck.mention("remove a", { channel: "C4" });
    await last.press("deny");
    await last.shows(/Result of a: Not run/);
  });

  test("is not stored by who presses Only this time or Deny", async () => {
    const once = await preview("b", "C5");
    await press(once.said, once.card, "approve");
    await once.said.shows(/Result of b: \(no output\)/);
    const never = await preview("b", "C6");
    await press(never.said, never.card, "deny");
    await never.said.shows(/Result of b: Not run: Ann denied it/);
    expect(await stored()).not.toContain("api: rm -f b");
  });

  test("is neither shown nor stored by somebody who may not", async () => {
    const said = await deck.mention("remove c", { channel: "C7" });
    const { ts } = await said.shows(/\[ Always … \]/);
    await press(said, ts, "always", "U3");
    await whispered("U3", /You are not on the list of people who may decide this/);
    expect(await types(said)).not.toContain("choice");
    await press(said, ts, "always");
    await said.shows(/\[ Store and run \]/);
    const before = deck.stage.whispers("U3").length;
    await press(said, ts, "store", "U3");
    await deck.stage.waitFor(() => deck.stage.whispers("U3").length > before);
    expect([await stored(), (await types(said)).includes("approval-decided")]).toEqual([
      expect.not.arrayContaining(["api: rm -f c"]),
      false,
    ]);
    await press(said, ts, "deny");
    await said.shows(/Result of c: Not run/);
  });

  test("asks again when it has expired", async () => {
    const { said, card } = await preview("d", "C8");
    await press(said, card, "store");
    await said.shows(/Result of d: \(no output\)/);
    const redis = new Redis(deck.redis.url);
    const rule = JSON.parse((await redis.hget("{dh}:rules", "api: rm -f d")) ?? "") as object;
    await redis.hset("{dh}:rules", "api: rm -f d", JSON.stringify({ ...rule, expires: Date.now() - 1 }));
    await redis.quit();
    const later = await deck.mention("remove d", { channel: "C9" });
    await later.press("approve");
    await later.shows(/Result of d: \(no output\)/);
  });

  test("that comes meanwhile voids what was approved under others", async () => {
    const waits = await deck.mention("remove e", { channel: "C10" });
    await waits.shows(/\[ Always … \]/);
    const { said, card } = await preview("f", "C11");
    await press(said, card, "store");
    await said.shows(/Result of f: \(no output\)/);
    await waits.press("approve");
    await waits.shows(/Result of e: Not run: the circumstances changed after it was judged or approved/);
  });

  test("is not offered where the words do not say what is done", async () => {
    const said = await deck.mention("remove everything", { channel: "C12" });
    const { text } = await said.shows(/\[ Approve \]/);
    expect(text).not.toContain("Always");
    await said.press("deny");
  });
});

test.each(PLATFORMS)("the rule on a card survives a restart before it is stored: %s", async (platform) => {
  const deck = await openCorridor({ platform, rules: SCRIPT, start: false });
  try {
    const first = await startRole(deck, "all");
    const said = await deck.mention("remove a");
    const { ts } = await said.shows(/\[ Always … \]/);
    await deck.stage.press({ channel: "C1", root: said.root, ts, action: "always", user: "U1" });
    await said.shows(/\[ Store and run \]/);
    await first.kill();
    const second = await startRole(deck, "all");
    await deck.stage.waitFor(() => deck.stage.isHeard());
    await deck.stage.press({ channel: "C1", root: said.root, ts, action: "store", user: "U1" });
    await said.shows(/Result of a: \(no output\)/);
    expect((await deck.log.rules.learned()).map(({ name }) => name)).toEqual(["api: rm -f a"]);
    await second.end();
  } finally {
    await deck.close();
  }
});
