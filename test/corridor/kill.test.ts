import { setTimeout as sleep } from "node:timers/promises";
import { expect, test, vi } from "vitest";
import type { Entry } from "../../src/core/entry.ts";
import { type Rule, bash, say } from "../../src/model/script.ts";
import { audit, breaks, settled } from "../support/audit.ts";
import { type Corridor, type Said, openCorridor } from "../support/corridor.ts";
import { until } from "../support/redis.ts";
import { type Crew, type Victim, startCrew } from "../support/crew.ts";
import { PLATFORMS } from "../support/stage.ts";

/** Kill any process at any point of a conversation: nothing is lost, nothing is doubled. */

/** Right after such an entry is in the log; a press comes to nothing there before it is heard. */
type Point = "message" | "run-started" | "approval-asked" | "press" | "approval-decided" | "final";

/** Who is killed in each conversation, one at a time. */
const PLAYS: Record<string, [Victim, Point][]> = {
  anna: [
    ["gateway", "message"],
    ["redis", "approval-asked"],
    ["worker", "approval-decided"],
  ],
  berta: [
    ["worker", "run-started"],
    ["gateway", "press"],
    ["gateway", "final"],
  ],
  carla: [
    ["runner", "run-started"],
    ["worker", "approval-asked"],
    ["redis", "approval-decided"],
  ],
};
const WORDS = Object.keys(PLAYS);

const rulesOf = (word: string): Rule[] => [
  {
    when: new RegExp(`begin ${word}$`),
    steps: [
      () => bash(`echo ${word} looks; sleep 0.5`),
      () => bash(`rm -f old; echo ${word} >> fx.txt; sleep 0.3`),
      () => say(`${word} has begun`),
    ],
  },
  { when: new RegExp(`more ${word}$`), steps: [() => bash(`rm -f old; echo ${word}-denied >> fx.txt`), () => say(`${word} went on`)] },
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
    await until(`${type} is in the log`, async () => (await this.count(type)) >= count, 40_000);
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

async function playUpToAnswer(deck: Corridor, crew: Crew, word: string): Promise<Play> {
  const first = `begin ${word}`;
  const play = new Play(deck, await deck.mention(first, { channel: `C${1 + WORDS.indexOf(word)}` }), first);
  const kills = PLAYS[word] ?? [];
  const killing = async (): Promise<void> => {
    for (const [victim, point] of kills) {
      if (point === "press") {
        await play.said.shows(/\[ Approve \]/);
        play.press("approve");
      } else await play.until(point);
      await crew.kill(victim);
    }
  };
  const killed = killing();
  // So that the first press is the one after which somebody is killed.
  if (kills.some(([, point]) => point === "press")) await play.said.shows(/\[ Approve \]/).then(() => sleep(500));
  await Promise.all([killed, play.decide("approve", 1), play.until("final")]);
  return play;
}

/** A follow-up whose command is denied, and one that is stopped. */
async function playOn(play: Play, word: string): Promise<void> {
  await play.say(`more ${word}`);
  await play.decide("deny", 2);
  await play.until("final", 2);
  await play.say(`wait ${word}`);
  await play.said.shows(/Running: sleep 31/);
  const runs = async (): Promise<boolean> => (await play.said.entries()).at(-1)?.type === "run-started";
  await vi.waitUntil(runs, { timeout: 20_000, interval: 100 });
  await play.say("stop");
  await play.said.shows(/Stopped by Ann\. Ended: `sleep 31`\./);
}

test.concurrent.each(PLATFORMS)(
  "on %s: whoever is killed at whatever point, all is said and done once",
  async (platform) => {
    const rules = WORDS.flatMap(rulesOf);
    const deck = await openCorridor({ platform, start: false, rules, twin: { retryDelaysMs: [0, 500, 1_000, 2_000] } });
    deck.env["DECKHAND_CHANNELS"] = WORDS.map((_, index) => `${deck.stage.channel(`C${index + 1}`)}=api`).join();
    const crew = await startCrew(deck);
    try {
      const plays: Play[] = [];
      for (const word of WORDS) plays.push(await playUpToAnswer(deck, crew, word));
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
