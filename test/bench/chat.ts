import { setTimeout as sleep } from "node:timers/promises";
import { PLATFORMS, type Platform } from "../support/stage.ts";
import { type Bench, type Figure, median, ratiosOf, sized, spread } from "./figure.ts";
import { openProduct, type Product } from "./product.ts";
import { allPosted, atRest, refillBudgets } from "./task.ts";

const STEPS = 10;
const THREADS = 10;
const WARM_UP = sized(2, 1);
/** So long ten threads work on Slack, whose updates are counted by the minute. */
const WORK_S = sized(60, 8);

/** One task in one thread; seconds, but for the agent's part: milliseconds. */
interface Task {
  /** From the first model request to the end of the last answer. */
  agent: number;
  /** From there to the final post. */
  final: number;
  /** Posts and edits, the last one of its status included, and how many there may be by then. */
  calls: number;
  allowed: number;
  limited: number;
  inOrder: boolean;
}

export const chat: Bench = {
  name: "chat",
  what: `a task of ${STEPS} steps under the platform's limits against the same without, and ${THREADS} threads at work in one Slack workspace`,
  rounds: 5,
  run: async (rounds) => {
    const figures: Figure[] = [];
    for (const platform of PLATFORMS) figures.push(...(await onPlatform(platform, rounds)));
    return [...figures, ...(await manyThreads())];
  },
};

async function onPlatform(platform: Platform, rounds: number): Promise<Figure[]> {
  const free = await openProduct({ platform, limits: false });
  const limited = await openProduct({ platform, limits: true });
  await Promise.all([free.start(), limited.start()]);
  const kept = { free: [] as Task[], limited: [] as Task[] };
  for (let round = 0; round < rounds + WARM_UP; round++) {
    const one = await doTask(free, `free${round}`, `C${(round % 30) + 1}`, true);
    const other = await doTask(limited, `limited${round}`, `C${(round % 30) + 1}`, false);
    if (round < WARM_UP) continue;
    kept.free.push(one);
    kept.limited.push(other);
  }
  await Promise.all([free.close(), limited.close()]);
  return figures(platform, kept.free, kept.limited);
}

async function doTask(product: Product, name: string, channel: string, refills: boolean): Promise<Task> {
  const { deck, model } = product;
  const { stage } = deck;
  // The budgets are as after a rest; without limits they are never used up.
  await refillBudgets(product);
  const before = stage.calls();
  const root = await product.mention(`steps ${STEPS} #${name}`, channel);
  const start = performance.now();
  const refilling = refills ? setInterval(() => void refillBudgets(product), 20) : undefined;
  const last = await model.done(name);
  const ended = performance.now();
  await stage.waitFor(() => stage.thread(channel, root, "bot").some(({ text }) => text.includes("It is done.")), 60_000);
  const final = (performance.now() - ended) / 1000;
  clearInterval(refilling);
  // Else its last edit would count as one of the next task.
  await allPosted(product);
  const calls = stage.calls();
  const allowed = 2 + (performance.now() - start) / 1000;
  const [first] = model.asked(name);
  const seen = stage
    .thread(channel, root, "bot")
    // The status names the command of the moment.
    .filter(({ text }) => !text.includes("[ Stop ]"))
    .flatMap(({ text }) => [...text.matchAll(/true # step (\d+)/g)].map(([, step]) => Number(step)))
    .filter((step, at, all) => all.indexOf(step) === at);
  await atRest(product);
  await sleep(200);
  return {
    agent: last.answered - (first?.at ?? 0),
    final,
    calls: calls.posts + calls.edits - before.posts - before.edits,
    allowed,
    limited: calls.limited - before.limited,
    inOrder: seen.length === STEPS && seen.every((step, at) => step === at + 1),
  };
}

function figures(platform: Platform, free: Task[], limited: Task[]): Figure[] {
  const agents = { free: free.map(({ agent }) => agent), limited: limited.map(({ agent }) => agent) };
  const ratios = ratiosOf(agents.limited, agents.free);
  const finals = limited.map(({ final }) => final);
  const over = limited.map(({ calls, allowed }) => calls - allowed);
  const most = (what: string, value: number, unit: string, goal: number, detail: string): Figure => ({
    ...{ what: `${what}, ${platform}`, value, unit, detail },
    goal: { at: "most", value: goal },
  });
  const wrong = limited.filter(({ inOrder }) => !inOrder).length;
  const refused = limited.reduce((sum, task) => sum + task.limited, 0);
  return [
    most(
      "the agent's part under the platform's limits",
      median(ratios),
      "×",
      1.1,
      `${spread(agents.limited, " ms")} against ${spread(agents.free, " ms")} without; ratios ${spread(ratios, "", 2)}`,
    ),
    most("end of the last answer to the final post", Math.max(...finals), " s", platform === "slack" ? 2 : 5, spread(finals, " s", 2)),
    most("calls refused for their number", refused, "", 0, `${limited.length} tasks`),
    most("tasks whose thread is incomplete or out of order", wrong, "", 0, `${limited.length} tasks`),
    most(
      "posts and edits beyond two and one a second",
      Math.max(...over),
      "",
      0,
      `posts and edits ${spread(limited.map(({ calls }) => calls))}`,
    ),
  ];
}

/** The model takes its time here, as one does: an edit a step would be far too many. */
async function manyThreads(): Promise<Figure[]> {
  const product = await openProduct({ limits: true });
  await product.start();
  const { stage } = product.deck;
  const steps = Math.ceil(WORK_S / 2);
  const names = Array.from({ length: THREADS }, (_, index) => `thread${index}`);
  const seconds: number[] = [];
  const start = performance.now();
  await Promise.all(names.map((name, index) => product.mention(`steps ${Math.min(steps, 40)} delay 1500 #${name}`, `C${index + 1}`)));
  for (let before = 0; performance.now() - start < WORK_S * 1000; ) {
    await sleep(1000);
    const { edits } = stage.calls();
    seconds.push(edits - before);
    before = edits;
  }
  const { limited } = stage.calls();
  await product.close();
  const minutes = seconds.map((_, from) => seconds.slice(from, from + 60).reduce((sum, count) => sum + count, 0));
  return [
    {
      what: `updates in a minute, ${THREADS} threads at work, slack`,
      value: Math.max(...minutes),
      unit: "",
      goal: { at: "most", value: 49 },
      detail: `in ${WORK_S} s; ${limited} calls refused for their number`,
    },
  ];
}
