import { describe, expect, test } from "vitest";
import { DeckhandError } from "../../src/core/errors.ts";
import { asked, eye, passing } from "../support/asked.ts";
import { callOf, type Guarded, openGuarded } from "../support/guarded.ts";

const RETRY = { tries: 4, baseMs: 1_000, maxMs: 30_000, retryAfterMaxMs: 600_000 };
const CALL = '<tool_call>{"name":"bash","arguments":{"command":"ls"}}</tool_call>';

/** One turn with this model and this fallback; the waits are slept through at once, and kept. */
async function play(model: ReturnType<typeof asked>, spare: ReturnType<typeof asked> | null = null) {
  const slept: number[] = [];
  const { writing, saw } = eye();
  const now = Date.UTC(2026, 10, 30, 12);
  const clock = { now: () => now, sleep: async (ms: number) => void slept.push(ms) };
  const deck: Guarded = openGuarded({
    answers: () => "",
    hands: { model, modelFor: () => model, fallback: spare, retry: RETRY, writing, clock, stopPollMs: 7 },
  });
  const ask = async (text: string) => {
    await deck.say(text);
    await deck.work();
    return await deck.last();
  };
  const last = await ask("do it");
  return { deck, last, ask, slept: () => slept.filter((ms) => ms !== 7), saw };
}

describe("a service that is away for a while", () => {
  test("is asked again, each time later and never all at the same time", async () => {
    const { last, slept } = await play(asked("m", passing("MODEL_DOWN"), passing("MODEL_CUT"), passing("MODEL_BUSY"), "there"));
    expect(last).toMatchObject({ type: "final", text: "there" });
    const waits = slept();
    expect(waits).toHaveLength(3);
    waits.forEach((ms, i) => expect(ms).toBeLessThanOrEqual(2_000 * 2 ** i));
  });

  test("is asked again when it says so, and people see when that is", async () => {
    const { last, slept, saw } = await play(asked("m", passing("MODEL_BUSY", 120_000), "there"));
    expect(slept()).toEqual([120_000]);
    const at = Date.UTC(2026, 10, 30, 12, 2);
    expect(saw).toEqual([{ why: expect.stringContaining("refuses more requests"), at }, "(again)", "there", "(end)"]);
    expect(last).toMatchObject({ type: "final", text: "there" });
  });

  test("is given up after four tries, with its own line in the thread; the next turn asks again", async () => {
    const down = passing("MODEL_DOWN", 0, "503, overloaded");
    const { last, ask, deck } = await play(asked("m", down, down, down, down, "there"));
    expect(last).toMatchObject({ type: "failed", code: "MODEL_DOWN", text: expect.stringContaining("503, overloaded") });
    expect((await deck.posts()).at(-1)).toContain("503, overloaded");
    expect(await ask("and now?")).toMatchObject({ type: "final", text: "there" });
  });

  test("that asks for more than ten minutes is not waited for", async () => {
    const { last, slept } = await play(asked("m", passing("MODEL_BUSY", 600_001), "there"));
    expect([last, slept()]).toMatchObject([{ type: "failed", code: "MODEL_BUSY" }, []]);
  });
});

test.each(["MODEL_QUOTA", "MODEL_AUTH", "MODEL_URL", "MODEL_MISSING", "MODEL_FILTER", "MODEL_OVERFLOW"] as const)(
  "%s is asked for once, and is a plain line of its own in the thread",
  async (code) => {
    const model = asked("m", new DeckhandError(code, "why"));
    const { last, deck } = await play(model, asked("spare", "never"));
    expect(last).toMatchObject({ type: "failed", code });
    expect((await deck.posts()).at(-1)).toMatch(new RegExp(`\\. [A-Z].*\\(${code}\\)$`));
    expect(model.requests).toHaveLength(1);
  },
);

describe("an answer that is of no use", () => {
  test("a call that was written as text is said back once, and never run", async () => {
    const model = asked("m", CALL, { finish: "calls", calls: [callOf("ls")] }, "done");
    const { last, deck } = await play(model);
    expect(last).toMatchObject({ text: "done" });
    expect(model.requests[1]?.messages.at(-1)?.content).toContain(CALL);
    expect(JSON.stringify(model.requests[2]?.messages)).not.toContain("tool_call>");
    expect((await deck.entries()).filter(({ type }) => type === "run-started")).toHaveLength(1);
  });

  test("one that is written as text again is shown as it is", async () => {
    const { last, deck } = await play(asked("m", CALL));
    expect(last).toMatchObject({ type: "final", text: CALL });
    expect((await deck.entries()).some(({ type }) => type === "run-started")).toBe(false);
  });

  test("a call that its own service could not read is said back once", async () => {
    const failed = new DeckhandError("MODEL_CALL", "why", { retryAfterMs: 0, said: "<function=bash{ls}" });
    const model = asked("m", failed, failed, "done");
    expect((await play(model)).last).toMatchObject({ text: "done" });
    expect(model.requests.map(({ messages }) => messages.length)).toEqual([2, 3, 3]);
    expect(model.requests[1]?.messages.at(-1)?.content).toContain("<function=bash{ls}");
  });
});

describe("a fallback model", () => {
  const down = passing("MODEL_DOWN", 0, "503");
  const runs = { finish: "calls" as const, calls: [callOf("ls")] };

  test("goes on until the turn ends when the first is not there; the thread is told once, and the next turn asks the first", async () => {
    const [model, spare] = [asked("m", down, down, down, down, "back"), asked("spare", runs, "by the spare")];
    const { last, deck, ask } = await play(model, spare);
    expect(last).toMatchObject({ type: "final", text: "by the spare" });
    expect([model.requests.length, spare.requests.length]).toEqual([4, 2]);
    const notes = (await deck.posts()).filter((post) => post.includes("another model"));
    expect(notes).toEqual(["The model does not answer: 503. Until this is answered I use another model, spare."]);
    expect(await ask("and now?")).toMatchObject({ type: "final", text: "back" });
    expect(spare.requests).toHaveLength(2);
  });

  test("that is not there either: the line is about the first", async () => {
    const { last } = await play(asked("m", down), asked("spare", passing("MODEL_BUSY")));
    expect(last).toMatchObject({ type: "failed", code: "MODEL_DOWN" });
  });

  test("that fails later in the turn gives way to the first", async () => {
    const [model, spare] = [asked("m", down, down, down, down, "back"), asked("spare", runs, new DeckhandError("MODEL_QUOTA"))];
    expect((await play(model, spare)).last).toMatchObject({ type: "final", text: "back" });
  });
});
