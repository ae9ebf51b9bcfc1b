import { setTimeout as sleep } from "node:timers/promises";
import type { Entry } from "../../src/core/entry.ts";
import { bash, type Rule, say, type Step } from "../../src/model/script.ts";
import type { Corridor, Said } from "../support/corridor.ts";
import { EFFECTS } from "./evidence.ts";

/** The model's side and the people of the crash tests. Every command and every answer is unlike all others. */

let last = 0;
const fresh = (): string => `k${(last += 1)}`;

/** Leaves lines by which its runs, their order and its end can be told; what begins with `rm` asks. */
function effect(ticks: number): string {
  const mark = fresh();
  const middle = `for i in {1..${ticks}}; do sleep 0.1; echo t.${mark} >> ${EFFECTS}; done`;
  return `echo s.${mark} >> ${EFFECTS}; ${middle}; echo e.${mark} >> ${EFFECTS}`;
}
const auto = (ticks = 2): string => effect(ticks);
const asks = (ticks = 2): string => `rm -f old; ${effect(ticks)}`;
const look = (): string => `echo look ${fresh()}; sleep 0.2`;
const late = (step: Step, delayMs = 150): Step => ({ ...step, delayMs });
const many = (...commands: string[]): Step => ({ calls: commands.map((command) => ({ name: "bash", args: { command } })) });
const answer = (): Step => late(say(`answer ${fresh()}`));

export const RULES: Rule[] = [
  {
    when: /work$/,
    steps: [
      () => late(bash(look())),
      () => late(many(look(), auto())),
      () => late(bash(asks(), `word ${fresh()}`)),
      () => late(many(look(), look(), asks())),
      answer,
    ],
  },
  { when: /ask$/, steps: [() => late(bash(asks())), answer] },
  { when: /more$/, steps: [() => late(bash(auto())), () => late(bash(asks())), answer] },
  { when: /instead$/, steps: [() => late(bash(auto())), answer] },
  { when: /: Look how far the interrupted/, steps: [() => late(bash(look())), answer] },
  // The first step is the command itself, which no model asks for.
  { when: /: Run the interrupted/, steps: [answer, answer] },
  { when: /long$/, steps: [() => late(bash(auto(30))), answer] },
];

/** How a conversation goes. */
export const MANNERS = ["approved", "denied", "changed", "stopped", "silent", "late"] as const;
export type Manner = (typeof MANNERS)[number];

export interface Talk {
  deck: Corridor;
  said: Said;
  manner: Manner;
}

/** Where people talk: a platform's side of the deck, and a channel there. */
export interface Where {
  deck: Corridor;
  channel: string;
}

export interface People {
  /** 0 to 1. */
  random(): number;
  /** Nobody begins anything new. */
  quiet: AbortSignal;
  talks: Talk[];
}

const first = (manner: Manner): string => (manner === "stopped" ? "long" : manner === "approved" || manner === "denied" ? "work" : "ask");

/** One conversation to the end of what people say in it. Never rejects: what does not come, the verifier tells. */
export async function converse(people: People, { deck, channel }: Where, manner: Manner): Promise<void> {
  const { random, quiet } = people;
  const user = random() < 0.5 ? "U1" : "U2";
  const said = await deck.mention(first(manner), { channel, user });
  people.talks.push({ deck, said, manner });
  const again = async (ts: string): Promise<void> => {
    await sleep(random() * 1_000);
    if (random() < 0.5) deck.stage.again({ channel, root: said.root, ts });
  };
  const reply = async (text: string): Promise<void> => {
    const { ts } = await deck.say(text, { channel, user, thread: said.root });
    await again(ts);
  };
  await again(said.ts);
  const reads = async (pattern: RegExp): Promise<boolean> => await comes(() => said.posts().some(({ text }) => pattern.test(text)), quiet);
  // Nobody can write in a thread that is not there yet.
  if (!(await reads(/./))) return;
  if (manner === "approved") {
    await sleep(random() * 3_000);
    await reply("more");
  } else if (manner === "changed" && (await reads(/\[ Approve \]/))) {
    await reply("instead");
  } else if (manner === "stopped" && (await comes(async () => await hasBegun(said), quiet))) {
    await sleep(random() * 2_000);
    await reply("stop");
  }
}

/** Waits until it is so; false when nobody waits any more. */
async function comes(isSo: () => boolean | Promise<boolean>, quiet: AbortSignal): Promise<boolean> {
  while (!quiet.aborted) {
    if (await isSo()) return true;
    await sleep(200);
  }
  return false;
}

async function hasBegun(said: Said): Promise<boolean> {
  return (await entriesOf(said)).some(({ type }) => type === "run-started" || type === "final");
}

/** While Redis is away nobody knows. */
async function entriesOf(said: Said): Promise<Entry[]> {
  return await said.entries().catch(() => []);
}

/** So often people press what still shows its buttons; a press may die with its hearer. */
const PRESS_MS = 1_500;

/** People look at their threads and press what is open, two at once and against each other. Never rejects. */
export async function pressAll(people: People, done: AbortSignal): Promise<void> {
  const { random, talks } = people;
  const pressed = new Map<string, number>();
  const press = ({ deck, said }: Talk, ts: string, action: string, user: string): void => {
    deck.stage.press({ channel: said.channel, root: said.root, ts, action, user }).catch(() => null); // nobody heard it
  };
  while (!done.aborted) {
    await sleep(500);
    for (const talk of talks) {
      const { deck, said, manner } = talk;
      if (!deck.stage.isHeard()) continue;
      const posts = said.posts();
      const doubtful = posts.find(({ text }) => text.includes("[ Run again ]"));
      if (doubtful && !people.quiet.aborted && random() < 0.2) {
        const choice = (["look", "again", "leave"] as const)[Math.floor(random() * 3)] ?? "look";
        for (const user of ["U1", "U2"]) press(talk, doubtful.ts, choice, user);
      }
      const card = posts.find(({ text }) => text.includes("[ Approve ]"));
      if (!card || manner === "silent" || (manner === "changed" && !people.quiet.aborted)) continue;
      if (Date.now() - (pressed.get(card.ts) ?? 0) < PRESS_MS) continue;
      if (manner === "late" && !(await isDue(said))) continue;
      pressed.set(card.ts, Date.now());
      press(talk, card.ts, "approve", "U3");
      press(talk, card.ts, manner === "denied" ? "deny" : "approve", "U1");
      press(talk, card.ts, random() < 0.8 ? "approve" : "deny", "U2");
    }
  }
}

/** Those who wait for the last moment: just before the deadline, or after some seconds when it is far. */
async function isDue(said: Said): Promise<boolean> {
  const asked = (await entriesOf(said)).findLast((entry) => entry.type === "approval-asked");
  return asked?.type === "approval-asked" && Date.now() > Math.min(asked.deadline - 200, asked.at + 12_000);
}
