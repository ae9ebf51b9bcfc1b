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
        {
          when: /wrong tool/,
          steps: [() => ({ calls: [{ name: "run_shell", args: { command: "ls" } }] }), ({ lastResult }) => say(`Result: ${lastResult}`)],
        },
        {
          when: /broken arguments/,
          steps: [() => ({ calls: [{ name: "bash", args: '{"command": ls}' }] }), ({ lastResult }) => say(`Result: ${lastResult}`)],
        },
        {
          when: /wrong type/,
          steps: [() => ({ calls: [{ name: "bash", args: { command: ["ls"] } }] }), ({ lastResult }) => say(`Result: ${lastResult}`)],
        },
        { when: /go on for ever/, steps: Array.from({ length: 60 }, (_, n) => () => bash(`echo ${n}`)) },
        { when: /go round in circles/, steps: Array.from({ length: 60 }, () => () => bash("pwd")) },
        { when: /long answer/, steps: [() => ({ text: "The first half of", finish: "length" })] },
        {
          when: /cut call/,
          steps: [
            () => ({ calls: [{ name: "bash", args: '{"command":"rm -rf test' }], finish: "length" }),
            ({ lastResult }) => say(`Result: ${lastResult}`),
          ],
        },
        { when: /hello/, steps: [() => say("hello back")] },
        { when: /a very long text/, steps: [() => say(`\`\`\`js\n${"const line = 1;\n".repeat(1500)}\`\`\`\nthe end`)] },
      ],
    });
  });

  afterAll(() => deck.close());

  describe("a model that calls badly", () => {
    test.each([
      ["wrong tool", "C1", /Result: There is no tool "run_shell"\. The tools are: bash\./],
      ["broken arguments", "C2", /Result: Not run: the arguments were not one JSON object/],
      ["wrong type", "C3", /Result: Not run: .*command/],
    ])("%s: is told so under the same call, and goes on", async (task, channel, result) => {
      const said = await deck.mention(task, { channel });
      await said.shows(result);
      expect((await said.entries()).map((e) => e.type)).not.toContain("run-started");
    });

    test("in a turn that goes round in circles is asked about; the word `stop` ends it, and the thread can go on", async () => {
      const said = await deck.mention("go round in circles", { channel: "C4" });
      const post = await said.shows(/\[ Continue \]/, 60_000);
      await deck.say("stop", { channel: "C4", thread: said.root });
      await said.shows(/^Stopped by Ann\. No command was running\.$/);
      expect(said.text(post)).toMatch(/Not needed any more: this work has ended\.$/);
      await deck.say("hello", { channel: "C4", thread: said.root });
      await said.shows(/hello back/);
    }, 90_000);
  });

  describe("an answer that was cut off", () => {
    test("is shown and says that the output was cut", async () => {
      const said = await deck.mention("a long answer please", { channel: "C5" });
      await said.shows(/The first half of\nOutput cut/);
    });

    test("runs none of its calls", async () => {
      const said = await deck.mention("a cut call", { channel: "C6" });
      await said.shows(/Output cut: the model's message was not complete/);
      await said.shows(/Result: Not run: your message was cut off/);
      expect((await said.entries()).map((e) => e.type)).not.toContain("run-started");
    });
  });

  describe("a model that does not answer", () => {
    test.each([
      ["a wrong key", { status: 401 }, "C7", /refuses our key \(401\)\. Set OPENAI_API_KEY/],
      ["a wrong address", { status: 404 }, "C8", /404.*Check OPENAI_BASE_URL/s],
      ["a web page", { html: true }, "C9", /web page, not with a model\. Check OPENAI_BASE_URL/],
      [
        "no credit",
        { status: 429, body: '{"error":{"code":"insufficient_quota","message":"You exceeded your current quota"}}' },
        "C10",
        /no credit left/,
      ],
    ])("because of %s: a line that says what to do", async (_, fault, channel, line) => {
      deck.model.fail(fault, 1);
      const said = await deck.mention("hello", { channel });
      await said.shows(line);
      await said.shows(/^Not done · /);
    });

    test("is asked again, and nobody notices", async () => {
      deck.model.fail({ status: 503 }, 1);
      const said = await deck.mention("hello", { channel: "C11" });
      await said.shows(/hello back/);
    });

    test("waits as long as the service wishes when it has too many requests", async () => {
      deck.model.fail({ status: 429, headers: { "retry-after": "1" } }, 1);
      const said = await deck.mention("hello", { channel: "C12" });
      await said.shows(/hello back/);
    });

    test("says nothing twice: a plain line instead of an empty post", async () => {
      deck.model.fail({ text: "" }, 2);
      const said = await deck.mention("hello", { channel: "C13" });
      await said.shows(/The model answered with nothing\. Ask again in other words/);
    });

    test("is down for long, which is told, and answers the next message when it is back", async () => {
      deck.model.fail({ status: 503 }, 4);
      const said = await deck.mention("hello", { channel: "C14" });
      await said.shows(/The model does not answer: .*\. Ask again in a few minutes/, 40_000);
      await deck.say("hello again", { channel: "C14", thread: said.root });
      await said.shows(/hello back/);
    }, 60_000);
  });

  test("a channel that is archived in mid-run ends the work and is left alone", async () => {
    const said = await deck.mention("go on for ever", { channel: "C15" });
    await said.shows(/\$ echo 0/);
    deck.stage.shut("C15", said.root);
    const ended = async () => (await said.entries()).at(-1)?.type === "final";
    for (let i = 0; i < 200 && !(await ended()); i += 1) await new Promise((r) => setTimeout(r, 50));
    expect((await said.entries()).at(-1)).toMatchObject({ type: "final" });
  });

  test("a long answer is split without breaking its code block", async () => {
    const said = await deck.mention("a very long text", { channel: "C16" });
    await said.shows(/the end/);
    const parts = said.posts().filter((m) => m.text.includes("const line"));
    expect(parts.length).toBeGreaterThan(1);
    for (const part of parts.filter((m) => m.text.includes("```"))) expect((part.text.match(/```/g) ?? []).length % 2).toBe(0);
  });
});
