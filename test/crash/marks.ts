import type { Entry } from "../../src/core/entry.ts";
import type { Shown } from "../support/stage.ts";

/** What a send that may have come twice says of itself. */
const MARKED = /may be a duplicate/i;
const TOLD_ELSEWHERE = ["denied", "expired", "superseded", "cancelled"];

/** Holds the thread against the log: each entry that is shown has words by which its post is known. */
export function shownMarks(log: Entry[], posts: Shown[]): { lost: string[]; reordered: string[]; doubled: string[]; marked: number } {
  const thread = textOf(posts);
  const plain = textOf(posts.filter(({ text }) => !MARKED.test(text)));
  const marks = log.flatMap((entry) => wordsOf(entry, log));
  const found = { lost: [] as string[], reordered: [] as string[], doubled: [] as string[], marked: 0 };
  let at = 0;
  for (const mark of marks) {
    const place = thread.indexOf(mark, at);
    if (place >= 0) at = place + mark.length - 1;
    else (thread.includes(mark) ? found.reordered : found.lost).push(mark.trim());
  }
  for (const mark of new Set(marks)) {
    const due = marks.filter((each) => each === mark).length;
    if (plain.split(mark).length - 1 > due) found.doubled.push(mark.trim());
    else if (thread.split(mark).length - 1 > due) found.marked += 1;
  }
  return found;
}

function textOf(posts: Shown[]): string {
  return `${posts.map(({ text }) => text).join("\n")}\n`;
}

/** A post is known by its command or by its words, so these must be unlike each other. */
function wordsOf(entry: Entry, log: Entry[]): string[] {
  switch (entry.type) {
    case "approval-asked":
      return [`  | ${entry.command}\nWhy I ask: `];
    case "run-ended": {
      if (entry.how === "refused" && TOLD_ELSEWHERE.includes(entry.why ?? "")) return [];
      const judged = log.find((e): e is Entry<"judged"> => e.type === "judged" && e.call === entry.call);
      return judged === undefined ? [] : [`  | $ ${judged.title}\n`];
    }
    case "final":
    case "failed":
      return [`${entry.text}\n`];
    default:
      return [];
  }
}
