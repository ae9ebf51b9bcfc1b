import { setTimeout as sleep } from "node:timers/promises";
import { expect, test } from "vitest";
import { type Rule, bash, say } from "../../src/model/script.ts";
import { audit, breaks, settled } from "../support/audit.ts";
import { type Corridor, type Said, openBeside, openCorridor } from "../support/corridor.ts";
import { crewOf } from "../support/crew.ts";
import { PLATFORMS } from "../support/stage.ts";

/** Whoever serves is stopped and started again, one after the other, while people work on both platforms: nobody notices. */

/** So many rounds have commands, of which one of the second asks; then people go on talking until all have been stopped. */
const ROUNDS = 3;
const MOST_ROUNDS = 60;
const wordsOn = (platform: string): string[] => ["anna", "berta"].map((name) => `${platform}-${name}`);

const rulesOf = (word: string): Rule[] =>
  Array.from({ length: MOST_ROUNDS }, (_, index) => index + 1).map((round) => ({
    when: new RegExp(`task ${word} ${round}$`),
    steps: [
      ...(round <= ROUNDS ? [() => ({ ...bash(`echo ${word}-${round}-a >> fx.txt; sleep ${round === 2 ? 1 : 0.2}`), delayMs: 200 })] : []),
      ...(round === 2 ? [() => bash(`rm -f old; echo ${word}-${round}-b >> fx.txt; sleep 0.5`)] : []),
      () => ({ ...say(`${word} did ${round}`), delayMs: 300 }),
    ],
  }));

interface Worked {
  deck: Corridor;
  said: Said;
  sent: string[];
  presses: number;
}

/** One person's afternoon. Gives what was said and how many presses were made. */
async function work(deck: Corridor, word: string, channel: string, rolled: () => boolean): Promise<Worked> {
  const said = await deck.mention(`task ${word} 1`, { channel });
  const sent = [`task ${word} 1`];
  let presses = 0;
  for (let round = 1; ; round += 1) {
    // The third comes while the second is worked on.
    if (round !== 2) await said.shows(new RegExp(`${word} did ${round}$`), 90_000);
    else presses = await approve(deck, said);
    if (round >= ROUNDS && rolled()) return { deck, said, sent, presses };
    sent.push(`task ${word} ${round + 1}`);
    await deck.say(sent.at(-1) ?? "", { channel, thread: said.root });
  }
}

/** Presses until it is decided; gives how often. */
async function approve(deck: Corridor, { shows, entries, channel, root }: Said): Promise<number> {
  const { ts } = await shows(/\[ Approve \]/, 90_000);
  for (let presses = 0; ; presses += 1) {
    if ((await entries()).some((entry) => entry.type === "approval-decided")) return presses;
    await deck.stage.press({ channel, root, ts, action: "approve", user: "U1" }).catch(() => null); // its hearer has just left
    await sleep(1_000);
  }
}

/** Posts that would tell somebody of a restart or of a trouble. */
const TROUBLE = /nterrupted|went wrong|not known|did not reach|once more|duplicate|\([A-Z]+_[A-Z_]+\)|could not/;

test("a rolling restart of all processes under load loses nothing, and nobody sees an error", async () => {
  const rules = PLATFORMS.flatMap(wordsOn).flatMap(rulesOf);
  const twin = { retryDelaysMs: [200, 1_000, 3_000] };
  const slack = await openCorridor({ start: false, rules, env: { DECKHAND_GRACE_MS: "20000" }, twin });
  const decks = [slack, await openBeside(slack, "discord", twin)];
  const channels = decks.flatMap(({ stage }) => ["C1", "C2"].map((channel) => stage.channel(channel)));
  slack.env["DECKHAND_CHANNELS"] = channels.map((channel) => `${channel}=api`).join();
  const crew = crewOf(...(decks as [Corridor]));
  try {
    const starts: (() => Promise<() => Promise<unknown>>)[] = [
      async () => (await crew.start("gateway")).end,
      async () => (await crew.start("worker")).end,
      async () => (await crew.here("all")).stop,
    ];
    const ends = await Promise.all(starts.map((start) => start()));
    const codes: unknown[] = [];
    const roll = async (): Promise<void> => {
      for (const [at, start] of starts.entries()) {
        await sleep(500);
        codes.push(await ends[at]?.());
        await start();
      }
    };
    const rolled = (): boolean => codes.length === starts.length;
    const people = decks.flatMap((deck) => wordsOn(deck.stage.platform).map((word, index) => work(deck, word, `C${index + 1}`, rolled)));
    const [all] = await Promise.all([Promise.all(people), roll()]);
    const found = await Promise.all(all.map(({ deck, said, sent }) => settled(() => audit(deck, said, sent), 60_000)));
    expect(found.map(breaks)).toEqual(all.map(() => []));
    const runs = (await Promise.all(all.map(({ said }) => said.entries()))).flat().filter((entry) => entry.type === "run-ended");
    expect(runs.map(({ how }) => how)).toEqual(runs.map(() => "exited"));
    expect(codes).toEqual([0, 0, undefined]);
    expect(all.flatMap(({ said }) => said.posts().map(({ text }) => text)).filter((text) => TROUBLE.test(text))).toEqual([]);
    const whispers = decks.flatMap(({ stage }) => ["U1", "U2"].flatMap((user) => stage.whispers(user)));
    expect(whispers.filter((text) => TROUBLE.test(text))).toEqual([]);
    console.log({ commands: runs.length, presses: all.map(({ presses }) => presses) });
  } finally {
    await crew.end();
  }
}, 180_000);
