import { fork } from "node:child_process";
import { mkdirSync, writeFileSync } from "node:fs";
import { BENCHES } from "../test/bench/all.ts";
import { type Bench, type Figure, sized } from "../test/bench/figure.ts";
import { document, good, type Outcome, textTable } from "../test/bench/report.ts";

const MEASURE = "--measure";
/** One round and small numbers: to see that the benches work, not what they say. */
const QUICKLY = "--quick";

/** Runs one bench in a process of its own. */
function measure(bench: Bench): Promise<Outcome> {
  const child = fork(import.meta.filename, [MEASURE, bench.name]);
  let outcome: Outcome = { bench, figures: [], failure: "it ended without figures" };
  child.on("message", (message) => {
    outcome = { bench, ...(message as Pick<Outcome, "figures" | "failure">) };
  });
  return new Promise((done) => child.once("close", () => done(outcome)));
}

/** The other side of `measure`. */
async function measured({ run, rounds }: Bench): Promise<Pick<Outcome, "figures" | "failure">> {
  let figures: Figure[] = [];
  try {
    figures = await run(sized(rounds, 1));
    return { figures, failure: null };
  } catch (thrown) {
    console.error(thrown);
    return { figures, failure: String(thrown).split("\n")[0] ?? "" };
  }
}

async function main([...args]: string[]): Promise<number> {
  const quick = args.indexOf(QUICKLY);
  if (quick >= 0) {
    args.splice(quick, 1);
    process.env["BENCH_QUICK"] = "yes";
  }
  if (args.includes("--list")) {
    for (const { name, what } of BENCHES) console.log(`${name}\n    ${what}`);
    return 0;
  }
  const unknown = args.filter((name) => !BENCHES.some((bench) => bench.name === name));
  if (unknown.length > 0) {
    console.error(`bench: there is no ${unknown.join(", ")}; script/bench --list names all`);
    return 2;
  }
  const outcomes: Outcome[] = [];
  for (const bench of BENCHES.filter(({ name }) => args.length === 0 || args.includes(name))) {
    console.error(`bench: ${bench.name} ...`);
    outcomes.push(await measure(bench));
  }
  console.log(textTable(outcomes));
  if (args.length === 0 && quick < 0) {
    mkdirSync("docs", { recursive: true });
    writeFileSync("docs/performance.md", document(outcomes, new Date()));
  }
  return outcomes.every(good) ? 0 : 1;
}

const [first, name] = process.argv.slice(2);
const only = first === MEASURE ? BENCHES.find((bench) => bench.name === name) : undefined;
if (only === undefined) process.exitCode = await main(process.argv.slice(2));
else {
  // What a failed bench has left open must not keep it.
  process.send?.(await measured(only), () => process.exit());
}
