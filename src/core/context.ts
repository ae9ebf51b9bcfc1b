import { settingOf } from "./bound.ts";
import type { State } from "./conversation.ts";
import { takeHead, utf8 } from "./cut.ts";
import type { NewEntry } from "./entry.ts";
import type { Hands } from "./hands.ts";
import { History } from "./history.ts";
import { share } from "./items.ts";
import type { ToolSpec } from "./ports.ts";
import { filled, systemPrompt } from "./prompt.ts";
import { makeRoom, notesIn, SUMMARY, WINDOW } from "./room.ts";
import { AGENTS } from "./sandbox.ts";
import type { Session } from "./session.ts";
import { broken } from "./speakers.ts";
import { summarise } from "./summarise.ts";
import { LIMITS } from "../limits.ts";

/** Tokens that fit into every window that work is possible in: their request does not wait to hear how large it is. */
const SHORT = 2_500;
/** Bytes of a token, at least. */
const BYTES = 3;

/** What the model is told in a conversation, from its beginning. */
export function historyOf(state: State, hands: Hands): History {
  return new History(systemPrompt(settingOf({ state }, hands), hands.prompts), hands.redact, JSON.stringify(toolsOf(hands)));
}

/** The same in every request, so that each extends the one before. */
export function toolsOf({ tools }: Pick<Hands, "tools">): ToolSpec[] {
  return [...tools.values()].map((tool) => tool.spec).sort((a, b) => (a.name < b.name ? -1 : 1));
}

/** What has to be in the log before the next request is made: what the repository says, or what makes room. Usually nothing. */
export async function beforeRequest(session: Session, hands: Hands, signal: AbortSignal): Promise<NewEntry[]> {
  const notes = await agentsNotes(session, hands);
  const ask = notes !== null || session.history.tokens().tokens > SHORT;
  const window = await windowNow(hands, ask, session.state.step?.entry.instead !== undefined);
  if (notes !== null) return [agentsBrief(notes, window, hands)];
  // What was done since the last answer was all that can be done.
  if (madeRoom(session).length > 0) return [];
  return await room(session, hands, signal, { window, overflowed: false });
}

/**
 * What makes room when an endpoint says that a request is too long; nothing when it says so a second time in a row. `isFallback`: the
 * fallback model's, which may read less.
 */
export async function afterOverflow(session: Session, hands: Hands, signal: AbortSignal, isFallback: boolean): Promise<NewEntry[]> {
  if (madeRoom(session).some(({ overflow }) => overflow)) return [];
  const window = await windowNow(hands, true, isFallback);
  return await room(session, hands, signal, { window, overflowed: true });
}

/** What may be in a request of now; once the fallback model is asked, for as long as the turn lasts, both have to be able to read it. */
async function windowNow({ model, fallback }: Hands, ask: boolean, isFallback: boolean): Promise<number> {
  const windows = await Promise.all([model, ...(isFallback && fallback ? [fallback] : [])].map((each) => each.window(ask)));
  const known = windows.filter((window) => window !== null);
  return known.length > 0 ? Math.min(...known) : WINDOW;
}

/** All that was done to make room since the model answered, or the turn ended. */
function madeRoom({ entries }: Session): NewEntry<"compacted">[] {
  const asked = entries.findLastIndex(({ type }) => type === "model" || type === "final" || type === "failed");
  return entries.slice(asked + 1).filter((entry) => entry.type === "compacted");
}

async function room(
  session: Session,
  hands: Hands,
  signal: AbortSignal,
  { window, overflowed }: { window: number; overflowed: boolean },
): Promise<NewEntry[]> {
  const plan = makeRoom(session.history, window, overflowed);
  if (plan === null) return [];
  const { summarise: upto, squeezes, marks } = plan;
  if (upto === null) return squeezes;
  const longest = share(SUMMARY, marks.window) * BYTES;
  const summary = await summarise(session, { hands, signal, tools: toolsOf(hands), window: marks.window, longest });
  return [{ type: "compacted", upto, outputs: 0, summary, ...marks }, ...squeezes];
}

/** What the workspace's AGENTS.md says, once, before the first request of a conversation. */
async function agentsNotes(session: Session, hands: Hands): Promise<string | null> {
  if (session.entries.some((entry) => entry.type === "model" || (entry.type === "brief" && entry.about === "agents"))) return null;
  const said = await hands.sandbox.notes(settingOf(session, hands).path, AGENTS);
  return said === null || said.trim() === "" ? null : said;
}

function agentsBrief(said: string, window: number, hands: Hands): NewEntry {
  // A mark on each line: nothing in it can pass for words of ours or of people. It counts: lines may be short, and many.
  const quoted = broken(said.trimEnd()).replace(/^/gm, "> ");
  const { text, at } = takeHead(quoted, Math.min(LIMITS.notesTold, notesIn(window)), LIMITS.outputLine);
  const rest = at < quoted.length ? `\n[... the rest of the file is left out: ${utf8(quoted.slice(at))} bytes or more ...]` : "";
  return { type: "brief", about: "agents", text: filled(hands.prompts.agents, { file: AGENTS, text: `${text.trimEnd()}${rest}` }) };
}
