import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { bash, say } from "../../src/model/script.ts";
import { type Corridor, openCorridor } from "../support/corridor.ts";
import { PLATFORMS } from "../support/stage.ts";
import { processesWith, uniqueSleep } from "../support/workspace.ts";

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
});
