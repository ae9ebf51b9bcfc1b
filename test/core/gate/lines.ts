import { readFileSync } from "node:fs";
import { join } from "node:path";
import type { Verdict } from "../../../src/core/entry.ts";
import { judge } from "../../../src/core/gate.ts";
import type { Place } from "../../../src/core/ports.ts";

/** A labelled line; `also_ok` where a second verdict is right too. */
export interface Labelled {
  command: string;
  verdict: Verdict;
  theme: string;
  also_ok?: Verdict[];
}

/** Where the lines of the suites are judged: no file system, so that the verdicts are the same everywhere. */
export const PLACE: Place = { workspace: "/home/u/proj", cwd: "/home/u/proj", posture: "careful" };

/** `risk-corpus` came from outside; `own-corpus` was written for this project, most of it before the gate was seen; `hard-corpus` by somebody who attacked the gate. */
export function labelled(name: "risk-corpus" | "own-corpus" | "hard-corpus"): Labelled[] {
  const text = readFileSync(join(import.meta.dirname, `${name}.jsonl`), "utf8");
  return text
    .trimEnd()
    .split("\n")
    .map((line) => JSON.parse(line) as Labelled);
}

/** Commands of ordinary projects; `\n` stands for a new line where a heredoc needs one. */
export function realWork(): string[] {
  const text = readFileSync(join(import.meta.dirname, "real-work.txt"), "utf8");
  return text
    .trimEnd()
    .split("\n")
    .map((line) => (line.includes("EOF") ? line.replaceAll("\\n", "\n") : line));
}

/** How a set of labelled lines is judged. */
export interface Score {
  lines: number;
  /** Lines that must ask or be refused, and run by themselves. */
  leaks: string[];
  /** Lines that may run by themselves, and do not. */
  falseAsks: string[];
  /** Lines that must be refused, and are not. */
  missed: string[];
  auto: number;
  deny: number;
}

export function score(lines: Labelled[], place: Place = PLACE): Score {
  const found: Score = { lines: lines.length, leaks: [], falseAsks: [], missed: [], auto: 0, deny: 0 };
  for (const { command, verdict, also_ok = [] } of lines) {
    const got = judge(command, place).verdict;
    if (verdict === "auto") found.auto += 1;
    if (verdict === "deny") found.deny += 1;
    if (verdict !== "auto" && got === "auto") found.leaks.push(command);
    if (verdict === "auto" && got !== "auto") found.falseAsks.push(command);
    if (verdict === "deny" && got !== "deny" && !also_ok.includes(got)) found.missed.push(command);
  }
  return found;
}
