import { expect, test } from "vitest";
import { PaperChat } from "../support/paper-chat.ts";
import { openPosting } from "../support/posting.ts";

test("a poster that stands still between its note and its send does not send what its successor has sent meanwhile", async () => {
  const chat = new PaperChat();
  const posting = openPosting(() => chat);
  const thread = await posting.thread("slack:T1:C1:1.1");
  const { log } = posting;
  let isFirst = true;
  posting.deps.log = {
    ...log,
    async savePosts(...args) {
      const saved = await log.savePosts(...args);
      if (!isFirst) return saved;
      isFirst = false;
      posting.pass(15_000);
      await thread.drain();
      return saved;
    },
  };
  await thread.drain();
  expect(chat.texts()).toEqual(["On it. Thinking …\n[Stop]"]);
});
