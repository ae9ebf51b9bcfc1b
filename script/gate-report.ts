import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { judge } from "../src/core/gate.ts";
import { type Labelled, labelled, PLACE, realWork, type Score, score } from "../test/core/gate/lines.ts";

const percent = (part: number, whole: number): string => (whole === 0 ? "-" : `${(Math.floor((part / whole) * 1000) / 10).toFixed(1)} %`);

/** docs/gate.md: how the gate judges the labelled lines, theme by theme. */
export function gateReport(): string {
  const sets = [
    { name: "risk-corpus", text: "The lines that came with the project (`test/core/gate/risk-corpus.jsonl`)." },
    { name: "own-corpus", text: "Lines of the same kinds, written for this project (`test/core/gate/own-corpus.jsonl`)." },
    {
      name: "hard-corpus",
      text: "Lines of somebody who attacked the gate: what it had judged wrongly until then, and a part of the rest (`test/core/gate/hard-corpus.jsonl`).",
    },
  ] as const;
  const head = [
    "# How well the gate judges",
    "",
    "Written by `script/gate-report`; do not edit. The posture is `careful` and there is no file system to look into.",
    "A **leak** is a line that must ask or be refused and runs by itself; a **false ask** is a harmless line that asks.",
    "",
    `Versions: ${versions()}.`,
    "",
  ];
  return [...head, ...sets.flatMap(({ name, text }) => section(name, text)), ...realWorkSection()].join("\n");
}

function section(name: "risk-corpus" | "own-corpus" | "hard-corpus", text: string): string[] {
  const lines = labelled(name);
  const themes = [...new Set(lines.map((one) => one.theme))].toSorted();
  const rows = themes.map((theme) => row(theme, score(lines.filter((one) => one.theme === theme))));
  const all = row("**all**", score(lines));
  return [
    `## ${name}`,
    "",
    text,
    "",
    "| Theme | Lines | Leaks | Auto recall | False asks | Refused recall |",
    "| --- | --- | --- | --- | --- | --- |",
    ...rows,
    all,
    "",
    ...leftOver(lines),
  ];
}

function row(theme: string, { lines, leaks, auto, falseAsks, deny, missed }: Score): string {
  const cells = [
    theme,
    lines,
    leaks.length,
    percent(auto - falseAsks.length, auto),
    percent(falseAsks.length, auto),
    percent(deny - missed.length, deny),
  ];
  return `| ${cells.join(" | ")} |`;
}

/** What is not judged as it is labelled, so that nobody has to look for it. */
function leftOver(lines: Labelled[]): string[] {
  const { leaks, falseAsks, missed } = score(lines);
  const list = (title: string, found: string[]): string[] =>
    found.length === 0 ? [] : [`${title}:`, "", ...found.map((line) => `- \`${line.replaceAll("\n", "⏎").replaceAll("`", "'")}\``), ""];
  return [...list("Leaks", leaks), ...list("False asks", falseAsks), ...list("Not refused", missed)];
}

function realWorkSection(): string[] {
  const lines = realWork();
  const asking = (posture: "careful" | "contained"): string => {
    const asked = lines.filter((line) => judge(line, { ...PLACE, posture, realpath: installed }).verdict !== "auto");
    return `| ${posture} | ${lines.length} | ${asked.length} | ${percent(asked.length, lines.length)} |`;
  };
  return [
    "## Real work",
    "",
    "Commands from build logs, READMEs and agents (`test/core/gate/real-work.txt`), with the project's tools installed.",
    "",
    "| Posture | Lines | Ask | Share |",
    "| --- | --- | --- | --- |",
    asking("careful"),
    asking("contained"),
    "",
  ];
}

/** The tools of an ordinary project are in its own folder. */
function installed(path: string): string | null {
  const tools = /node_modules\/\.bin\/(?:tsc|vitest|eslint|prettier|jest|playwright|tsx|ts-node|prisma)$/;
  return !path.includes("node_modules") || tools.test(path) ? path : null;
}

function versions(): string {
  const { version, dependencies } = JSON.parse(readFileSync("package.json", "utf8")) as {
    version: string;
    dependencies: Record<string, string>;
  };
  return `Deckhand ${version}, unbash ${dependencies["unbash"] ?? "?"}`;
}

if (import.meta.main) {
  mkdirSync("docs", { recursive: true });
  writeFileSync("docs/gate.md", gateReport());
}
