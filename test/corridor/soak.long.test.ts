import { setTimeout as sleep } from "node:timers/promises";
import { expect, test } from "vitest";
import { type Rule, bash, say } from "../../src/model/script.ts";
import { audit, breaks, settled } from "../support/audit.ts";
import { type Corridor, type Said, openCorridor } from "../support/corridor.ts";
import { type Crew, type Victim, startCrew } from "../support/crew.ts";
import { PLATFORMS } from "../support/stage.ts";

/** Minutes of random kills, with follow-ups, double presses and double events; then everything must be there once. */

const MINUTES = Number(process.env["DECKHAND_SOAK_MINUTES"] ?? 2);
/** Slack's edits are for a whole workspace; more conversations than this only queue up for them. */
const PER_MINUTE = 8;
const COUNT = Math.max(2, Math.round(MINUTES * PER_MINUTE));
const VICTIMS: readonly Victim[] = ["gateway", "worker", "worker", "runner", "redis"];

const pick = <T>(from: readonly T[]): T | undefined => from[Math.floor(Math.random() * from.length)];
const upTo = (ms: number): Promise<void> => sleep(Math.random() * ms);

const rulesOf = (word: string): Rule[] => [
  {
    when: new RegExp(`begin ${word}$`),
    steps: [
      () => ({ ...bash(`echo ${word} looks; sleep 0.3`), delayMs: 200 }),
      () => ({ ...bash(`rm -f old; echo ${word}-a >> fx.txt; sleep 0.4`, `now ${word}`), delayMs: 300 }),
      () => ({ calls: [`echo ${word} twice`, `echo ${word}-b >> fx.txt`].map((command) => ({ name: "bash", args: { command } })) }),
      () => ({ ...say(`${word} has begun`), delayMs: 200 }),
    ],
  },
  {
    when: new RegExp(`more ${word}$`),
    steps: [() => bash(`rm -f old; echo ${word}-c >> fx.txt; sleep 0.2`), () => say(`${word} went on`)],
  },
];

interface Talk {
  said: Said;
  sent: string[];
}

async function converse(deck: Corridor, index: number): Promise<Talk> {
  const word = `t${index}`;
  const channel = `C${1 + (index % 30)}`;
  const user = pick(["U1", "U2"]) ?? "U1";
  const sent = [`begin ${word}`, `more ${word}`];
  const said = await deck.mention(sent[0] ?? "", { channel, user });
  await upTo(2_000);
  deck.stage.again(said);
  // Nobody can write in a thread that is not there yet.
  await said.shows(/./, 120_000);
  await upTo(20_000);
  const { ts } = await deck.say(sent[1] ?? "", { channel, user, thread: said.root });
  await upTo(1_000);
  deck.stage.again({ channel, root: said.root, ts });
  return { said, sent };
}

/** Everybody presses every open card, again and again; a press dies with the process that would have heard it. */
async function pressAll(deck: Corridor, saids: Said[], done: AbortSignal): Promise<void> {
  while (!done.aborted) {
    await sleep(300);
    if (!deck.stage.isHeard()) continue;
    for (const { channel, root, posts } of saids) {
      for (const { ts, text } of posts()) {
        if (!text.includes("[ Approve ]")) continue;
        const press = (user: string, action: string): void => void deck.stage.press({ channel, root, ts, action, user }).catch(() => null);
        press("U3", "approve");
        press("U1", "approve");
        press("U2", Math.random() < 0.7 ? "approve" : "deny");
      }
    }
  }
}

async function killAtRandom(crew: Crew, done: AbortSignal): Promise<Record<string, number>> {
  const kills: Record<string, number> = {};
  while (!done.aborted) {
    await sleep(1_500 + Math.random() * 4_000);
    const victim = pick(VICTIMS) ?? "worker";
    kills[victim] = (kills[victim] ?? 0) + 1;
    await crew.kill(victim);
  }
  return kills;
}

test.concurrent.each(PLATFORMS)(
  `on %s: ${MINUTES} minutes of random kills lose nothing and double nothing`,
  async (platform) => {
    const rules = Array.from({ length: COUNT }, (_, index) => rulesOf(`t${index}`)).flat();
    const deck = await openCorridor({ platform, start: false, rules, twin: { retryDelaysMs: [0, 1_000, 3_000] } });
    deck.env["DECKHAND_CHANNELS"] = Array.from({ length: 30 }, (_, index) => `${deck.stage.channel(`C${index + 1}`)}=api`).join();
    const crew = await startCrew(deck, 2, pick);
    const [over, quiet] = [new AbortController(), new AbortController()];
    try {
      const saids: Said[] = [];
      const pressing = pressAll(deck, saids, quiet.signal);
      const killing = killAtRandom(crew, over.signal);
      const heard = { ...deck, mention: async (...args: Parameters<Corridor["mention"]>) => kept(saids, await deck.mention(...args)) };
      const talk = async (index: number): Promise<Talk> => {
        await sleep((index * 60_000) / PER_MINUTE);
        return await converse(heard, index);
      };
      const all = await Promise.all(Array.from({ length: COUNT }, (_, index) => talk(index)));
      over.abort();
      const kills = await killing;
      const look = (): Promise<string[][]> =>
        Promise.all(all.map(async ({ said, sent }) => breaks(await settled(() => audit(deck, said, sent), 180_000))));
      await look();
      quiet.abort();
      await pressing;
      await sleep(5_000);
      const found = await Promise.all(all.map(({ said, sent }) => audit(deck, said, sent)));
      const sum = (of: (each: (typeof found)[number]) => number): number => found.reduce((total, each) => total + of(each), 0);
      console.log({
        platform,
        conversations: all.length,
        messages: all.flatMap(({ sent }) => sent).length,
        commands: sum((each) => each.commands),
        kills,
        interrupted: sum((each) => each.interrupted),
        twice: sum((each) => each.twice.length),
        lost: sum((each) => each.lost.length),
        doubled: sum((each) => each.doubled.length),
        wrong: sum((each) => each.wrong.length),
        ...deck.stage.calls(),
      });
      expect(
        Object.fromEntries(
          all
            .map(({ said }, index) => [said.conversation, breaks(found[index] as (typeof found)[number])] as const)
            .filter(([, list]) => list.length > 0),
        ),
      ).toEqual({});
    } finally {
      over.abort();
      quiet.abort();
      await crew.end();
      await deck.close();
    }
  },
  MINUTES * 60_000 + 400_000,
);

function kept(saids: Said[], said: Said): Said {
  saids.push(said);
  return said;
}
