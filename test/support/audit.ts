import type { Entry } from "../../src/core/entry.ts";
import type { Corridor, Said } from "./corridor.ts";

/** A conversation at rest held against what was promised: `lost`, `twice`, `doubled` and `wrong` name each break. */
export interface Audit {
  commands: number;
  interrupted: number;
  lost: string[];
  /** Commands that were started again, or whose effect is there again. */
  twice: string[];
  doubled: string[];
  wrong: string[];
}

/**
 * `sent`: what people wrote to the bot. A command of the form `echo WORD >> fx.txt` leaves a trace, by which
 * its runs are counted; the texts of answers and the commands must be unlike each other.
 */
export async function audit(deck: Corridor, said: Said, sent: string[]): Promise<Audit> {
  const log = await deck.log.read(said.conversation, 0);
  const found: Audit = {
    commands: of(log, "run-started").length,
    interrupted: of(log, "run-ended").filter((e) => e.how === "interrupted").length,
    lost: [],
    twice: [],
    doubled: [],
    wrong: [],
  };
  auditMessages(log, sent, found);
  auditRuns(log, deck.files.has("fx.txt") ? deck.files.read("fx.txt").split("\n") : [], found);
  auditThread(
    log,
    said.posts().map((post) => post.text),
    found,
  );
  return found;
}

export function breaks(found: Audit): string[] {
  return [...found.lost, ...found.twice, ...found.doubled, ...found.wrong];
}

/** Waits until nothing is broken (or for `ms`), and gives what then still is. */
export async function settled(look: () => Promise<Audit>, ms = 30_000): Promise<Audit> {
  for (const end = Date.now() + ms; ; ) {
    const found = await look();
    if (breaks(found).length === 0 || Date.now() > end) return found;
    await new Promise((resolve) => setTimeout(resolve, 100));
  }
}

function of<T extends Entry["type"]>(log: Entry[], type: T): Entry<T>[] {
  return log.filter((entry): entry is Entry<T> => entry.type === type);
}

/** Holds a number against 1: fewer is lost, more is doubled. */
function once(what: string, count: number, found: Audit): void {
  if (count < 1) found.lost.push(what);
  if (count > 1) found.doubled.push(`${what} (${count} times)`);
}

function auditMessages(log: Entry[], sent: string[], found: Audit): void {
  if (log.some((entry, index) => entry.seq !== index + 1)) found.wrong.push("the log has a gap");
  const messages = of(log, "message").filter((e) => e.to === "bot");
  for (const text of sent) once(`message "${text}"`, messages.filter((e) => e.text === text).length, found);
  const answers = log.flatMap((e) => (e.type === "final" || e.type === "failed" ? e.answers : []));
  for (const { seq, text } of messages) once(`answer to "${text}"`, answers.filter((answered) => answered === seq).length, found);
  if (answers.some((seq, index) => seq < (answers[index - 1] ?? 0))) found.wrong.push(`answers are out of order: ${answers.join()}`);
  for (const { text } of of(log, "failed")) found.wrong.push(`failed: ${text}`);
}

function auditRuns(log: Entry[], effects: string[], found: Audit): void {
  const started = of(log, "run-started");
  for (const run of started) {
    const ended = of(log, "run-ended").filter((e) => e.call === run.call);
    once(`end of ${run.command}`, ended.length, found);
    if (started.filter((e) => e.call === run.call).length > 1) found.twice.push(`start of ${run.command}`);
    const word = /echo (\S+) >> fx\.txt/.exec(run.command)?.[1];
    const count = effects.filter((line) => line === word).length;
    if (count > 1) found.twice.push(`effect ${word}`);
    const [end] = ended;
    if (word && end?.how === "exited" && count === 0) found.lost.push(`effect ${word} (exit ${end.exit}: ${end.output.text})`);
    const asked = of(log, "approval-asked").find((e) => e.call === run.call);
    const approved = of(log, "approval-decided").find((e) => e.call === run.call)?.decision === "approved";
    const asks = of(log, "judged").find((e) => e.call === run.call)?.verdict !== "auto";
    if (asks && !(approved && asked?.digest === run.digest)) found.wrong.push(`not approved: ${run.command}`);
  }
  for (const { command, call } of of(log, "approval-asked")) {
    once(`decision on ${command}`, of(log, "approval-decided").filter((e) => e.call === call).length, found);
    const word = /echo (\S+) >> fx\.txt/.exec(command)?.[1] ?? "";
    if (effects.includes(word) && !started.some((e) => e.call === call)) found.wrong.push(`effect without a start: ${word}`);
  }
}

const OVER = /^(Done|Stopped|Not done) · \d+ commands? · \d+ s/;
const TOLD_ELSEWHERE = ["denied", "expired", "superseded", "cancelled"];

function auditThread(log: Entry[], posts: string[], found: Audit): void {
  const thread = `${posts.join("\n")}\n`;
  const marks = log.flatMap((entry) => markOf(entry, log));
  let at = 0;
  for (const mark of marks) {
    const place = thread.indexOf(mark, at);
    if (place < 0) (thread.includes(mark) ? found.wrong : found.lost).push(`post in its place: ${mark.trim()}`);
    else at = place + mark.length - 1;
  }
  for (const mark of new Set(marks)) {
    const [shown, due] = [thread.split(mark).length - 1, marks.filter((each) => each === mark).length];
    if (shown > due) found.doubled.push(`post: ${mark.trim()}`);
  }
  const turns = of(log, "final").length + of(log, "failed").filter((e) => !e.parked).length;
  const statuses = posts.filter((text) => OVER.test(text)).length;
  if (statuses < turns) found.lost.push(`${turns - statuses} statuses at their end`);
  if (statuses > turns) found.doubled.push(`${statuses - turns} statuses`);
  for (const text of posts.filter((post) => /\[ (Approve|Stop) \]/.test(post))) found.wrong.push(`open buttons: ${text.slice(0, 80)}`);
}

/** Words by which the post of an entry is known. */
function markOf(entry: Entry, log: Entry[]): string[] {
  switch (entry.type) {
    case "approval-asked":
      return [`  | ${entry.command}\nWhy I ask: `];
    case "run-ended": {
      if (entry.how === "refused" && TOLD_ELSEWHERE.includes(entry.why ?? "")) return [];
      const title = of(log, "judged").find((e) => e.call === entry.call)?.title;
      return title === undefined ? [] : [`  | $ ${title}\n`];
    }
    case "final":
    case "failed":
      return [`${entry.text}\n`];
    default:
      return [];
  }
}
