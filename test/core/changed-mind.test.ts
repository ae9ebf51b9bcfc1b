import { describe, expect, test } from "vitest";
import { fold } from "../../src/core/conversation.ts";
import { next } from "../../src/core/next.ts";
import type { NewEntry } from "../../src/core/entry.ts";
import { redactor } from "../../src/core/redactor.ts";
import { render } from "../../src/core/render.ts";
import { ann, bob, message, numbered, opened } from "../support/random-log.ts";

/** People who take back or replace what they said before anything came of it. */

function modelSays(read: number, ...calls: string[]): NewEntry {
  const usage = { prompt: null, completion: null, cached: null };
  const made = calls.map((id) => ({ id, name: "bash", args: { command: id }, raw: "" }));
  const finish = calls.length ? "calls" : "stop";
  return { type: "model", read, text: calls.length ? "" : "hello", calls: made, finish, usage, model: "m", ms: 1, tries: 1 };
}

const removed = (event: string): NewEntry => ({ type: "removed", event });
const asks = (call: string): NewEntry => ({ type: "judged", call, verdict: "ask", reasons: [], rule: "r", title: call });
const asked = (call: string): NewEntry => ({
  type: "approval-asked",
  approval: "ap1",
  call,
  command: call,
  cwd: "/w",
  workspace: "api",
  env: {},
  sandbox: "s",
  grants: [],
  reasons: [],
  requester: ann,
  approvers: ["slack:U2"],
  deadline: 9_000_000,
  digest: "d",
});

const folded = (...news: NewEntry[]) => fold(numbered([opened(), ...news]));
const statuses = (...news: NewEntry[]) => render(numbered([opened(), ...news]), { banner: null, redact: redactor([]) }).statuses;

describe("a message that is removed while the model thinks about it", () => {
  test("runs none of the calls that come of it", () => {
    expect(next(folded(message("one"), removed("one"), modelSays(2, "a")))).toBeNull();
  });

  test("is not answered in the place of the next message", () => {
    const state = folded(message("one"), removed("one"), modelSays(2), message("two"));
    expect(next(state)).toEqual({ do: "ask-model" });
    const raced = folded(message("one"), removed("one"), message("two"), modelSays(2, "a"));
    expect(next(raced)).toEqual({ do: "ask-model" });
  });

  test("leaves the turn to whoever else is waiting", () => {
    const state = folded(message("one"), message("two", bob), removed("one"));
    expect(state.turn).toMatchObject({ first: 3, requester: bob });
  });

  test("has a status that says so, without a button", () => {
    expect(statuses(message("one"), removed("one"))).toMatchObject([
      { over: true, post: { blocks: [{ text: "Nothing more is done: the message was removed." }] } },
    ]);
  });
});

describe("what the requester wrote while the model was thinking", () => {
  const start = [message("one"), modelSays(2, "a", "b"), message("no, wait")];

  test("withdraws the command before anybody is asked", () => {
    expect(next(folded(...start, asks("a"), asks("b")))).toMatchObject({ do: "refuse", why: "superseded", by: ann, calls: [{}, {}] });
  });

  test("closes a card that was made at the same moment", () => {
    const todo = next(folded(...start, asks("a"), asks("b"), asked("a")));
    expect(todo).toMatchObject({ do: "close-approval", decision: "superseded", by: ann });
  });

  test("does not withdraw it when it was somebody else", () => {
    const other = [message("one"), modelSays(2, "a"), message("hm", bob), asks("a")];
    expect(next(folded(...other))).toMatchObject({ do: "ask-person" });
  });
});
