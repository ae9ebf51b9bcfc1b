import { expect, test } from "vitest";
import type { NewEntry } from "../../src/core/entry.ts";
import { type PosterDeps, drainPosts } from "../../src/core/poster.ts";
import { redactor } from "../../src/core/redactor.ts";
import { memoryLimiter } from "../../src/memory-queue.ts";
import { systemIds } from "../../src/system.ts";
import { type Deck, INTERRUPTED, cem, openDeck, thread } from "../support/interrupted-log.ts";
import { PaperChat } from "../support/paper-chat.ts";

const ran = (call: string): NewEntry => ({
  ...{ type: "run-ended", call, how: "exited", exit: 0, output: { text: call, bytes: 1, omitted: 0 }, ms: 1 },
});

function posterOf({ deps }: Deck): { chat: PaperChat; drain: () => Promise<void> } {
  const chat = new PaperChat();
  const { log, clock, trace } = deps;
  const abandon = async (): Promise<void> => {};
  const poster: PosterDeps = {
    ...{ log, clock, trace, limiter: memoryLimiter(), ids: systemIds, chats: new Map([["slack", chat]]), banner: null },
    ...{ redact: redactor([]), abandon },
  };
  const wake = { conversation: thread.key, lock: { key: "", token: "" }, signal: new AbortController().signal };
  return { chat, drain: () => drainPosts(wake, poster) };
}

test("an interrupted command keeps a post of its own among many, and that post changes when somebody has chosen, days later too", async () => {
  const deck = await openDeck();
  const { chat, drain } = posterOf(deck);
  await deck.add(...["a", "b", "c", "d"].map(ran), { type: "final", text: "done", answers: [2], reason: "answer" });
  await drain();
  deck.now += 2_000;
  await drain();
  const own = chat.messages.find(({ text }) => text.includes("[Run again]"));
  expect(own?.text).toMatch(/^\$ rm -f old; make\nhalf\nInterrupted: .*\n\[Look\] \[Run again\] \[Leave it\]$/);
  const sent = chat.messages.length;
  deck.now += 72 * 3_600_000;
  await deck.choose("leave", cem, INTERRUPTED);
  await drain();
  expect(own?.text).toMatch(/\nCem chose: Leave it · 1970-01-04 00:16 UTC$/);
  expect(chat.messages).toHaveLength(sent);
});
