import type { Entry } from "../../src/core/entry.ts";
import type { Evidence, Thread } from "./evidence.ts";
import { shownMarks } from "./marks.ts";

/** What must never happen, each counted. */
export const BREAKS = [
  // I1: a message that is not in the log, or not answered; an effect or a post that is not there
  "lost",
  // messages, answers or posts out of their order
  "reordered",
  // a message kept, answered or posted twice
  "duplicates",
  // I2: a command that ran twice
  "run twice",
  // I3: a run without an end, or with two
  "ends",
  // I4: a gap or a fork in the log, an entry of an older epoch after one of a newer
  "forks",
  // I6: an approval decided twice, or never although somebody went on
  "decisions",
  // I9: a command that ran without its approval
  "not approved",
  // I8: two commands at once in the workspace
  "overlaps",
  // a card or a status with buttons that lead nowhere
  "dead buttons",
  // a turn that ended with an error
  "failed",
  // I7: something still to be done, or a job, although all is said
  "not at rest",
  // I11: BullMQ knows a conversation that waits for a person
  "parked work",
] as const;
export type Break = (typeof BREAKS)[number];

export interface Found {
  counts: Record<(typeof COUNTS)[number], number>;
  /** Conversations that wait for an operator's `retry`. */
  aside: string[];
  breaks: { kind: Break; what: string }[];
}

export const COUNTS = [
  "conversations",
  "messages",
  "commands",
  "doubtful",
  "marked posts",
  "approved",
  "denied",
  "expired",
  "superseded",
  "stopped",
  "parked",
  "set aside",
] as const;

/** Holds what is there against what was promised; see evidence.ts for what it may look at. */
export function verify(evidence: Evidence): Found {
  const found: Found = { counts: Object.fromEntries(COUNTS.map((name) => [name, 0])) as Found["counts"], aside: [], breaks: [] };
  for (const thread of evidence.threads) {
    found.counts.conversations += 1;
    const tell = (kind: Break, what: string): void => void found.breaks.push({ kind, what: `${thread.conversation}: ${what}` });
    checkLog(thread, tell);
    checkMessages(thread, tell, found);
    checkApprovals(thread, tell, found);
    checkRuns(thread, evidence.effects, tell, found);
    checkPosts(thread, tell, found);
    checkParked(thread, evidence.bell, tell, found);
  }
  for (const conversation of evidence.strays) found.breaks.push({ kind: "forks", what: `${conversation} belongs to no thread` });
  for (const what of evidence.unsettled) found.breaks.push({ kind: "not at rest", what });
  for (const what of overlaps(evidence.effects)) found.breaks.push({ kind: "overlaps", what });
  return found;
}

type Tell = (kind: Break, what: string) => void;

export function of<T extends Entry["type"]>(log: Entry[], type: T): Entry<T>[] {
  return log.filter((entry): entry is Entry<T> => entry.type === type);
}

function checkLog({ log, seq }: Thread, tell: Tell): void {
  const gap = log.findIndex((entry, index) => entry.seq !== index + 1);
  if (gap >= 0) tell("forks", `a gap before entry ${log[gap]?.seq}`);
  if (seq !== log.length) tell("forks", `the state counts ${seq} entries, the log has ${log.length}`);
  let epoch = 0;
  for (const entry of log) {
    if (entry.epoch > 0 && entry.epoch < epoch) tell("forks", `entry ${entry.seq} has epoch ${entry.epoch} after ${epoch}`);
    epoch = Math.max(epoch, entry.epoch);
  }
}

function checkMessages({ conversation, said, log }: Thread, tell: Tell, found: Found): void {
  const heard = [...of(log, "message"), ...of(log, "stop")].sort((a, b) => a.seq - b.seq);
  const places = said.map(({ ts, text }) => {
    const kept = heard.filter(({ event }) => event === ts || event.endsWith(`:${ts}`));
    if (kept.length === 0) tell("lost", `the message "${text}"`);
    if (kept.length > 1) tell("duplicates", `the message "${text}" is kept ${kept.length} times`);
    return kept[0]?.seq ?? 0;
  });
  if (places.some((seq, index) => seq !== 0 && seq < (places[index - 1] ?? 0))) tell("reordered", `messages are kept as ${places.join()}`);
  found.counts.messages += said.length;
  found.counts.stopped += of(log, "stop").length;
  const answers = log.flatMap((e) => (e.type === "final" || e.type === "failed" ? e.answers : []));
  const waits = isParked(log);
  for (const { seq, text } of of(log, "message").filter((e) => e.to === "bot")) {
    const times = answers.filter((answered) => answered === seq).length;
    if (times === 0 && !waits) tell("lost", `the answer to "${text}"`);
    if (times > 1) tell("duplicates", `the answer to "${text}" is there ${times} times`);
  }
  if (answers.some((seq, index) => seq < (answers[index - 1] ?? 0))) tell("reordered", `answers come as ${answers.join()}`);
  for (const { text, parked } of of(log, "failed")) if (!parked) tell("failed", text);
  found.counts["set aside"] += of(log, "failed").filter(({ parked }) => parked).length;
  if (log.findLast(({ type }) => type === "failed" || type === "retried" || type === "final")?.type === "failed")
    found.aside.push(conversation);
}

/** Somebody has to decide. */
function isParked(log: Entry[]): boolean {
  const decided = new Set(of(log, "approval-decided").map((e) => e.approval));
  return of(log, "approval-asked").some((e) => !decided.has(e.approval));
}

function checkApprovals({ log }: Thread, tell: Tell, found: Found): void {
  const last = of(log, "approval-asked").at(-1);
  for (const asked of of(log, "approval-asked")) {
    const decided = of(log, "approval-decided").filter((e) => e.approval === asked.approval);
    if (decided.length > 1) tell("decisions", `${asked.command} was decided ${decided.length} times`);
    if (decided.length === 0 && asked !== last) tell("decisions", `${asked.command} was never decided`);
    const decision = decided[0]?.decision;
    if (decision && decision !== "cancelled") found.counts[decision] += 1;
  }
}

function checkRuns({ log }: Thread, effects: string[], tell: Tell, found: Found): void {
  const started = of(log, "run-started");
  const ended = of(log, "run-ended");
  for (const run of started) {
    found.counts.commands += 1;
    const ends = ended.filter((e) => e.call === run.call);
    if (ends.length !== 1) tell("ends", `${run.command} has ${ends.length} ends`);
    if (ends[0]?.how === "interrupted") found.counts.doubtful += 1;
    if (started.filter((e) => e.call === run.call).length > 1) tell("run twice", `${run.command} was started twice`);
    const mark = markOf(run.command);
    const times = effects.filter((line) => line === `s.${mark}`).length;
    const rights = started.filter((e) => e.command === run.command).length;
    if (times > rights) tell("run twice", `${mark} ran ${times} times for ${rights} starts`);
    const isThere = times > 0 && effects.includes(`e.${mark}`);
    if (mark && ends[0]?.how === "exited" && ends[0].exit === 0 && !isThere) tell("lost", `the effect of ${mark}`);
    checkRight(run, log, tell);
  }
  for (const { command } of of(log, "approval-asked")) {
    const mark = markOf(command);
    if (effects.includes(`s.${mark}`) && !started.some((e) => e.command === command))
      tell("not approved", `${mark} left an effect without a start`);
  }
}

function checkRight(run: Entry<"run-started">, log: Entry[], tell: Tell): void {
  const verdict = of(log, "judged").findLast((e) => e.call === run.call && e.seq < run.seq)?.verdict;
  if (verdict === "auto") return;
  const asked = of(log, "approval-asked").findLast((e) => e.call === run.call && e.seq < run.seq);
  const decided = of(log, "approval-decided").find((e) => e.approval === asked?.approval && e.seq < run.seq);
  if (decided?.decision !== "approved" || asked?.digest !== run.digest) tell("not approved", run.command);
}

/** By which its effects are known; empty for a command that only looks. */
export function markOf(command: string): string {
  return /echo s\.(\w+) >> /.exec(command)?.[1] ?? "";
}

/** A command that goes on after another one has begun: they were there at once. */
function overlaps(effects: string[]): string[] {
  return effects.filter((line, index) => !line.startsWith("s.") && line.slice(2) !== effects[index - 1]?.slice(2));
}

const OVER = /^(Done|Stopped|Not done) · \d+ commands? · \d+ s/;

function checkPosts({ log, posts }: Thread, tell: Tell, found: Found): void {
  const { lost, reordered, doubled, marked } = shownMarks(log, posts);
  for (const mark of lost) tell("lost", `the post ${mark}`);
  for (const mark of reordered) tell("reordered", `the post ${mark}`);
  for (const mark of doubled) tell("duplicates", `the post ${mark}`);
  found.counts["marked posts"] += marked;
  const turns = of(log, "final").length + of(log, "failed").filter(({ parked }) => !parked).length;
  const statuses = posts.filter(({ text }) => OVER.test(text)).length;
  if (statuses < turns) tell("lost", `${turns - statuses} statuses at their end`);
  if (statuses > turns) tell("duplicates", `${statuses - turns} statuses`);
  const waits = isParked(log);
  for (const { text } of posts) {
    if (/\[ (Approve|Stop) \]/.test(text) && !waits) tell("dead buttons", text.slice(0, 100));
  }
  if (waits && posts.filter(({ text }) => text.includes("[ Approve ]")).length !== 1) tell("dead buttons", "not one card for what waits");
}

function checkParked({ log, conversation }: Thread, bell: string[], tell: Tell, found: Found): void {
  if (!isParked(log)) return;
  found.counts.parked += 1;
  for (const key of bell.filter((each) => each.includes(conversation))) tell("parked work", key);
}
