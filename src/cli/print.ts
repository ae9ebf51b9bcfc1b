import { circumstances } from "../core/card.ts";
import { besides, shorterLine } from "../core/render.ts";
import { decisionLine } from "../core/approval.ts";
import type { Entry } from "../core/entry.ts";
import { visible } from "../core/visible.ts";
import { LIMITS } from "../limits.ts";
import { SKIPPED } from "../sandbox/capture.ts";

/** What a terminal has shown of a command while it ran. */
export interface Seen {
  /** Something came too fast to be shown. */
  gaps: boolean;
  /** The end of it. */
  end: string;
}

export function seeMore(text: string, seen: Seen = { gaps: false, end: "" }): Seen {
  return { gaps: seen.gaps || text.includes(SKIPPED), end: (seen.end + text).slice(-LIMITS.liveBytes) };
}

/** One entry as a person at a terminal reads it; empty for entries that say nothing new. `seen`: what was shown of this run; `written`: its words were shown. */
export function printEntry(entry: Entry, seen?: Seen, written = false): string {
  switch (entry.type) {
    case "model":
      return [insteadLine(entry), entry.calls.length > 0 && !written ? visible(entry.text) : ""].filter(Boolean).join("\n");
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
    case "paused":
      return `? ${visible(entry.text)}`;
    case "run-started":
      return `$ ${aligned(entry.command)}`;
    case "run-ended":
      return printRun(entry, seen);
    case "final":
      return `${written ? "" : `\n${visible(entry.text)}`}${entry.cut ? "\n(output cut: the model reached its limit of length)" : ""}`;
    case "compacted":
      return shorterLine(entry) ?? "";
    case "failed":
      return `\n${visible(entry.text)}`;
    default:
      return "";
  }
}

function insteadLine({ instead, model }: Entry<"model">): string {
  return instead === undefined ? "" : visible(`  [${instead}. Another model answered: ${model}]`);
}

function printRun(entry: Entry<"run-ended">, seen?: Seen): string {
  // The decision was a line of its own.
  if (entry.why === "denied") return "";
  if (entry.how === "refused") return `  ${visible(entry.output.text)}`;
  const text = visible(entry.output.text.trimEnd());
  const how = entry.how === "exited" ? `exit ${entry.exit ?? "?"}` : entry.how;
  const after = besides(entry).map((line) => `\n  ${visible(line)}`);
  const end = `  [${how}, ${(entry.ms / 1000).toFixed(1)} s]${after.join("")}`;
  if (!seen) return `${text || "(no output)"}\n${end}`;
  const lineEnd = seen.end.endsWith("\n") ? "" : "\n";
  if (isAllOf(entry, seen)) return lineEnd + end;
  return `${lineEnd}  [not all of that could be shown as it came; this is what is kept of it:]\n${text}\n${end}`;
}

/** Whether the last line of the output was shown, and nothing before it was skipped. */
function isAllOf({ output }: Entry<"run-ended">, { gaps, end }: Seen): boolean {
  const last = output.text.trimEnd().split("\n").at(-1) ?? "";
  return !gaps && end.trimEnd().endsWith(last);
}

/** A command of several lines, set in so that none of them can pass for a line of ours. */
function aligned(command: string): string {
  return visible(command).replaceAll("\n", "\n  ");
}
