import { setTimeout as sleep } from "node:timers/promises";
import { expect, test } from "vitest";
import type { Entry } from "../../src/core/entry.ts";
import { type Rule, bash, say } from "../../src/model/script.ts";
import { audit, breaks, settled } from "../support/audit.ts";
import { type Corridor, type Said, openCorridor } from "../support/corridor.ts";
import { type Crew, type Victim, startCrew } from "../support/crew.ts";
import { PLATFORMS } from "../support/stage.ts";

/** Kill any process at any point of a conversation: nothing is lost, nothing is doubled. */

type Point = "the mention" | "the first command" | "the question" | "the press" | "the decision" | "the answer";

/** The entry after which it happens; the press is not in the log, and comes as soon as the card is there. */
const ENTRY = {
  "the mention": "message",
  "the first command": "run-started",
  "the question": "approval-asked",
  "the press": "approval-asked",
  "the decision": "approval-decided",
  "the answer": "final",
} satisfies Record<Point, Entry["type"]>;

const KILLS: [Victim, Point][] = [
  ["gateway", "the mention"],
  ["worker", "the first command"],
  ["runner", "the first command"],
  ["redis", "the question"],
  ["gateway", "the press"],
  ["worker", "the decision"],
  ["gateway", "the answer"],
];
const WORDS = KILLS.map(([victim, point]) => `${victim}-${point.replaceAll(" ", "-")}`);

const rulesOf = (word: string): Rule[] => [
  {
    when: new RegExp(`begin ${word}$`),
    steps: [() => bash(`echo ${word} looks; sleep 0.5`), () => bash(`echo ${word} >> fx.txt; sleep 0.3`), () => say(`${word} has begun`)],
  },
  { when: new RegExp(`more ${word}$`), steps: [() => bash(`echo ${word}-denied >> fx.txt`), () => say(`${word} went on`)] },
  { when: new RegExp(`wait ${word}$`), steps: [() => bash("sleep 31"), () => say("never said")] },
];

/** One conversation, and the person in it, who tries again when nothing came of a press. */
class Play {
  readonly sent: string[] = [];
  readonly said: Said;
  private readonly deck: Corridor;

  constructor(deck: Corridor, said: Said, first: string) {
    this.deck = deck;
    this.said = said;
    this.sent.push(first);
  }

  async count(type: Entry["type"]): Promise<number> {
    // While Redis is away nobody knows.
    const log = await this.said.entries().catch(() => []);
    return log.filter((entry) => entry.type === type).length;
  }

  async until(type: Entry["type"], count = 1): Promise<void> {
    const looking = async (): Promise<boolean> => (await this.count(type)) >= count;
    await expect.poll(looking, { timeout: 40_000, interval: 10 }).toBe(true);
  }

  async say(text: string): Promise<void> {
    await this.deck.say(text, { channel: this.said.channel, thread: this.said.root });
    if (text !== "stop") this.sent.push(text);
  }

  press(action: "approve" | "deny"): void {
    const { channel, root } = this.said;
    const card = this.said.posts().find((post) => post.text.includes("[ Approve ]"));
    if (!card || !this.deck.stage.isHeard()) return;
    this.deck.stage.press({ channel, root, ts: card.ts, action, user: "U1" }).catch(() => null); // its hearer was killed
  }

  async decide(action: "approve" | "deny", nth: number): Promise<void> {
    for (let tick = 0; (await this.count("approval-decided")) < nth; tick += 1) {
      if (tick % 20 === 0) this.press(action);
      await sleep(50);
    }
  }
}

async function playUpToAnswer(deck: Corridor, crew: Crew, index: number): Promise<Play> {
  const [victim, point] = KILLS[index] as (typeof KILLS)[number];
  const first = `begin ${WORDS[index]}`;
  const play = new Play(deck, await deck.mention(first, { channel: `C${index + 1}` }), first);
  const killed = play.until(ENTRY[point]).then(async () => {
    if (point === "the press") {
      await play.said.shows(/\[ Approve \]/);
      play.press("approve");
    }
    await crew.kill(victim);
  });
  if (point === "the press") await killed;
  await Promise.all([killed, play.decide("approve", 1)]);
  await play.until("final");
  return play;
}

/** A follow-up whose command is denied, and one that is stopped. */
async function playOn(play: Play, word: string): Promise<void> {
  await play.say(`more ${word}`);
  await play.decide("deny", 2);
  await play.until("final", 2);
  await play.say(`wait ${word}`);
  await play.said.shows(/Running: sleep 31/);
  await play.say("stop");
  await play.said.shows(/Stopped by Ann\. Ended: `sleep 31`\./);
}

test.concurrent.each(PLATFORMS)(
  "on %s: whoever is killed at whatever point, all is said and done once",
  async (platform) => {
    const rules = WORDS.flatMap(rulesOf);
    const deck = await openCorridor({ platform, start: false, rules, twin: { retryDelaysMs: [0, 500, 1_000, 2_000] } });
    deck.env["DECKHAND_CHANNELS"] = KILLS.map((_, index) => `${deck.stage.channel(`C${index + 1}`)}=api`).join();
    const crew = await startCrew(deck);
    try {
      const plays: Play[] = [];
      for (const index of KILLS.keys()) plays.push(await playUpToAnswer(deck, crew, index));
      await Promise.all(plays.map((play, index) => playOn(play, WORDS[index] ?? "")));
      const look = async (): Promise<string[][]> =>
        await Promise.all(plays.map(async ({ said, sent }) => breaks(await settled(() => audit(deck, said, sent)))));
      expect(await look()).toEqual(plays.map(() => []));
      expect(await look()).toEqual(plays.map(() => []));
      for (const { said } of plays) {
        const ends = (await said.entries()).flatMap((entry) => (entry.type === "final" ? [entry.reason] : []));
        expect(ends).toEqual(["answer", "answer", "stopped"]);
      }
    } finally {
      await crew.end();
      await deck.close();
    }
  },
  180_000,
);
