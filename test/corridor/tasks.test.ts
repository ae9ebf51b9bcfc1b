import { readdirSync } from "node:fs";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { bash, say } from "../../src/model/script.ts";
import { type Corridor, openCorridor } from "../support/corridor.ts";
import { PLATFORMS } from "../support/stage.ts";

describe.each(PLATFORMS)("on %s", (platform) => {
  let deck: Corridor;

  beforeAll(async () => {
    deck = await openCorridor({
      platform,
      rules: [
        { when: /list the files|列出/, steps: [() => bash("ls"), ({ lastResult }) => say(`I see:\n${lastResult}`)] },
        {
          when: /which git branch|哪个.*分支/,
          steps: [() => bash("git branch --show-current"), ({ lastResult }) => say(`The branch is ${lastResult.trim()}.`)],
        },
        {
          when: /test_output/,
          steps: [
            ({ results }) => (results.length ? say("") : bash("mkdir test_output && touch test_output/{a,b,c}.txt")),
            () => bash("ls test_output"),
            ({ lastResult }) => say(`Made: ${lastResult.split("\n").join(", ")}`),
          ],
        },
        {
          when: /most memory/,
          steps: [
            () => bash("ps aux --sort=-%mem | head -6"),
            ({ lastResult }) => say(`In the sandbox I see only my own processes, not those of the machine:\n\`\`\`\n${lastResult}\n\`\`\``),
          ],
        },
        { when: /remember/, steps: [() => bash("ls"), () => say("There are notes.txt and more.")] },
        { when: /first of those/, steps: [() => bash("cat notes.txt"), ({ lastResult }) => say(`It says: ${lastResult}`)] },
        { when: /slowly/, steps: [() => bash("sleep 1; echo slow"), () => say("slow is done")] },
        {
          when: /both/,
          steps: [
            () => ({
              calls: [
                { name: "bash", args: { command: "echo one" } },
                { name: "bash", args: { command: "echo two" } },
              ],
            }),
            ({ results }) => say(`got ${results.map((r) => r.trim()).join("+")}`),
          ],
        },
      ],
    });
    deck.files.write("notes.txt", "buy rope\n");
    deck.files.git();
  });

  afterAll(() => deck.close());

  describe("a mention becomes work and an answer", () => {
    test.each(["list the files here", "列出这里的文件"])("%j", async (task) => {
      const said = await deck.mention(task, { channel: "C1" });
      await said.shows(/^I see:\n[\s\S]*notes\.txt/);
      expect(said.lines().slice(1).join("\n")).toMatch(/\| \$ ls\n[\s\S]*notes\.txt/);
    });

    test.each(["which git branch is this?", "这是哪个 git 分支?"])("%j", async (task) => {
      const said = await deck.mention(task, { channel: "C2" });
      await said.shows(/The branch is main\./);
    });

    test.each(["create test_output with 3 files in it", "创建 test_output 目录,里面放 3 个文件"])("%j", async (task) => {
      const tree = () => readdirSync(deck.workspace, { recursive: true }).map(String);
      const before = tree();
      const said = await deck.mention(task, { channel: "C3" });
      await said.shows(/Made: a\.txt, b\.txt, c\.txt/);
      const made = tree().filter((name) => !before.includes(name));
      expect(made.sort()).toEqual(["test_output", "test_output/a.txt", "test_output/b.txt", "test_output/c.txt"]);
      deck.files.remove("test_output");
    });

    test("which 5 processes use most memory is answered with what the sandbox shows, and says so", async () => {
      const said = await deck.mention("which 5 processes use most memory?", { channel: "C4" });
      const answer = (await said.shows(/only my own processes/)).text;
      expect(answer).not.toMatch(/redis-server|vitest/);
    });

    test("the status of the turn is one message, edited until it says Done, and has no button then", async () => {
      const said = await deck.mention("list the files, please", { channel: "C5" });
      const status = await said.shows(/^Done · 1 command · /);
      expect(status.text).not.toContain("[ Stop ]");
      expect(said.posts()[0]?.ts).toBe(status.ts);
    });
  });

  describe("a thread is a conversation", () => {
    test("a follow-up without a mention relies on the first answer", async () => {
      const first = await deck.mention("remember what is here", { channel: "C6" });
      await first.shows(/There are notes\.txt/);
      await deck.say("what does the first of those say?", { channel: "C6", thread: first.root });
      await first.shows(/It says: buy rope/);
      const request = deck.model.requests.at(-1);
      expect(request?.body.messages.map((m) => m.content)).toEqual(
        expect.arrayContaining([expect.stringContaining("There are notes.txt")]),
      );
    });

    test("two conversations go on at once and do not mix", async () => {
      const [one, two] = await Promise.all([
        deck.mention("slowly, one", { channel: "C7" }),
        deck.mention("list the files two", { channel: "C8" }),
      ]);
      await Promise.all([one.shows(/slow is done/), two.shows(/I see:/)]);
      expect(one.lines().join("\n")).not.toContain("I see:");
      expect(two.lines().join("\n")).not.toContain("slow is done");
    });

    test("the same event delivered again changes nothing", async () => {
      const said = await deck.mention("list the files once", { channel: "C9" });
      await said.shows(/^Done/);
      deck.stage.again(said);
      await deck.mention("list the files again", { channel: "C10" }).then((other) => other.shows(/^Done/));
      expect((await said.entries()).filter((e) => e.type === "message")).toHaveLength(1);
      expect(said.lines().join("\n").split("| $ ls\n")).toHaveLength(2);
    });

    test("two calls in one step are both run, in order, each answered under its id", async () => {
      const said = await deck.mention("do both", { channel: "C11" });
      await said.shows(/got one\+two/);
      const messages = deck.model.requests.at(-1)?.body.messages ?? [];
      const calls = messages.flatMap((m) => (m.role === "assistant" && m.tool_calls ? m.tool_calls : []));
      const answers = calls.map((call) => String(messages.find((m) => m.role === "tool" && m.tool_call_id === call.id)?.content).trim());
      expect(answers).toEqual(["one", "two"]);
    });

    test("words to somebody else are left alone, and passed on as context", async () => {
      const said = await deck.mention("list the files", { channel: "C12" });
      await said.shows(/^Done/);
      const before = deck.model.requests.length;
      await deck.say(`${deck.stage.mention("U2")} did you see this?`, { channel: "C12", thread: said.root });
      // Slack promises no order between its sockets, and the script plays what was said last.
      await expect.poll(async () => JSON.stringify(await said.entries()), { timeout: 20_000 }).toContain("did you see this?");
      await deck.say("which git branch is it?", { channel: "C12", thread: said.root, user: "U2" });
      await said.shows(/The branch is/);
      expect(deck.model.requests.length - before).toBe(2);
      expect(JSON.stringify(deck.model.requests.at(-1)?.body.messages)).toContain("did you see this?");
    });
  });

  describe("who may ask", () => {
    test("somebody who is not listed gets one clear line that only they see, and nothing happens", async () => {
      const closed = await openCorridor({ platform, rules: [], env: { DECKHAND_USERS: "slack:U2,discord:702" } });
      try {
        const said = await closed.mention("list the files");
        await closed.stage.waitFor(() => closed.stage.whispers("U1").some((text) => /not on the list/.test(text)));
        expect(said.posts()).toEqual([]);
        expect(await said.entries()).toEqual([]);
        expect(closed.model.requests).toEqual([]);
      } finally {
        await closed.close();
      }
    });
  });
});
