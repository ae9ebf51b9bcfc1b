import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { bash, say } from "../../src/model/script.ts";
import { type Corridor, openCorridor } from "../support/corridor.ts";
import { PLATFORMS } from "../support/stage.ts";
import { processesWith, uniqueSleep } from "../support/workspace.ts";

const SLEEP = uniqueSleep();
const LATE = uniqueSleep();

describe.each(PLATFORMS)("on %s", (platform) => {
  let deck: Corridor;

  /** Each task runs one command; the answer repeats its result. */
  const COMMANDS: Record<string, string | [string, number]> = {
    fail: "ls nowhere",
    silence: "true",
    flood: "yes 0123456789abcdef | head -c 50000000",
    input: "cat; echo over",
    timeout: [`(${LATE} &) ; echo begun; ${LATE}`, 2],
    sleep: SLEEP,
    removal: "rm -f old",
  };

  beforeAll(async () => {
    deck = await openCorridor({
      platform,
      rules: Object.entries(COMMANDS).map(([word, command]) => ({
        when: new RegExp(`run ${word}`),
        steps: [
          () =>
            typeof command === "string"
              ? bash(command)
              : { calls: [{ name: "bash", args: { command: command[0], timeout_seconds: command[1] } }] },
          ({ lastResult }) => say(`Result: ${lastResult.slice(0, 200)} ... ${lastResult.slice(-200)}`),
        ],
      })),
    });
  });

  afterAll(() => deck.close());

  async function run(word: string, channel: string) {
    const said = await deck.mention(`run ${word}`, { channel });
    const first = await said.shows(/\[ Approve \]|Result: |^Running/);
    if (first.text.includes("[ Approve ]")) await said.press("approve");
    return said;
  }

  describe("a command", () => {
    test("that fails shows what it said and its exit code", async () => {
      const said = await run("fail", "C1");
      await said.shows(/\| ls: cannot access 'nowhere'[\s\S]*\nexit 2 · /);
      await said.shows(/Result: .*\[exit code 2\]/s);
    });

    test("that prints nothing says so", async () => {
      const said = await run("silence", "C2");
      await said.shows(/\| \$ true\n\(no output\) · exit 0 · /);
    });

    test("that prints 50 MB is kept as head and tail, with the whole (capped) as a file, in bounded memory", async () => {
      const before = process.memoryUsage().rss;
      const said = await run("flood", "C3");
      const post = await said.shows(/characters left out, see the file/);
      expect(process.memoryUsage().rss - before).toBeLessThan(150_000_000);
      const ended = (await said.entries()).find((e) => e.type === "run-ended");
      expect(ended).toMatchObject({ output: { bytes: 50_000_000 } });
      await said.shows(/Result: /);
      const file = await deck.stage.waitFor(() => said.posts().flatMap((m) => m.files)[0]);
      expect(deck.stage.file(file.id)?.length).toBeGreaterThan(500_000);
      expect(post.text.length).toBeLessThan(5_000);
    });

    test("that waits for input gets none and ends", async () => {
      const said = await run("input", "C4");
      await said.shows(/Result: over/);
    });

    test("that outlives its time limit is ended with its background child", async () => {
      const said = await run("timeout", "C5");
      await said.shows(/\| begun\nended at its time limit \(2\.\d s\), with everything it had started/);
      await said.shows(/Result: begun.*time limit/s);
      expect(processesWith(LATE)).toEqual([]);
    });
  });

  describe("stop", () => {
    test.each([
      ["the word", "C6"],
      ["the button", "C7"],
    ])("by %s ends a run within a second and says what was stopped", async (way, channel) => {
      const said = await run("sleep", channel);
      const status = await said.shows(new RegExp(`Running: ${SLEEP}[\\s\\S]*\\[ Stop \\]`));
      await expect.poll(async () => (await said.entries()).at(-1)?.type, { timeout: 20_000 }).toBe("run-started");
      if (way === "the word") await deck.say("stop", { channel, thread: said.root, user: "U2" });
      else await deck.stage.press({ channel, root: said.root, ts: status.ts, action: "stop", user: "U2" });
      await deck.stage.waitFor(() => processesWith(SLEEP).length === 0);
      await said.shows(new RegExp(`Stopped by Bob\\. Ended: \`${SLEEP}\`\\.`));
      await said.shows(/^Stopped · 1 command/);
      const entries = await said.entries();
      expect(entries.at(-1)).toMatchObject({ type: "final", reason: "stopped" });
      const at = (type: string) => entries.find((e) => e.type === type)?.at ?? Number.NaN;
      expect(at("run-ended") - at("stop")).toBeLessThan(1_000);
    });

    test("while an approval waits closes the card", async () => {
      const said = await deck.mention("run removal", { channel: "C8" });
      const card = await said.shows(/\[ Approve \]/);
      await deck.say("stop", { channel: "C8", thread: said.root });
      await said.shows(/Stopped by Ann\. Not run: /);
      await deck.stage.waitFor(() => /Not run: Ann stopped the work/.test(said.text(card)));
    });
  });
});
