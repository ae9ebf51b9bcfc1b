import { fork } from "node:child_process";
import { once } from "node:events";
import { fileURLToPath } from "node:url";
import { setTimeout as sleep } from "node:timers/promises";
import { PLATFORMS, type Platform } from "../support/stage.ts";
import { type Bench, type Figure, median, ratiosOf, spread } from "./figure.ts";
import { ended } from "./models.ts";
import { openProduct, type Product, type Standing } from "./product.ts";

const REST_MS = 1000;
const COMPILED = fileURLToPath(new URL("../../node_modules/.cache/compiled", import.meta.url));

export const idle: Bench = {
  name: "idle",
  what: "the resident memory of an idle process with all roles, against the bare packages that it needs, connected and idle; the code of both compiled before, as `bin/deckhand` keeps it",
  rounds: 5,
  run: async (rounds) => {
    const figures: Figure[] = [];
    for (const platform of PLATFORMS) {
      const [ours, floors]: [Standing[], Standing[]] = [[], []];
      // The first time both compile.
      for (let round = 0; round <= rounds; round++) {
        const product = await openProduct({ platform, sandbox: "bwrap" });
        product.deck.env["NODE_COMPILE_CACHE"] = COMPILED;
        const app = await product.start();
        await sleep(REST_MS);
        const own = await app.standing();
        await app.stop();
        const bare = await barePackages(product, platform);
        if (round > 0) ours.push(own);
        if (round > 0) floors.push(bare);
        await product.close();
      }
      figures.push(...figuresOf(platform, ours, floors));
    }
    return figures;
  },
};

function figuresOf(platform: Platform, ours: Standing[], floors: Standing[]): Figure[] {
  const other = platform === "slack" ? "discord.js" : "@slack/bolt";
  const [own, bare] = [ours.map(({ rss }) => rss), floors.map(({ rss }) => rss)];
  const ratios = ratiosOf(own, bare);
  const heaps = [ours, floors].map((all) => spread(all.map(({ heap }) => heap)));
  return [
    {
      what: `idle process, ${platform}`,
      value: median(ratios),
      unit: "×",
      goal: { at: "most", value: 1.1 },
      detail: `${spread(own)} MB against ${spread(bare)} MB; heap ${heaps[0]} against ${heaps[1]} MB; ratios ${spread(ratios, "", 2)}`,
    },
    {
      what: `${other} loaded without a token, ${platform}`,
      value: ours.filter(({ packages }) => packages.includes(other)).length,
      unit: "",
      goal: { at: "most", value: 0 },
      detail: `loaded: ${[...new Set(ours.flatMap(({ packages }) => packages))].join(", ")}`,
    },
  ];
}

async function barePackages({ deck }: Product, platform: Platform): Promise<Standing> {
  const file = fileURLToPath(new URL("./bare-packages.ts", import.meta.url));
  const child = fork(file, [platform], { env: deck.env, execArgv: ["--expose-gc"] });
  await once(child, "message");
  await sleep(REST_MS);
  child.send("how do you stand?");
  const [standing] = (await once(child, "message")) as [Standing];
  await ended(child);
  return standing;
}
