import { circumstances } from "../core/card.ts";
import { besides } from "../core/render.ts";
import { decisionLine } from "../core/approval.ts";
import type { Entry } from "../core/entry.ts";
import { visible } from "../core/visible.ts";

/** One entry as a person at a terminal reads it; empty for entries that say nothing new. */
export function printEntry(entry: Entry): string {
  switch (entry.type) {
    case "model":
      return entry.calls.length > 0 && entry.text ? visible(entry.text) : "";
    case "judged":
      return entry.verdict === "deny" ? `$ ${visible(entry.title)}` : "";
    case "approval-asked":
      return [
        `? ${aligned(entry.command)}`,
        `  why I ask: ${entry.reasons.map((r) => visible(r.text)).join("; ")}`,
        `  where: ${visible(entry.cwd)} · ${entry.sandbox}`,
        ...circumstances(entry).map((line) => `  ${visible(line)}`),
      ].join("\n");
    case "approval-decided":
      return `  ${decisionLine(entry)}`;
    case "run-started":
      return `$ ${aligned(entry.command)}`;
    case "run-ended":
      return printRun(entry);
    case "final":
      return `\n${visible(entry.text)}${entry.cut ? "\n(output cut: the model reached its limit of length)" : ""}`;
    case "failed":
      return `\n${visible(entry.text)}`;
    default:
      return "";
  }
}

function printRun(entry: Entry<"run-ended">): string {
  // The decision was a line of its own.
  if (entry.why === "denied") return "";
  if (entry.how === "refused") return `  ${visible(entry.output.text)}`;
  const output = visible(entry.output.text.trimEnd()) || "(no output)";
  const how = entry.how === "exited" ? `exit ${entry.exit ?? "?"}` : entry.how;
  const after = besides(entry).map((line) => `\n  ${visible(line)}`);
  return `${output}\n  [${how}, ${(entry.ms / 1000).toFixed(1)} s]${after.join("")}`;
}

/** A command of several lines, set in so that none of them can pass for a line of ours. */
function aligned(command: string): string {
  return visible(command).replaceAll("\n", "\n  ");
}
