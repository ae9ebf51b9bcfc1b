import { setTimeout as sleep } from "node:timers/promises";
import { expect, test } from "vitest";
import { type Rule, bash, say } from "../../src/model/script.ts";
import { audit, breaks, settled } from "../support/audit.ts";
import { type Corridor, type Said, openCorridor } from "../support/corridor.ts";
import { type RoleProcess, startRole } from "../support/crew.ts";
import { PLATFORMS } from "../support/stage.ts";

/** Two gateways at once, and one of them in trouble in the middle: nothing is lost and nothing is doubled. */

const WORDS = Array.from({ length: 10 }, (_, index) => `t${index}`);

const rules: Rule[] = WORDS.flatMap((word): Rule[] => [
  {
    when: new RegExp(`begin ${word}$`),
    steps: [() => bash(`echo ${word} looks`), () => bash(`rm -f old; echo ${word} >> fx.txt`), () => say(`${word} has begun`)],
  },
  { when: new RegExp(`more ${word}$`), steps: [() => say(`${word} went on`)] },
]);

/** Everybody presses every open card, again and again; a press may die with the process that would have heard it. */
async function pressAll(deck: Corridor, saids: Said[], done: AbortSignal): Promise<void> {
  while (!done.aborted) {
    await sleep(300);
    if (!deck.stage.isHeard()) continue;
    for (const { channel, root, posts } of saids) {
      for (const { ts } of posts().filter(({ text }) => text.includes("[ Approve ]"))) {
        for (const user of ["U1", "U2"]) void deck.stage.press({ channel, root, ts, action: "approve", user }).catch(() => null);
      }
    }
  }
}

/** On Slack one socket of one gateway is taken away and another is cut, on Discord the one that hears is killed. */
async function disturb(deck: Corridor, leader: RoleProcess): Promise<void> {
  if (deck.stage.platform === "discord") return await leader.kill();
  expect(deck.twin.sockets()).toBeGreaterThan(2);
  deck.twin.disconnect("refresh_requested", 1);
  deck.twin.dropSockets(1);
}

test.concurrent.each(PLATFORMS)(
  "on %s: 20 messages and their presses through two gateways, one of them disturbed in the middle",
  async (platform) => {
    const deck = await openCorridor({ platform, rules, start: false, twin: { retryDelaysMs: [0, 500, 1_000, 2_000] } });
    deck.env["DECKHAND_CHANNELS"] = WORDS.map((_, index) => `${deck.stage.channel(`C${index + 1}`)}=api`).join();
    const running: RoleProcess[] = [];
    const done = new AbortController();
    try {
      const leader = await startRole(deck, "gateway");
      running.push(leader);
      // Whoever is alone leads.
      await deck.stage.waitFor(() => deck.stage.isHeard());
      running.push(...(await Promise.all([startRole(deck, "gateway"), startRole(deck, "worker")])));
      const saids: Said[] = [];
      const pressing = pressAll(deck, saids, done.signal);
      for (const [index, word] of WORDS.entries()) {
        if (index === WORDS.length / 2) await disturb(deck, leader);
        saids.push(await deck.mention(`begin ${word}`, { channel: `C${index + 1}` }));
        await sleep(100);
      }
      await Promise.all(
        saids.map(async ({ shows, channel, root }, index) => {
          await shows(/\[ Approve \]|Approved by/, 90_000);
          // By somebody else: the words of who asked would withdraw the request.
          const { ts } = await deck.say(`more ${WORDS[index]}`, { channel, thread: root, user: "U2" });
          deck.stage.again({ channel, root, ts });
        }),
      );
      const look = async (): Promise<string[][]> =>
        await Promise.all(
          saids.map(async (said, index) => {
            const sent = [`begin ${WORDS[index]}`, `more ${WORDS[index]}`];
            return breaks(await settled(() => audit(deck, said, sent), 150_000));
          }),
        );
      expect(await look()).toEqual(saids.map(() => []));
      done.abort();
      await pressing;
      expect(await look()).toEqual(saids.map(() => []));
      expect(deck.files.read("fx.txt").trim().split("\n").toSorted()).toEqual(WORDS);
    } finally {
      done.abort();
      for (const role of running) await role.kill();
      await deck.close();
    }
  },
  240_000,
);
