import { afterEach, describe, expect, test } from "vitest";
import type { Entry } from "../../src/core/entry.ts";
import { type Rule, bash, say } from "../../src/model/script.ts";
import { type Corridor, type Said, openCorridor } from "../support/corridor.ts";
import { type RoleProcess, spawnRole, startRole } from "../support/crew.ts";
import { deckhand } from "../cli/kit.ts";

const rules: Rule[] = [
  { when: /Bob: are you there/, steps: [() => say("Here I am.")] },
  { when: /remove/, steps: [() => bash("rm -f old; echo ran >> fx.txt"), ({ lastResult }) => say(`Result: ${lastResult}`)] },
  { when: /hello/, steps: [() => say("hello back")] },
];

describe("workers that die of a conversation as soon as they have taken it over", () => {
  let deck: Corridor;
  const running: RoleProcess[] = [];
  const start = async (role: "gateway" | "worker"): Promise<void> => void running.push(await startRole(deck, role));

  afterEach(async () => {
    for (const role of running.splice(0)) await role.kill();
    await deck.close();
  });

  async function diesOfIt(times: number): Promise<void> {
    for (let i = 0; i < times; i += 1) {
      expect(await spawnRole(deck, "worker", { DECKHAND_KILL_AT: "taken-over:1" }).gone).toBe("SIGKILL");
    }
  }

  const parkedIn = (entries: Entry[]) => entries.filter((entry) => entry.type === "failed");

  test("park it by the fourth takeover; what is said meanwhile is kept, and `retry` answers it", async () => {
    deck = await openCorridor({ platform: "slack", rules, start: false });
    await start("gateway");
    const said = await deck.mention("hello");
    await diesOfIt(3);
    expect(parkedIn(await said.entries())).toEqual([]);
    await start("worker");
    const post = await said.shows(/so it is set aside: `deckhand retry \S+` lets it go on\. What you asked is kept/);
    expect(post.text).toContain("(CONVERSATION_PARKED)");
    expect(parkedIn(await said.entries())).toMatchObject([{ epoch: 4, parked: true, answers: [] }]);
    await said.shows(/^Parked: this waits until/);
    await deck.say("are you there?", { thread: said.root, user: "U2" });
    await said.shows(/Bob, I keep this for when the work in this thread goes on\./);
    expect(await deckhand(["retry", said.conversation], { env: deck.env })).toMatchObject({
      code: 0,
      stdout: `${said.conversation} goes on.\n`,
    });
    await said.shows(/Here I am\./);
    await said.shows(/^Done · 0 commands/);
    expect(said.posts().filter(({ text }) => /Parked|\[ Stop \]/.test(text))).toEqual([]);
    const ends = (await said.entries()).flatMap((entry) => (entry.type === "final" ? [entry.answers.length] : []));
    expect(ends).toEqual([2]);
  }, 120_000);

  test("leave no open request behind: its card says what happened; and `stop` ends what is parked", async () => {
    deck = await openCorridor({ platform: "discord", rules, start: false });
    await start("gateway");
    const first = await startRole(deck, "worker");
    const said: Said = await deck.mention("remove it");
    const card = await said.shows(/\[ Approve \]/);
    await first.kill();
    await deck.say("go ahead", { thread: said.root, user: "U2" });
    await diesOfIt(3);
    await start("worker");
    await said.shows(/so it is set aside/);
    await deck.stage.waitFor(() => /Not run: Deckhand stopped the work · .* UTC$/.test(said.text(card)));
    await deck.say("stop", { thread: said.root });
    await said.shows(/^Stopped by Ann\. No command was running\./);
    await said.shows(/^Stopped · 0 commands/);
    expect(deck.files.has("fx.txt")).toBe(false);
    expect(said.posts().filter(({ text }) => /\[ /.test(text))).toEqual([]);
    await deck.say("hello", { thread: said.root });
    await said.shows(/hello back/);
  }, 120_000);
});
