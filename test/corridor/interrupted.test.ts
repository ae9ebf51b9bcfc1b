import { Redis } from "ioredis";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { type Rule, bash, say } from "../../src/model/script.ts";
import { type Corridor, type Said, openCorridor } from "../support/corridor.ts";
import { type Platform, PLATFORMS, type Shown } from "../support/stage.ts";
import { renewBudgets } from "../support/troubled.ts";
import { processesWith } from "../support/workspace.ts";

/** Sleeps until it is interrupted; the second time `go` is there, and it ends at once. */
const LONG = "[ -f go ] || sleep 53";
const BUTTONS = "[ Look ]  [ Run again ]  [ Leave it ]";
const KNOWN = "Interrupted: Deckhand ended meanwhile. This may have run, wholly or in part; it was not run again.";

/** One after the other: they share a deck, and its runner. */
const NEXT = { concurrent: false };

const rules: Rule[] = [
  { when: /: Look how far/, steps: [() => bash("wc -l < fx.txt"), ({ lastResult }) => say(`Lines so far: ${lastResult}`)] },
  { when: /: Run the interrupted/, steps: [() => say("my step"), ({ lastResult }) => say(`Second time: ${lastResult}`)] },
  { when: /append/, steps: [() => bash(`rm -f old; echo ran >> fx.txt; ${LONG}`), () => say("It was interrupted.")] },
  { when: /deploy/, steps: [() => bash("rm -f old; sh deploy.sh"), () => say("It was interrupted.")] },
  { when: /count/, steps: [() => bash(`echo ran >> fx.txt; ${LONG}`), () => say("It was interrupted.")] },
  { when: /remove/, steps: [() => bash("rm -f older"), ({ lastResult }) => say(`Removed: ${lastResult}`)] },
];

// What does not depend on the platform is played on one of them.
describe.concurrent.each(PLATFORMS)("on %s", (platform) => {
  const only = (where: Platform): Platform[] => (platform === where ? [where] : []);

  let deck: Corridor;
  let admin: Redis;
  let renewing: NodeJS.Timeout;
  beforeAll(async () => {
    deck = await openCorridor({ platform, rules });
    admin = new Redis(deck.redis.url);
    // What the chat would take a minute for.
    renewing = setInterval(() => void renewBudgets(admin).catch(() => {}), 100);
  });
  afterAll(async () => {
    clearInterval(renewing);
    admin.disconnect();
    await deck.close();
  });

  /** Asks for it in a fresh workspace, interrupts the command when it has begun, and gives the post that says so. */
  async function interrupted(channel: string, words: string): Promise<{ said: Said; post: Shown }> {
    for (const name of ["fx.txt", "go"]) deck.files.remove(name);
    const said = await deck.mention(words, { channel });
    if (!words.includes("count")) {
      await said.press("approve", "U1");
      // Else a later request's card is taken for this one, whose edit waits for the chat's budget.
      await said.shows(/Approved by Ann/);
    }
    await deck.stage.waitFor(() => deck.files.has("fx.txt") && deck.files.read("fx.txt") === "ran\n");
    const [runner] = processesWith(`runner-main.ts ${deck.env["DECKHAND_STATE"]}/`);
    process.kill(runner as number, "SIGKILL");
    const post = await said.shows(/\[ Look \]/);
    await said.shows(/It was interrupted\./);
    deck.files.write("go", "");
    return { said, post };
  }

  const press = (said: Said, post: Shown, action: "look" | "again" | "leave", user: string): Promise<void> =>
    deck.stage.press({ channel: said.channel, root: said.root, ts: post.ts, action, user });
  const heard = (user: string, words: string) => deck.stage.waitFor(() => deck.stage.whispers(user).some((text) => text.includes(words)));
  const reads = (said: Said, post: Shown, pattern: RegExp) => deck.stage.waitFor(() => pattern.test(said.text(post)));
  const types = async (said: Said): Promise<string[]> => (await said.entries()).map((entry) => entry.type);

  test("an interrupted command says what is not known; `Look` by anybody who may ask is answered, and the buttons go", NEXT, async () => {
    const { said, post } = await interrupted("C1", "append a line");
    expect(post.text).toContain(`${KNOWN}\n${BUTTONS}`);
    await press(said, post, "look", "U3");
    await said.shows(/Lines so far: 1/);
    await heard("U3", "I look how far it came, and tell it in the thread.");
    await reads(said, post, /Cem chose: Look · .* UTC$/);
    expect(deck.files.read("fx.txt")).toBe("ran\n");
  });

  test("`Run again` by who may approve runs it as a new call, with that press as its approval", NEXT, async () => {
    const { said, post } = await interrupted("C2", "append a line");
    await press(said, post, "again", "U3");
    await heard("U3", "You are not on the list of people who may decide this. Nothing was changed.");
    await press(said, post, "again", "U2");
    await said.shows(/Second time: \(no output\)/);
    expect(deck.files.read("fx.txt")).toBe("ran\nran\n");
    await reads(said, post, /Bob chose: Run again · .* UTC$/);
    const cards = said.posts().filter(({ text }) => text.includes("Why I ask:"));
    expect(cards.map(({ text }) => /(Approved by \w+) · .*$/.exec(text)?.[1])).toEqual(["Approved by Ann", "Approved by Bob"]);
    const started = (await said.entries()).filter((entry) => entry.type === "run-started");
    expect(new Set(started.map(({ call }) => call)).size).toBe(2);
  });

  test("of many presses at once one counts, and all others are told whose", NEXT, async () => {
    const { said, post } = await interrupted("C7", "append a line");
    const users = ["U1", "U2", "U3"];
    await Promise.all(users.map((user) => press(said, post, user === "U3" ? "look" : "leave", user)));
    const told = () => users.map((user) => deck.stage.whispers(user).at(-1) ?? "");
    await deck.stage.waitFor(() => told().filter((text) => /^Already chosen by/.test(text)).length === 2);
    const choices = (await said.entries()).filter((entry) => entry.type === "choice" || (entry.type === "message" && entry.pressed));
    expect(choices).toHaveLength(1);
  });

  test.each(only("slack"))("`Run again` of what would not be the same any more asks as always", NEXT, async () => {
    deck.files.write("deploy.sh", `echo ran >> fx.txt; ${LONG}\n`);
    const { said, post } = await interrupted("C3", "deploy it");
    deck.files.write("deploy.sh", "echo harmful >> fx.txt\n");
    await press(said, post, "again", "U2");
    await said.press("deny", "U1");
    await said.shows(/Second time: Not run: Ann denied it/);
    expect(deck.files.read("fx.txt")).toBe("ran\n");
  });

  test.each(only("slack"))(
    "a press takes no open request back, not even that of who presses: it waits for the decision",
    NEXT,
    async () => {
      const { said, post } = await interrupted("C6", "append a line");
      await deck.say("remove the other", { channel: "C6", thread: said.root });
      const card = await said.shows(/\[ Approve \]/);
      await press(said, post, "look", "U1");
      await said.shows(/Ann, I keep this for when the request above is decided\./);
      expect(said.text(card)).toContain("[ Approve ]");
      await said.press("approve", "U1");
      await said.shows(/Lines so far: 1/);
      expect((await said.entries()).flatMap((entry) => (entry.type === "approval-decided" ? [entry.decision] : []))).toEqual([
        "approved",
        "approved",
      ]);
    },
  );

  test.each(only("discord"))(
    "a command that nobody was asked about has the same buttons, and runs again without a question",
    NEXT,
    async () => {
      const { said, post } = await interrupted("C4", "count this");
      expect(post.text).toContain(BUTTONS);
      await press(said, post, "again", "U1");
      await said.shows(/Second time: \(no output\)/);
      expect(deck.files.read("fx.txt")).toBe("ran\nran\n");
      expect(await types(said)).not.toContain("approval-asked");
    },
  );

  test.each(only("discord"))("`Leave it` does nothing but take the buttons away", NEXT, async () => {
    const { said, post } = await interrupted("C5", "append a line");
    await press(said, post, "leave", "U3");
    await reads(said, post, /Cem chose: Leave it · .* UTC$/);
    await heard("U3", "It is left as it is.");
    expect((await types(said)).at(-1)).toBe("choice");
  });
});
