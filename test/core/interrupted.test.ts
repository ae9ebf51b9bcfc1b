import { beforeEach, describe, expect, test } from "vitest";
import { fold } from "../../src/core/conversation.ts";
import { next } from "../../src/core/next.ts";
import type { Entry, NewEntry } from "../../src/core/entry.ts";
import { callAgain } from "../../src/core/interrupted.ts";
import { redactor } from "../../src/core/redactor.ts";
import { render } from "../../src/core/render.ts";
import { type Deck, INTERRUPTED, asked, cem, interrupted, judged, modelCalls, openDeck, thread } from "../support/interrupted-log.ts";
import { ann, bob } from "../support/random-log.ts";
import { toMessages } from "../support/told.ts";

const final = (...answers: number[]) => ({ type: "final", text: "it was interrupted", answers, reason: "answer" }) as const;
const HOURS_72 = 72 * 3_600_000;

let deck: Deck;
beforeEach(async () => {
  deck = await openDeck();
});

async function postOf(seq: number): Promise<string> {
  const { due } = render(await deck.entries(), { banner: null, redact: redactor([]) });
  const post = due.findLast((each) => each.post.key === `run:${seq}`)?.post;
  return (post?.blocks ?? [])
    .map((b) => (b.kind === "buttons" ? b.buttons.map((x) => `[${x.label}|${x.value}]`).join(" ") : b.text))
    .join("\n");
}

const goOn = async () => next(fold(await deck.entries()));
const last = async (): Promise<Entry | undefined> => (await deck.entries()).at(-1);

describe("the post of an interrupted command", () => {
  test("says what is not known, with three buttons that name the entry", async () => {
    expect(await postOf(INTERRUPTED)).toBe(
      "$ rm -f old; make\nhalf\nInterrupted: Deckhand ended meanwhile. This may have run, wholly or in part; it was not run again.\n" +
        "[Look|8] [Run again|8] [Leave it|8]",
    );
  });

  test("of a restart has words of its own and the same buttons", async () => {
    deck = await openDeck("restart");
    expect(await postOf(INTERRUPTED)).toMatch(
      /^.+\nhalf\nInterrupted by a restart of Deckhand after 0\.0 s\. This may have run, .*\n\[Look/s,
    );
  });

  test("keeps its buttons after the turn is over, and shows who chose what instead of them", async () => {
    await deck.add(final(2));
    expect(await postOf(INTERRUPTED)).toContain("[Look|8]");
    await deck.choose("leave", cem);
    expect(await postOf(INTERRUPTED)).toMatch(/\nCem chose: Leave it · 1970-01-01 00:16 UTC$/);
  });
});

describe("a choice", () => {
  test("to look is a message of that person, which says not to run it again", async () => {
    expect((await deck.choose("look")).whisper).toBe("I look how far it came, and tell it in the thread.");
    expect(await last()).toMatchObject({
      ...{ type: "message", to: "bot", by: ann, pressed: { of: INTERRUPTED, choice: "look" } },
      text: "Look how far the interrupted command came and tell me. Do not run it again: `rm -f old; make`",
    });
    expect(deck.rings).toEqual([thread.key]);
  });

  test("to leave it wakes nobody; the model reads it with the next request", async () => {
    await deck.choose("leave");
    expect(deck.rings).toEqual([]);
    await deck.say("and now?");
    const setting = { workspace: "api", path: "/w", sandbox: "sandboxed" };
    const words = toMessages(await deck.entries(), setting, redactor([])).slice(-2);
    expect(words.map((m) => m.content)).toEqual([
      "(Note from Deckhand: Ann leaves the interrupted command of call call00001 as it is.)",
      "Ann: and now?",
    ]);
  });

  test("is the first press alone, however late the second one comes", async () => {
    await deck.add(final(2));
    await deck.choose("look");
    expect((await deck.choose("look")).whisper).toBe('You have already chosen "Look".');
    deck.now += HOURS_72;
    expect((await deck.choose("again", cem)).whisper).toBe("Already chosen by Ann: Look. Your click changed nothing.");
    expect((await deck.types()).filter((type) => type === "message")).toHaveLength(2);
  });

  test("works days later, when nothing goes on any more", async () => {
    await deck.add(final(2));
    deck.now += HOURS_72;
    await deck.choose("look");
    expect(await goOn()).toEqual({ do: "ask-model" });
  });

  test.each([
    ["again", ann, "You are not on the list of people who may decide this. Nothing was changed."],
    ["look", bob, "You are not on the list of people who may give me work here. Nothing was changed."],
    ["leave", bob, "You are not on the list of people who may give me work here. Nothing was changed."],
  ] as const)("%s by somebody who may not is answered, and nothing else", async (choice, by, words) => {
    expect((await deck.choose(choice, by)).whisper).toBe(words);
    expect(await last()).toMatchObject({ type: "run-ended" });
  });

  test("about what is no interrupted run is answered, and nothing else", async () => {
    for (const of of [7, 99]) expect((await deck.choose("look", ann, of)).whisper).toMatch(/^I do not know this command/);
    expect(await last()).toMatchObject({ type: "run-ended" });
  });

  test("in a thread whose workspace is gone says what to do", async () => {
    deck.deps.access = { ...deck.deps.access, workspaces: [] };
    expect((await deck.choose("again", cem)).whisper).toMatch(/"api", which is not set up .* start a new thread\.$/);
  });

  test("does not take an open request back", async () => {
    await deck.add(modelCalls("call00002", 8), judged("call00002"), asked("call00002"));
    await deck.choose("look");
    expect((await deck.types()).at(-1)).toBe("message");
    expect(await goOn()).toBeNull();
    expect((await deck.press()).whisper).toBe("Approved. It runs now, once.");
  });

  test("does not withdraw what was not asked yet", async () => {
    await deck.add(modelCalls("call00002", 8), judged("call00002"));
    await deck.choose("look");
    expect(await goOn()).toMatchObject({ do: "ask-person" });
  });
});

describe("`Run again`", () => {
  /** Makes the step that is next, under this id. */
  async function startAgain(id: string): Promise<NewEntry<"model">> {
    const entries = await deck.entries();
    const state = fold(entries);
    const todo = next(state);
    if (todo?.do !== "run-again") throw new Error(`what is next is ${todo?.do}`);
    const step = callAgain(todo.message, { entries, state }, { ids: { call: () => id } });
    await deck.add(step);
    return step;
  }

  test("comes before the next request, as a call like the first one with an id of its own", async () => {
    await deck.choose("again", cem);
    const step = await startAgain("call00009");
    expect(step).toMatchObject({ again: 9, read: 9, text: "", finish: "calls", model: "deckhand", reasoning: "so" });
    expect(step.calls).toEqual([
      { id: "call00009", name: "bash", args: { command: "rm -f old; make" }, raw: "", extra: { signature: "s" } },
    ]);
    expect(await goOn()).toMatchObject({ do: "judge", calls: [{ call: { id: "call00009" } }] });
    // What people want counts for nothing against the model.
    expect(fold(await deck.entries()).turn).toMatchObject({ steps: 1, calls: 1 });
  });

  test("of two runs makes two steps, one after the other", async () => {
    await deck.add(...interrupted("call00002"));
    await deck.choose("again", cem, 14);
    await deck.choose("again", cem, INTERRUPTED);
    for (const [id, again] of [
      ["call00008", 15],
      ["call00009", 16],
    ] as const) {
      expect(await startAgain(id)).toMatchObject({ again });
      await deck.add({ type: "run-ended", call: id, how: "exited", exit: 0, output: { text: "", bytes: 0, omitted: 0 }, ms: 1 });
    }
    expect(await goOn()).toEqual({ do: "ask-model" });
  });

  test("is not taken back by words that come before it was asked about", async () => {
    await deck.choose("again", cem);
    await startAgain("call00009");
    await deck.add(judged("call00009"));
    await deck.say("and tell me when it is done");
    expect(await goOn()).toMatchObject({ do: "ask-person" });
  });

  test("is ended by a stop before it begins", async () => {
    await deck.choose("again", cem);
    await deck.say("stop");
    expect(await goOn()).toMatchObject({ do: "finish", reason: "stopped", answers: [2, 9] });
    await deck.add({ type: "final", text: "Stopped", answers: [2, 9], reason: "stopped" });
    expect(await goOn()).toBeNull();
  });

  test("of a very long command names its call, not a part of it", async () => {
    const command = `echo ${"x".repeat(2_000)}`;
    await deck.add(...interrupted("call00002", undefined, command));
    await deck.choose("again", cem, 14);
    expect(await last()).toMatchObject({ text: "Run the interrupted command once more: that of call call00002" });
  });
});
