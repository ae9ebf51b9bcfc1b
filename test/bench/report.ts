import { spawnSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { cpus, release, totalmem } from "node:os";
import { type Bench, type Figure, holds } from "./figure.ts";

/** What a bench gave: its figures, or why there are none. */
export interface Outcome {
  bench: Bench;
  figures: Figure[];
  failure: string | null;
}

export function good({ figures, failure }: Outcome): boolean {
  return failure === null && figures.every(holds);
}

/** One line for each figure, in columns. */
export function textTable(outcomes: Outcome[]): string {
  const rows = [HEAD, ...outcomes.flatMap(rowsOf)];
  const widths = HEAD.map((_, column) => Math.max(...rows.map((row) => (row[column] as string).length)));
  return rows
    .map((row) =>
      row
        .map((cell, column) => cell.padEnd(widths[column] as number))
        .join("  ")
        .trimEnd(),
    )
    .join("\n");
}

/** The whole of docs/performance.md. */
export function document(outcomes: Outcome[], when: Date): string {
  const line = (cells: string[]): string => `| ${cells.map((cell) => cell.replaceAll("|", "\\|")).join(" | ")} |`;
  const rows = outcomes.flatMap(rowsOf);
  return [
    "# Performance",
    "",
    "Written by `script/bench`; `script/bench NAME` measures one, `script/bench --list` names them.",
    "",
    "Every ratio is ours against a floor that ran in turn with it in the same run: read the ratios, not the milliseconds.",
    "Values are medians of the rounds' medians, in brackets the least and the most. Rows without a goal are for comparison.",
    "",
    machine(when),
    "",
    ...[HEAD, HEAD.map(() => "---"), ...rows].map(line),
    "",
    "What is measured:",
    "",
    ...outcomes.map(({ bench }) => `- \`${bench.name}\`: ${bench.what}; ${bench.rounds} rounds`),
    "",
    readFileSync(new URL("reasons.md", import.meta.url), "utf8"),
  ].join("\n");
}

const HEAD = ["Bench", "Figure", "Value", "Goal", "Holds", "Measured"];

function rowsOf({ bench, figures, failure }: Outcome): string[][] {
  if (failure !== null) return [[bench.name, "", "", "", "no", failure]];
  return figures.map((figure) => {
    const { what, value, unit, goal, detail } = figure;
    const aim = goal === undefined ? "" : `${goal.at === "most" ? "≤" : "≥"} ${goal.value}${unit}`;
    return [
      bench.name,
      what,
      `${value.toFixed(unit === "×" ? 2 : 1)}${unit}`,
      aim,
      goal === undefined ? "" : holds(figure) ? "yes" : "no",
      detail,
    ];
  });
}

function machine(when: Date): string {
  const all = cpus();
  const memory = `${Math.round(totalmem() / 2 ** 30)} GB`;
  const bwrap = spawnSync("bwrap", ["--version"], { encoding: "utf8" }).stdout?.trim() ?? "no bubblewrap";
  const day = when.toISOString().slice(0, 10);
  return `Machine: ${all.length} cores (${all[0]?.model.trim() ?? "unknown"}), ${memory}, ${process.platform} ${release()}, Node ${process.version}, ${bwrap}; ${day}.`;
}
