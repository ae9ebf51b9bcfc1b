import { LIMITS } from "../limits.ts";
import { type Access, type Chosen, mayAsk, pickModel, pickWorkspace, workspacesOf } from "./access.ts";
import { pressRefusal } from "./approval.ts";
import { choiceEvent, choicesIn, tooLateToChoose } from "./choice.ts";
import { fold } from "./conversation.ts";
import { type NewEntry, type Person, isEntry } from "./entry.ts";
import { DeckhandError, messageOf } from "./errors.ts";
import { type Inbound, PAUSE_CHOICES, saysStop } from "./inbound.ts";
import { meaningOfChoice } from "./interrupted.ts";
import { deciding, keep, type KeepDeps } from "./keeping.ts";
import type { ArrivalRecord, Request } from "./log.ts";
import { meaningOfPause } from "./pause.ts";
import { decisionOf, type Press, ruleOf, tooLate } from "./press.ts";
import type { Reply } from "./ports.ts";

export interface IntakeDeps extends KeepDeps {
  access: Access;
  /** A request that this process has read in that conversation's log already; what was asked never changes. */
  known?: (approval: string, conversation: string) => Request | null;
  /** So little memory is left for the log that no new task may be taken; see LIMITS.redisFull. */
  isFull?: () => Promise<boolean>;
}

type Mention = Extract<Inbound, { kind: "mention" }>;
type Heard = Mention | Extract<Inbound, { kind: "reply" }>;

/**
 * One arrival: decide what it is, keep it, wake who has to act. When it resolves, the arrival is durable (or
 * rightly without effect) and the platform may be told so. Rejects with REDIS_DOWN: then it was not kept, and
 * the platform must send it again.
 */
export async function intake(inbound: Inbound, deps: IntakeDeps): Promise<Reply> {
  switch (inbound.kind) {
    case "mention":
      return await hearMention(inbound, deps);
    case "reply":
      return await hearReply(inbound, deps);
    case "press":
      return await press(inbound, deps);
    case "choice":
      return await choosing(inbound, deps);
    case "stop":
      return await stop(inbound, deps);
    case "edit":
      return await amend(inbound, { type: "edited", event: inbound.message, text: inbound.text }, deps);
    case "remove":
      return await amend(inbound, { type: "removed", event: inbound.message }, deps);
  }
}

async function hearMention(inbound: Mention, deps: IntakeDeps): Promise<Reply> {
  const { log, access } = deps;
  const head = inbound.begins ? null : await log.head(inbound.thread.key);
  const { open: _, ...inThread } = { open: undefined, ...inbound };
  if (head) return await hearIn(head.workspace, inThread, wordsIn(head.workspace, inbound, access), true, deps);
  const [anyHere] = workspacesOf(access, inbound.thread.channel);
  const pick = pickWorkspace(access, inbound.thread.channel, inbound.text);
  if ("problem" in pick) {
    deps.trace.warn("no-workspace", { channel: inbound.thread.channel, hint: `DECKHAND_CHANNELS=${inbound.thread.channel}=NAME` });
    if (anyHere && !mayAsk(access, inbound.by, anyHere)) return await notAllowed(inbound, deps);
    return await refuse(inbound, pick.problem, deps);
  }
  return await hearIn(pick.workspace, inbound, pick, true, deps);
}

async function hearReply(inbound: Extract<Inbound, { kind: "reply" }>, deps: IntakeDeps): Promise<Reply> {
  const head = await deps.log.head(inbound.thread.key);
  if (!head) return {};
  return await hearIn(head.workspace, inbound, wordsIn(head.workspace, inbound, deps.access), !inbound.elsewhere, deps);
}

type Words = { text: string } | { problem: string };

/** The words of a message in a conversation, whose workspace stays: to name it again is fine, another one is not served here. */
function wordsIn(workspace: string, inbound: Heard, access: Access): Words {
  if (!serves(access, inbound.thread.channel, workspace)) return { problem: `${notHere(workspace)} Start a new thread.` };
  if (inbound.kind === "reply") return inbound;
  const pick = pickWorkspace(access, inbound.thread.channel, inbound.text);
  if ("problem" in pick || pick.text === inbound.text || pick.workspace === workspace) return pick;
  return { problem: `This thread works in "${workspace}". For "${pick.workspace}", start a new thread.` };
}

function serves(access: Access, channel: string, workspace: string): boolean {
  return workspacesOf(access, channel).includes(workspace);
}

function notHere(workspace: string): string {
  return `This thread worked in "${workspace}", which is not set up for this channel any more.`;
}

function notAnyMore(workspace: string): string {
  return `${notHere(workspace)} Nothing was changed, and nothing runs here. To have it done, start a new thread.`;
}

async function hearIn(workspace: string, inbound: Heard, words: Words, toBot: boolean, deps: IntakeDeps): Promise<Reply> {
  if (!mayAsk(deps.access, inbound.by, workspace)) return toBot ? await notAllowed(inbound, deps) : {};
  if (toBot && saysStop(inbound.text) && (await deps.log.head(inbound.thread.key))) return await stop(inbound, deps);
  if ("problem" in words) return toBot ? await refuse(inbound, words.problem, deps) : {};
  if (toBot && (await deps.isFull?.()) && !(await isAtWork(inbound.thread.key, deps))) {
    deps.trace.warn("refused-full", { conversation: inbound.thread.key });
    return await refuse(inbound, FULL, deps);
  }
  const chosen: Chosen = toBot ? pickModel(deps.access, words.text) : words;
  if ("problem" in chosen) return await refuse(inbound, chosen.problem, deps);
  const { use } = chosen;
  // To choose a model and nothing else is no work.
  const isTask = toBot && (use === undefined || chosen.text !== "" || (inbound.files ?? []).length > 0);
  const text = isTask ? chosen.text : words.text;
  if (inbound.kind === "mention" && text.trim() === "" && !inbound.files?.length) {
    return await refuse(inbound, "Tell me what to do, in the same message as the mention.", deps);
  }
  const entry: NewEntry<"message"> = {
    type: "message",
    event: inbound.event,
    by: inbound.by,
    text,
    to: isTask ? "bot" : "thread",
    ...(inbound.files ? { files: inbound.files } : {}),
    ...(use === undefined ? {} : { use }),
  };
  const { platform, key, channel } = inbound.thread;
  if (inbound.kind === "mention") await inbound.open?.();
  const opened: NewEntry<"opened"> = { type: "opened", platform, thread: key, channel, workspace };
  const begins = inbound.kind === "mention" && inbound.begins === true;
  const record = { ...base(inbound, deps), opened, entry, wakes: isTask, begins, ...(isTask ? { supersedes: inbound.by } : {}) };
  const kept = await keep(record, workspace, deps);
  if (kept.kind === "known" && begins) return await hearMention({ ...inbound, begins: false }, deps);
  return toBot && !isTask ? { whisper: `From the next request on, this thread uses ${use}.` } : {};
}

const FULL = new DeckhandError("REDIS_FULL", "there is no room for a new task").line();

/** What joins work that goes on is let through: it may be what ends it. */
async function isAtWork(conversation: string, { log }: IntakeDeps): Promise<boolean> {
  return fold(await log.read(conversation, 0)).turn !== null;
}

function base(inbound: Inbound, deps: IntakeDeps): Pick<ArrivalRecord, "conversation" | "event" | "at"> {
  return { conversation: inbound.thread.key, event: inbound.event, at: deps.clock.now() };
}

/** What was refused once must not run when it comes again and the configuration has changed meanwhile. */
async function refuse(inbound: Inbound, whisper: string, deps: IntakeDeps): Promise<Reply> {
  return (await deps.log.decline(inbound.event)) ? { whisper } : {};
}

async function notAllowed(inbound: Inbound, deps: IntakeDeps): Promise<Reply> {
  const hint = `To allow this person, add ${inbound.by.key} to DECKHAND_USERS.`;
  deps.trace.warn("not-allowed", { person: inbound.by.key, kind: inbound.by.kind, conversation: inbound.thread.key, hint });
  if (!(await deps.log.decline(inbound.event))) return {};
  const first = await deps.log.once(`told:${inbound.by.key}:${inbound.thread.key}`, LIMITS.seenTime);
  if (!first) return {};
  const who = inbound.by.kind === "member" ? "You are not on" : "Guests and people from other organisations are not on";
  return { whisper: `${who} the list of people who may give me work here, so I did nothing. Whoever runs Deckhand can add you.` };
}

async function amend(inbound: Inbound, entry: NewEntry<"edited" | "removed">, deps: IntakeDeps): Promise<Reply> {
  const head = await deps.log.head(inbound.thread.key);
  if (!head) return {};
  const entries = await deps.log.read(inbound.thread.key, 0);
  const changed = entries.filter((e) => isEntry(e, "message")).find((e) => e.event === entry.event);
  const by = inbound.kind === "remove" ? changed?.by : inbound.by;
  if (!changed || changed.by.key !== by?.key || !mayAsk(deps.access, by, head.workspace)) return {};
  await keep({ ...base(inbound, deps), entry: { ...entry, parent: changed.seq }, wakes: entry.type === "removed" }, head.workspace, deps);
  return {};
}

async function stop(inbound: Inbound, deps: IntakeDeps): Promise<Reply> {
  const head = await deps.log.head(inbound.thread.key);
  if (!head) return { whisper: "There is nothing to stop in this thread." };
  if (!mayAsk(deps.access, inbound.by, head.workspace)) return await notAllowed(inbound, deps);
  const state = fold(await deps.log.read(inbound.thread.key, 0));
  const entry: NewEntry<"stop"> = { type: "stop", event: inbound.event, by: inbound.by };
  // Kept also when nothing runs: the same word delivered again must not stop what began meanwhile.
  const kept = await keep({ ...base(inbound, deps), entry, wakes: true, cancels: inbound.by }, head.workspace, deps);
  return kept.kind === "duplicate" || state.turn ? {} : { whisper: "Nothing is running in this thread." };
}

async function press(inbound: Press, deps: IntakeDeps): Promise<Reply> {
  const { log, clock } = deps;
  const request = deps.known?.(inbound.approval, inbound.thread.key) ?? (await log.requestOf(inbound.approval));
  if (!request) return { whisper: "I do not know this request any more; it is too old. Nothing was changed." };
  const { conversation, channel, asked } = request;
  const refused = pressRefusal(deps.access, inbound.by, asked);
  if (refused) {
    deps.trace.warn("press-refused", { conversation, person: inbound.by.key, approval: inbound.approval });
    return { whisper: refused };
  }
  if (!serves(deps.access, channel, asked.workspace)) return { whisper: notAnyMore(asked.workspace) };
  const now = clock.now();
  const past = now >= asked.deadline;
  const meant = past
    ? { decision: "expired" as const }
    : (decisionOf(inbound) ?? ruleOf(inbound, asked, await log.read(conversation, 0), now));
  if ("choice" in meant) return await choose(meant.choice, conversation, inbound, deps);
  if ("whisper" in meant) return meant;
  const decided = await deciding(log.decide(inbound.approval, now, meant, conversation), conversation, asked.workspace, deps);
  if (decided.kind === "unknown") return { whisper: "I do not know this request any more. Nothing was changed." };
  if (decided.kind === "already" || decided.entry.decision === "expired") return { whisper: tooLate(inbound, decided.entry) };
  deps.trace.info("decided", { conversation, approval: inbound.approval, decision: meant.decision, by: inbound.by.key });
  if (meant.decision === "denied") return { whisper: "Denied. It will not run." };
  return { whisper: meant.rule ? `Approved, and the rule "${meant.rule.name}" is stored. It runs now.` : "Approved. It runs now, once." };
}

/** Shows the rule on the card; decides nothing, so that the press may come twice. */
async function choose(entry: NewEntry<"choice">, conversation: string, inbound: Press, deps: IntakeDeps): Promise<Reply> {
  await keep({ conversation, event: inbound.event, at: deps.clock.now(), entry, wakes: false }, "", deps);
  return { whisper: "Nothing is stored and nothing runs yet: the request now shows the rule. Decide there." };
}

/** About an interrupted run or a pause the first press counts, whoever presses, and however late it comes. */
async function choosing(inbound: Extract<Inbound, { kind: "choice" }>, deps: IntakeDeps): Promise<Reply> {
  const { log, access } = deps;
  const conversation = inbound.thread.key;
  const head = await log.head(conversation);
  if (!head) return { whisper: "I do not know this command any more. Nothing was changed." };
  const { workspace } = head;
  if (!serves(access, head.channel, workspace)) return { whisper: notAnyMore(workspace) };
  const isPause = PAUSE_CHOICES.some((each) => each === inbound.choice);
  const meant = (isPause ? meaningOfPause : meaningOfChoice)(inbound, await log.read(conversation, 0), { access, workspace });
  if ("whisper" in meant) return meant;
  if ("refused" in meant) {
    deps.trace.warn("press-refused", { conversation, person: inbound.by.key, choice: inbound.choice });
    return { whisper: meant.refused };
  }
  if (meant.entry.type === "message" && (await deps.isFull?.()) && !(await isAtWork(conversation, deps))) return { whisper: FULL };
  // It takes nothing back, not even of its own presser: a request that is open stays open.
  const wakes = isPause || meant.entry.type === "message";
  const kept = await keep({ ...base(inbound, deps), event: choiceEvent(inbound), entry: meant.entry, wakes }, workspace, deps);
  if (kept.kind === "appended") return { whisper: meant.heard };
  const first = choicesIn(await log.read(conversation, 0)).get(inbound.of);
  return { whisper: first ? tooLateToChoose(inbound, first) : "Somebody has chosen already. Your click changed nothing." };
}

const OPERATOR: Person = { key: "deckhand", name: "operator", kind: "bot", roles: [] };

/**
 * Lets a parked conversation go on; gives its workspace. Throws BAD_CONVERSATION when there is none of that name,
 * CONVERSATION_GOES_ON when it is not parked.
 */
export async function retry(conversation: string, deps: IntakeDeps): Promise<string> {
  const state = fold(await deps.log.read(conversation, 0));
  if (!state.opened) throw new DeckhandError("BAD_CONVERSATION", conversation);
  if (!state.parked) throw new DeckhandError("CONVERSATION_GOES_ON", conversation);
  const { workspace } = state.opened;
  const event = `retry:${conversation}:${state.parked.seq}`;
  const entry: NewEntry<"retried"> = { type: "retried", parent: state.parked.seq, by: OPERATOR };
  await keep({ conversation, event, at: deps.clock.now(), entry, wakes: true }, workspace, deps);
  return workspace;
}

/** Nobody in particular: the thread itself is gone. */
const DECKHAND: Person = { key: "deckhand", name: "Deckhand (the thread cannot be reached)", kind: "bot", roles: [] };

/** A thread that nobody can read any more must not go on working: it is stopped like by a person. Never rejects. */
export async function abandon(conversation: string, code: string, deps: IntakeDeps): Promise<void> {
  try {
    const head = await deps.log.head(conversation);
    if (!head) return;
    const event = `gone:${conversation}:${head.seq}`;
    const entry: NewEntry<"stop"> = { type: "stop", event, by: { ...DECKHAND, name: `${DECKHAND.name}: ${code}` } };
    await keep({ conversation, event, at: deps.clock.now(), entry, wakes: true, cancels: entry.by }, head.workspace, deps);
  } catch (thrown) {
    deps.trace.warn("abandon-failed", { conversation, error: messageOf(thrown) });
  }
}
