import { LIMITS } from "../limits.ts";
import { isContained } from "./approval.ts";
import { card, SEE_FILE } from "./card.ts";
import { type State, emptyState, fold, openApproval } from "./conversation.ts";
import { headAndTail } from "./cut.ts";
import { type Entry, isEntry, type ReceivedFile, type Refused } from "./entry.ts";
import { type Chosen, choicesIn } from "./choice.ts";
import { whatIsKnown, whatToDo } from "./interrupted.ts";
import { pausePost } from "./pause.ts";
import type { Block, Post } from "./post.ts";
import { type Redact, redacted } from "./redactor.ts";
import { isOver, type Now, oneLine, statusPost, type TurnView } from "./status.ts";
import { visible } from "./visible.ts";

/** A post that became due with the entry at `seq`. The same key again is an edit. */
export interface Due {
  seq: number;
  post: Post;
}

/** What the thread shows. */
export interface View {
  due: Due[];
  /** One status per turn, as it must read now; `over` when the turn has ended. */
  statuses: { post: Post; over: boolean }[];
  seq: number;
}

interface Looks {
  /** Said in every status; without one, a log in which commands ran without a sandbox says so itself. */
  banner: string | null;
  redact: Redact;
  /** What became due up to here is in the thread and final: only statuses and cards are made again. */
  after?: number;
  now?: Now;
}

/** Everything is redacted before anything is shortened: no half of a secret is left at a cut. */
export function render(log: Entry[], { banner, redact, after = 0, now = {} }: Looks): View {
  const isPosted = (entry: Entry): boolean => entry.seq <= after && isEntry(entry, "run-ended") && entry.how !== "interrupted";
  const entries = log.map((entry) => (isPosted(entry) ? entry : redactedOnce(entry, redact)));
  const state = emptyState();
  const due: Due[] = [];
  const turns: TurnView[] = [];
  const index = indexOf(entries);
  const warning = banner ?? index.unsafe;
  for (const entry of entries) {
    const waiting = openApproval(state);
    const turn = turns.at(-1);
    fold([entry], state);
    if (isEntry(entry, "run-started") && turn) turn.commands += 1;
    if ((isEntry(entry, "final") || isEntry(entry, "failed")) && turn && !state.parked) turn.end = entry;
    if (turn && !turn.end && state.turn?.first !== turn.first.seq) turn.takenBack = true;
    const waits = { asked: waiting?.asked, parked: state.parked !== null, paused: state.paused !== null };
    const post = isPosted(entry) ? null : postOf(entry, index, waits);
    if (post) due.push({ seq: entry.seq, post });
    if (state.turn && state.turn.first !== turn?.first.seq) openTurnView(state, entry, turns, due);
  }
  const statuses = turns.map((turn) => ({ post: statusPost(turn, state, warning, now), over: isOver(turn) }));
  // How these must read comes from the state at the end.
  const last = [...pausePosts(entries, index, state), ...statuses.map(({ post }) => post)];
  for (const item of due) item.post = last.find(({ key }) => key === item.post.key) ?? item.post;
  return { due, statuses, seq: state.seq };
}

/** What a thread is made of is looked at again with each post. */
const done = new WeakMap<Redact, WeakMap<Entry, Entry>>();

function redactedOnce(entry: Entry, redact: Redact): Entry {
  const known = done.get(redact) ?? new WeakMap<Entry, Entry>();
  done.set(redact, known);
  const made = known.get(entry) ?? redacted(entry, redact);
  known.set(entry, made);
  return made;
}

function openTurnView(state: State, entry: Entry, turns: TurnView[], due: Due[]): void {
  const first = state.unanswered.find((m) => m.seq === state.turn?.first);
  if (!first) return;
  turns.push({ first, commands: 0 });
  // The place of the status in the thread; its words come from the state at the end.
  due.push({ seq: entry.seq, post: { key: `status:${first.seq}`, lane: "status", blocks: [] } });
}

function pausePosts(entries: Entry[], { choices }: Index, state: State): Post[] {
  const waits = state.stop ? null : state.paused;
  return entries
    .filter((entry) => isEntry(entry, "paused"))
    .map((entry) => pausePost(entry, { open: entry.seq === waits?.seq, chosen: choices.get(entry.seq) }));
}

/** What keeps a message waiting. */
interface Waits {
  asked: Entry<"approval-asked"> | undefined;
  parked: boolean;
  paused: boolean;
}

function postOf(entry: Entry, index: Index, waits: Waits): Post | null {
  switch (entry.type) {
    case "message":
      return keptPost(entry, waits);
    case "approval-asked":
      return cardOf(entry, index);
    case "choice":
    case "approval-decided": {
      const asked = index.asked.get(entry.type === "choice" ? entry.of : entry.call);
      return asked ? cardOf(asked, index) : null;
    }
    case "paused":
      return pausePost(entry, { open: true, chosen: undefined });
    case "run-ended":
      return runPost(entry, index);
    case "final":
      return finalPost(entry);
    case "model":
      return index.instead.has(entry.seq) ? insteadPost(entry) : null;
    case "compacted":
      return shorterPost(entry);
    case "received":
      return filesPost(entry.seq, entry.files.flatMap(refusedFile));
    case "brief":
      return filesPost(entry.seq, entry.problem ? [entry.problem] : []);
    case "failed":
      return { key: `failed:${entry.seq}`, lane: "answer", blocks: [{ kind: "text", text: visible(entry.text) }] };
    default:
      return null;
  }
}

function keptPost(entry: Entry<"message">, { asked, parked, paused }: Waits): Post | null {
  // What the requester writes takes the request back; what they press does not.
  const waits = asked !== undefined && (entry.by.key !== asked.requester.key || entry.pressed !== undefined);
  if (entry.to !== "bot" || !(waits || parked || paused)) return null;
  const until = waits ? "the request above is decided" : "the work in this thread goes on";
  const text = `${visible(entry.by.name)}, I keep this for when ${until}.`;
  return { key: `kept:${entry.seq}`, lane: "output", blocks: [{ kind: "note", text }] };
}

function refusedFile(file: ReceivedFile): string[] {
  return "problem" in file ? [`I did not take ${oneLine(file.name)}: ${file.problem}.`] : [];
}

function filesPost(seq: number, lines: string[]): Post | null {
  const text = visible(lines.join("\n"));
  return text ? { key: `files:${seq}`, lane: "output", blocks: [{ kind: "note", text }] } : null;
}

const WITHOUT: Record<Refused, string> = {
  pictures: "The model's service does not take the pictures of this thread: I go on without them.",
  outputs: "The model's service refused what the newest command printed: I go on without it.",
  step: "The model's service refused what was said last, beside your words: I go on without it.",
  words: "The model's service refused what was written here before: I go on without it.",
};

/** What people read when the model gets less than there was; null when only outputs were taken out. */
export function shorterLine({ summary, words, without }: Entry<"compacted">): string | null {
  if (without !== undefined) return WITHOUT[without];
  if (summary !== undefined)
    return "This thread has grown long: I go on from a summary of the earlier work, your words and the newest steps.";
  return words === undefined
    ? null
    : "That is longer than the model can read at once: of a long message it gets the beginning and the end.";
}

function shorterPost(entry: Entry<"compacted">): Post | null {
  const text = shorterLine(entry);
  return text === null ? null : { key: `compacted:${entry.seq}`, lane: "output", blocks: [{ kind: "note", text }] };
}

function insteadPost({ seq, instead = "", model }: Entry<"model">): Post {
  const text = visible(`${instead}. Until this is answered I use another model, ${model}.`);
  return { key: `instead:${seq}`, lane: "output", blocks: [{ kind: "note", text }] };
}

function finalPost(entry: Entry<"final">): Post {
  const text = entry.text.trim() || "Done.";
  const blocks: Block[] = [entry.reason === "answer" ? { kind: "markdown", text } : { kind: "text", text: visible(text) }];
  if (entry.cut) blocks.push({ kind: "note", text: "Output cut: the model reached its limit of length. Ask it to go on." });
  return { key: `final:${entry.seq}`, lane: "answer", blocks };
}

/** What posts need of other entries, looked up once: calls by id, decisions by approval. */
interface Index {
  judged: Map<string, Entry<"judged">>;
  /** By call, and by seq. */
  asked: Map<string | number, Entry<"approval-asked">>;
  decided: Map<string, Entry<"approval-decided">>;
  /** The first press on "always", by the seq of what it is about. */
  chosen: Map<number, Entry<"choice">>;
  /** What people chose about interrupted runs. */
  choices: Map<number, Chosen>;
  /** What the model said before the first call of a step; shown once, with that call. */
  said: Map<string, string>;
  /** The first answers of a fallback model. */
  instead: Set<number>;
  /** The badge of a run outside a sandbox. */
  unsafe: string | null;
}

function indexOf(entries: Entry[]): Index {
  const maps = { judged: new Map(), asked: new Map(), decided: new Map(), chosen: new Map(), said: new Map() };
  const index: Index = { ...maps, choices: choicesIn(entries), instead: new Set(), unsafe: null };
  let isFallback = false;
  for (const entry of entries) {
    if (isEntry(entry, "judged")) index.judged.set(entry.call, entry);
    else if (isEntry(entry, "approval-asked")) index.asked.set(entry.call, entry).set(entry.seq, entry);
    else if (isEntry(entry, "choice")) index.chosen.set(entry.of, index.chosen.get(entry.of) ?? entry);
    else if (isEntry(entry, "approval-decided")) index.decided.set(entry.approval, entry);
    else if (isEntry(entry, "model") && entry.calls[0]) index.said.set(entry.calls[0].id, entry.text.trim());
    if (isEntry(entry, "model") && entry.instead !== undefined && !isFallback) index.instead.add(entry.seq);
    if (isEntry(entry, "model")) isFallback = entry.instead !== undefined;
    else if (isEntry(entry, "final") || isEntry(entry, "failed")) isFallback = false;
    if ((isEntry(entry, "run-started") || isEntry(entry, "approval-asked")) && !isContained(entry.sandbox)) index.unsafe = entry.sandbox;
  }
  return index;
}

function cardOf(asked: Entry<"approval-asked">, { chosen, decided, said }: Index): Post {
  return card(asked, { chosen: chosen.get(asked.seq), decided: decided.get(asked.approval), said: said.get(asked.call) });
}

/** Refusals that the card or the stop line already tells. */
const TOLD_ELSEWHERE = new Set(["denied", "expired", "superseded", "cancelled"]);

function runPost(ended: Entry<"run-ended">, index: Index): Post | null {
  if (ended.how === "refused" && TOLD_ELSEWHERE.has(ended.why ?? "")) return null;
  const judged = index.judged.get(ended.call);
  const said = index.asked.has(ended.call) ? "" : index.said.get(ended.call);
  const blocks: Block[] = said ? [{ kind: "markdown", text: said }] : [];
  const output = ended.how === "refused" ? "" : visible(ended.output.text.trimEnd());
  const hint = ended.output.blob ? SEE_FILE : "";
  const command = judged ? `$ ${headAndTail(visible(judged.title), LIMITS.postCommand, hint)}` : "";
  const shown = [command, headAndTail(output, LIMITS.postOutput, hint)].filter(Boolean).join("\n");
  if (shown) blocks.push({ kind: "code", text: shown });
  blocks.push({ kind: "note", text: endNote(ended, output === "") });
  blocks.push(...besides(ended).map((text): Block => ({ kind: "note", text: visible(text) })));
  const file = ended.output.blob ? { file: { name: "output.txt", blob: ended.output.blob } } : {};
  if (ended.how !== "interrupted") return { key: `run:${ended.seq}`, lane: "output", blocks, ...file };
  // It waits for people like a request: it is never folded, and edited when somebody has chosen.
  blocks.push(whatToDo(ended, index.choices.get(ended.seq)));
  return { key: `run:${ended.seq}`, lane: "approval", blocks, ...file };
}

/** What it did beside printing: files that will run by themselves, hosts that it tried. */
export function besides({ noticed = [], network = [] }: Entry<"run-ended">): string[] {
  const tried = network.map(({ host, port, refused }) => `${host}:${port}${refused === null ? "" : ` (refused: ${refused})`}`);
  const different = [...new Set(tried)];
  const shown = different.slice(0, LIMITS.postHosts);
  const more = different.length > shown.length ? " and others" : "";
  const left = noticed.map((text) => `Noticed afterwards: ${text}`);
  return [...left, ...(shown.length > 0 ? [`Network: ${shown.join(", ")}${more}`] : [])];
}

/** What a refusal says to the model alone. */
const TO_MODEL = / Do not try another way round it(; say that it is not possible)?\.$/;

function endNote(ended: Entry<"run-ended">, silent: boolean): string {
  const seconds = `${(ended.ms / 1000).toFixed(1)} s`;
  const nothing = silent ? "(no output) · " : "";
  switch (ended.how) {
    case "exited":
      return `${nothing}exit ${ended.exit ?? "?"} · ${seconds}`;
    case "timeout":
      return `${nothing}ended at its time limit (${seconds}), with everything it had started`;
    case "flood":
      return `ended after ${seconds}: it printed too much (${ended.output.bytes} bytes)`;
    case "cancelled":
      return `${nothing}stopped by ${visible(ended.by?.name ?? "a person")} after ${seconds}`;
    case "interrupted":
      return whatIsKnown(ended);
    case "refused":
      return ended.why === "cut"
        ? "Output cut: the model's message was not complete, so its command was not run."
        : visible(ended.output.text.replace(TO_MODEL, ""));
    default: // a newer version wrote it
      return visible(`${nothing}${String(ended.how)} · ${seconds}`);
  }
}
