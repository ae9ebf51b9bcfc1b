import { setTimeout as sleep } from "node:timers/promises";
import { expect, test } from "vitest";
import { type Rule, bash, say } from "../../src/model/script.ts";
import { audit, breaks, settled } from "../support/audit.ts";
import { type Corridor, type Said, openBeside, openCorridor } from "../support/corridor.ts";
import { crewOf } from "../support/crew.ts";
import { PLATFORMS } from "../support/stage.ts";

/** Two gateways at once on both platforms, and one of them in trouble in the middle: nothing is lost and nothing is doubled. */

const COUNT = 6;
const wordsOn = (platform: string): string[] => Array.from({ length: COUNT }, (_, index) => `${platform}-${index}`);

const rules: Rule[] = PLATFORMS.flatMap(wordsOn).flatMap((word): Rule[] => [
  { when: new RegExp(`begin ${word}$`), steps: [() => bash(`rm -f old; echo ${word} >> fx.txt`), () => say(`${word} has begun`)] },
  { when: new RegExp(`more ${word}$`), steps: [() => say(`${word} went on`)] },
]);

interface Thread {
  deck: Corridor;
  word: string;
  said: Said;
}

/** Everybody presses every open card, again and again; a press may die with the process that would have heard it. */
async function pressAll(threads: Thread[], done: AbortSignal): Promise<void> {
  while (!done.aborted) {
    await sleep(300);
    for (const { deck, said } of threads) {
      if (!deck.stage.isHeard()) continue;
      for (const { ts } of said.posts().filter(({ text }) => text.includes("[ Approve ]"))) {
        for (const user of ["U1", "U2"]) {
          void deck.stage.press({ channel: said.channel, root: said.root, ts, action: "approve", user }).catch(() => null);
        }
      }
    }
  }
}

/** Each person begins a task and, once it asks, says more, which the platform tells us twice. */
async function work(deck: Corridor, threads: Thread[], halfway: () => Promise<void>): Promise<void> {
  const begun: Promise<void>[] = [];
  for (const [index, word] of wordsOn(deck.stage.platform).entries()) {
    if (index === COUNT / 2) await halfway();
    const channel = `C${index + 1}`;
    const said = await deck.mention(`begin ${word}`, { channel });
    threads.push({ deck, word, said });
    begun.push(
      said.shows(/\[ Approve \]|Approved by/, 60_000).then(async () => {
        // By somebody else: the words of who asked would withdraw the request.
        const { ts } = await deck.say(`more ${word}`, { channel, thread: said.root, user: "U2" });
        deck.stage.again({ channel, root: said.root, ts });
      }),
    );
    await sleep(100);
  }
  await Promise.all(begun);
}

test("messages and their presses through two gateways: on Slack a socket is taken away and one is cut, and then the gateway that hears Discord is killed", async () => {
  const twin = { retryDelaysMs: [0, 500, 1_000, 2_000, 4_000] };
  const slack = await openCorridor({ rules, start: false, twin });
  const discord = await openBeside(slack, "discord", twin);
  const crew = crewOf(slack, discord);
  const channels = [slack, discord].flatMap(({ stage }) => Array.from({ length: COUNT }, (_, index) => stage.channel(`C${index + 1}`)));
  slack.env["DECKHAND_CHANNELS"] = channels.map((channel) => `${channel}=api`).join();
  const done = new AbortController();
  try {
    const leader = await crew.start("gateway");
    // Whoever is alone leads.
    await discord.stage.waitFor(() => discord.stage.isHeard());
    await crew.here("all");
    const threads: Thread[] = [];
    const pressing = pressAll(threads, done.signal);
    await Promise.all([
      work(slack, threads, async () => {
        expect(slack.twin.sockets()).toBeGreaterThan(2);
        slack.twin.disconnect("refresh_requested", 1);
        slack.twin.dropSockets(1);
      }),
      work(discord, threads, leader.kill),
    ]);
    const look = async (): Promise<string[][]> =>
      await Promise.all(
        threads.map(async ({ deck, word, said }) =>
          breaks(await settled(() => audit(deck, said, [`begin ${word}`, `more ${word}`]), 60_000)),
        ),
      );
    expect(await look()).toEqual(threads.map(() => []));
    done.abort();
    await pressing;
    expect(await look()).toEqual(threads.map(() => []));
    expect(slack.files.read("fx.txt").trim().split("\n").toSorted()).toEqual(threads.map(({ word }) => word).toSorted());
  } finally {
    done.abort();
    await crew.end();
  }
}, 180_000);
