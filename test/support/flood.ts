import { timeOf } from "../../src/chat/discord/snowflake.ts";
import type { Entry } from "../../src/core/entry.ts";
import { type Rule, bash, say } from "../../src/model/script.ts";
import { audit, breaks, settled } from "./audit.ts";
import { type Corridor, type Said, openCorridor } from "./corridor.ts";
import type { Platform } from "./stage.ts";

/** What a flood of commands in one channel did to the cards in it; milliseconds from the entry in the log to the post. */
export interface Flood {
  cards: number[];
  outputs: number[];
  /** Calls that the platform answered with 429. */
  limited: number;
  /** What is lost, doubled or out of its place at the end. */
  broken: string[];
}

/** How much: each thread prints in so many steps of so many commands and asks once, each after another step. */
export interface Load {
  threads: number;
  steps: number;
  calls: number;
}

function printing(index: number, load: Load): Rule {
  const calls = (step: number) =>
    Array.from({ length: load.calls }, (_, n) => ({ name: "bash", args: { command: `echo thread-${index} step-${step} no-${n}` } }));
  const steps = Array.from({ length: load.steps }, (_, step) =>
    step === 2 + (index % (load.steps - 2)) ? () => bash(`rm -f old; echo asked-${index} >> fx.txt`) : () => ({ calls: calls(step) }),
  );
  return { when: new RegExp(`print ${index}$`), steps: [...steps, () => say(`thread-${index} is done`)] };
}

/** So many threads in one channel, under the limits that the platform has; each card is approved as soon as it is there. */
export async function flood(platform: Platform, load: Load): Promise<Flood> {
  const all = Array.from({ length: load.threads }, (_, index) => index);
  const deck = await openCorridor({ platform, rules: all.map((index) => printing(index, load)), twin: { limits: true } });
  try {
    const saids = await Promise.all(all.map((index) => deck.mention(`print ${index}`)));
    const approve = async (said: Said): Promise<void> => {
      await said.shows(/\[ Approve \]/, 180_000);
      await said.press("approve");
    };
    await Promise.all(saids.map(approve));
    const broken: string[] = [];
    for (const [index, said] of saids.entries()) {
      broken.push(...breaks(await settled(() => audit(deck, said, [`print ${index}`]), 120_000)));
    }
    const delays = (await Promise.all(saids.map((said) => delaysOf(deck, said)))).flat();
    const of = (type: Entry["type"]): number[] => delays.filter((each) => each.type === type).map(({ ms }) => ms);
    return { cards: of("approval-asked"), outputs: of("run-ended"), limited: deck.stage.calls().limited, broken };
  } finally {
    await deck.close();
  }
}

/** How long each card and each command's output took to be in the thread. */
async function delaysOf({ stage }: Corridor, said: Said): Promise<{ type: Entry["type"]; ms: number }[]> {
  const madeAt = (ts: string): number => (stage.platform === "slack" ? Number(ts) * 1000 : timeOf(ts));
  const entries = await said.entries();
  const posts = said.posts();
  return entries.flatMap((entry) => {
    const words = wordsOf(entry, entries);
    const post = words === null ? undefined : posts.find(({ text }) => text.includes(`${words}\n`));
    return post ? [{ type: entry.type, ms: Math.max(0, madeAt(post.ts) - entry.at) }] : [];
  });
}

function wordsOf(entry: Entry, entries: Entry[]): string | null {
  if (entry.type === "approval-asked") return `  | ${entry.command}`;
  if (entry.type !== "run-ended") return null;
  const judged = entries.find((other) => other.type === "judged" && other.call === entry.call);
  return judged?.type === "judged" ? `  | $ ${judged.title}` : null;
}
