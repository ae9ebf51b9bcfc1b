import { beforeEach, describe, expect, test } from "vitest";
import { fold } from "../../src/core/conversation.ts";
import { next } from "../../src/core/next.ts";
import type { NewEntry } from "../../src/core/entry.ts";
import { abandon, retry } from "../../src/core/intake.ts";
import { redactor } from "../../src/core/redactor.ts";
import { render } from "../../src/core/render.ts";
import { traceLines, traceTree } from "../../src/core/trace.ts";
import { type Deck, asked, cem, judged, modelCalls, openDeck, thread } from "../support/interrupted-log.ts";
import { ann, bob } from "../support/random-log.ts";

const PARKED: NewEntry = { type: "failed", code: "CONVERSATION_PARKED", text: "set aside", answers: [], parked: true };

let deck: Deck;
beforeEach(async () => {
  deck = await openDeck();
});

async function shown(): Promise<string[]> {
  const { due } = render(await deck.entries(), { banner: null, redact: redactor([]) });
  return due.map(({ post }) =>
    post.blocks.map((b) => (b.kind === "buttons" ? b.buttons.map((x) => `[${x.label}]`).join("") : b.text)).join("\n"),
  );
}

const goOn = async () => next(fold(await deck.entries()));

describe("a parked conversation", () => {
  beforeEach(() => deck.add(PARKED));

  test("does nothing more, and its status says that it waits", async () => {
    expect(await goOn()).toBeNull();
    expect((await shown())[0]).toBe("Parked: this waits until whoever runs Deckhand lets it go on, or somebody stops it.\n[Stop]");
  });

  test("keeps what is said and pressed, and answers each with one line", async () => {
    await deck.say("are you there?");
    await deck.choose("again", cem);
    expect(await goOn()).toBeNull();
    const kept = (await shown()).filter((text) => text.includes("I keep this"));
    expect(kept).toEqual(["Ann", "Cem"].map((name) => `${name}, I keep this for when the work in this thread goes on.`));
  });

  test("goes on with all of it after `retry`", async () => {
    await deck.choose("again", cem);
    deck.rings.length = 0;
    expect(await retry(thread.key, deck.deps)).toBe("api");
    expect(deck.rings).toEqual([thread.key]);
    expect(await goOn()).toMatchObject({ do: "run-again" });
    expect((await shown())[0]).not.toContain("Parked");
  });

  test("is let go on once", async () => {
    const tries = await Promise.allSettled([retry(thread.key, deck.deps), retry(thread.key, deck.deps)]);
    expect(tries.map(({ status }) => status)).toContain("fulfilled");
    expect((await deck.types()).filter((type) => type === "retried")).toHaveLength(1);
    await expect(retry(thread.key, deck.deps)).rejects.toThrow(`CONVERSATION_GOES_ON: ${thread.key} is not parked`);
  });

  test("is parked anew when it comes to nothing again, and can be let go on again", async () => {
    await retry(thread.key, deck.deps);
    await deck.add(PARKED);
    expect(await goOn()).toBeNull();
    await retry(thread.key, deck.deps);
    expect(await goOn()).toEqual({ do: "ask-model" });
  });

  test("is ended by a stop, and is then a conversation like any other", async () => {
    await deck.say("stop");
    expect(await goOn()).toMatchObject({ do: "finish", reason: "stopped", answers: [2] });
    await deck.add({ type: "final", text: "Stopped", answers: [2], reason: "stopped" });
    await deck.say("hello");
    expect(await goOn()).toEqual({ do: "ask-model" });
  });

  test("is told by `deckhand trace` with its end, and so is what was chosen", async () => {
    await deck.choose("leave");
    deck.now += 60_000;
    await retry(thread.key, deck.deps);
    const lines = traceLines(traceTree(await deck.entries())).join("\n");
    expect(lines).toContain("  parked: 1970-01-01T00:16:40.000Z · set aside\n  retried by an operator after 60.0 s\n  not ended");
    expect(lines).toContain("      chosen: leave by Ann · 1970-01-01T00:16:40.000Z");
  });
});

test("`retry` of what there is not, or of what goes on, says so", async () => {
  await expect(retry("slack:T1:C1:9.9", deck.deps)).rejects.toThrow("BAD_CONVERSATION: There is no conversation slack:T1:C1:9.9");
  await expect(retry(thread.key, deck.deps)).rejects.toThrow("CONVERSATION_GOES_ON");
});

describe("no request is left dead:", () => {
  const closed = (decision: "cancelled" | "expired" | "superseded", by = ann): NewEntry => ({
    type: "approval-decided",
    approval: "ap-call00002",
    call: "call00002",
    decision,
    ...(decision === "expired" ? {} : { by }),
  });
  const DECKHAND = { ...ann, name: "Deckhand" };

  beforeEach(() => deck.add(modelCalls("call00002", 8), judged("call00002"), asked("call00002")));

  test.each<[string, () => Promise<unknown>, RegExp, RegExp]>([
    ["withdrawn", () => deck.say("no, list"), /^Not run: Ann wrote something new instead/, /^Ann wrote something new instead, so/],
    ["stopped", () => deck.say("stop"), /^Not run: Ann stopped the work/, /^This was cancelled when Ann stopped the work/],
    ["expired", () => deck.add(closed("expired")), /^Expired without an answer/, /has expired; .* Ask again to get a new one/],
    [
      "parked",
      () => deck.add(closed("cancelled", DECKHAND), PARKED),
      /^Not run: Deckhand stopped the work/,
      /when Deckhand stopped the work/,
    ],
    [
      "in a thread that cannot be reached",
      () => abandon(thread.key, "is_archived", deck.deps),
      /^Not run: Deckhand \(the thread cannot be reached\): is_archived stopped/,
      /cancelled when Deckhand \(the thread cannot be reached\)/,
    ],
  ])("one that is %s has no buttons, says what happened, and answers a press that comes late", async (_how, act, line, whisper) => {
    await act();
    const card = (await shown()).findLast((text) => text.includes("Why I ask")) ?? "";
    expect(card).not.toContain("[");
    expect(card.split("\n").at(-1)).toMatch(line);
    expect((await deck.press()).whisper).toMatch(whisper);
  });

  test("one past its time is expired by the press itself", async () => {
    await deck.add(
      { type: "approval-decided", approval: "ap-call00002", call: "call00002", decision: "cancelled" },
      asked("call00003", { deadline: 5 }),
    );
    expect((await deck.press()).whisper).toMatch(/has expired; the command was not run\. Ask again/);
  });

  test("one whose workspace is not set up any more answers what to do", async () => {
    deck.deps.access = { ...deck.deps.access, workspaces: [] };
    expect((await deck.press()).whisper).toMatch(
      /"api", which is not set up .* Nothing was changed, and nothing runs here\. .* start a new thread\.$/,
    );
  });

  test("one that nobody may decide any more says who can mend that", async () => {
    deck.deps.access = { ...deck.deps.access, approvers: [] };
    expect((await deck.press(bob)).whisper).toMatch(/whoever runs Deckhand has to set DECKHAND_APPROVERS/);
  });
});
