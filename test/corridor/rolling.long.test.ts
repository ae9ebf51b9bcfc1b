import { setTimeout as sleep } from "node:timers/promises";
import { expect, test } from "vitest";
import { type Rule, bash, say } from "../../src/model/script.ts";
import { audit, breaks, settled } from "../support/audit.ts";
import { type Corridor, type Said, openCorridor } from "../support/corridor.ts";
import { type RoleProcess, startRole } from "../support/crew.ts";
import { PLATFORMS } from "../support/stage.ts";

/** Every process is stopped and started again, one after the other, while people work: nobody notices. */

const WORDS = ["anna", "berta", "carla", "doris", "emma"];
const ROUNDS = [1, 2, 3];
const ROLES = ["gateway", "worker", "gateway", "worker"] as const;

const rulesOf = (word: string, round: number): Rule => ({
  when: new RegExp(`task ${word} ${round}$`),
  steps: [
    () => ({ ...bash(`echo ${word}-${round}-a >> fx.txt; sleep ${round === 2 ? 2.5 : 0.3}`), delayMs: 300 }),
    ...(round === 2 ? [() => bash(`rm -f old; echo ${word}-${round}-b >> fx.txt; sleep 0.5`)] : []),
    () => ({ ...say(`${word} did ${round}`), delayMs: 300 }),
  ],
});

/** One person's afternoon: three tasks, one of which is asked about. Gives what was said and how many presses were made. */
async function work(deck: Corridor, word: string, channel: string, seen: Said[]): Promise<{ said: Said; sent: string[]; presses: number }> {
  const sent = ROUNDS.map((round) => `task ${word} ${round}`);
  const said = await deck.mention(sent[0] ?? "", { channel });
  seen.push(said);
  await said.shows(new RegExp(`${word} did 1`), 90_000);
  await deck.say(sent[1] ?? "", { channel, thread: said.root });
  const { ts } = await said.shows(/\[ Approve \]/, 90_000);
  let presses = 0;
  for (; (await said.entries()).every((entry) => entry.type !== "approval-decided"); await sleep(2_000)) {
    presses += 1;
    await deck.stage.press({ channel, root: said.root, ts, action: "approve", user: "U1" }).catch(() => null); // its hearer has just left
  }
  // Words that come while it works.
  await deck.say(sent[2] ?? "", { channel, thread: said.root });
  await said.shows(new RegExp(`${word} did 3`), 90_000);
  return { said, sent, presses };
}

/** For how many milliseconds in a row nobody listened to the platform. */
async function longestUnheard(deck: Corridor, working: () => boolean): Promise<number> {
  let longest = 0;
  for (let since = performance.now(); working(); await sleep(10)) {
    if (deck.stage.isHeard()) since = performance.now();
    longest = Math.max(longest, performance.now() - since);
  }
  return Math.round(longest);
}

/** Posts that would tell somebody of a restart or of a trouble. */
const TROUBLE = /nterrupted|went wrong|not known|did not reach|once more|duplicate|\([A-Z]+_[A-Z_]+\)|could not/;

test.concurrent.each(PLATFORMS)(
  "on %s: a rolling restart of all processes under load loses nothing, and nobody sees an error",
  async (platform) => {
    const rules = WORDS.flatMap((word) => ROUNDS.map((round) => rulesOf(word, round)));
    const env = { DECKHAND_GRACE_MS: "20000" };
    const deck = await openCorridor({ platform, start: false, rules, env, twin: { retryDelaysMs: [200, 1_000, 3_000] } });
    deck.env["DECKHAND_CHANNELS"] = WORDS.map((_, index) => `${deck.stage.channel(`C${index + 1}`)}=api`).join();
    const crew = await Promise.all(ROLES.map((role) => startRole(deck, role)));
    try {
      const seen: Said[] = [];
      let working = true;
      const people = Promise.all(WORDS.map((word, index) => work(deck, word, `C${index + 1}`, seen))).finally(() => (working = false));
      const stops: [code: string | number | null, ms: number][] = [];
      const roll = async (): Promise<void> => {
        for (let at = 0; working || stops.length < ROLES.length; at = (at + 1) % ROLES.length) {
          await sleep(500);
          const since = performance.now();
          const code = await (crew[at] as RoleProcess).end();
          stops.push([code, Math.round(performance.now() - since)]);
          crew[at] = await startRole(deck, ROLES[at] as (typeof ROLES)[number]);
        }
      };
      const [all, , unheard] = await Promise.all([people, roll(), longestUnheard(deck, () => working)]);
      const found = await Promise.all(all.map(({ said, sent }) => settled(() => audit(deck, said, sent), 60_000)));
      const ends = (await Promise.all(all.map(({ said }) => said.entries()))).flat().filter((entry) => entry.type === "run-ended");
      console.log({
        platform,
        restarts: stops.length,
        ms: stops.map(([, ms]) => ms),
        messages: all.flatMap(({ sent }) => sent).length,
        commands: found.reduce((sum, each) => sum + each.commands, 0),
        interrupted: ends.filter(({ how }) => how === "interrupted").length,
        presses: all.map(({ presses }) => presses),
        unheard,
      });
      expect(found.map(breaks)).toEqual(all.map(() => []));
      expect(ends.map(({ how }) => how)).toEqual(ends.map(() => "exited"));
      expect(stops.map(([code]) => code)).toEqual(stops.map(() => 0));
      expect(seen.flatMap((said) => said.posts().map(({ text }) => text)).filter((text) => TROUBLE.test(text))).toEqual([]);
      expect(["U1", "U2"].flatMap((user) => deck.stage.whispers(user)).filter((text) => TROUBLE.test(text))).toEqual([]);
    } finally {
      await Promise.all(crew.map((role) => role.kill()));
      await deck.close();
    }
  },
  300_000,
);
