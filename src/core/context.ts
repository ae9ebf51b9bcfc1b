import { settingOf } from "./bound.ts";
import type { State } from "./conversation.ts";
import { takeHead, utf8 } from "./cut.ts";
import type { NewEntry } from "./entry.ts";
import type { Hands } from "./hands.ts";
import { History } from "./history.ts";
import { share } from "./items.ts";
import type { ToolSpec } from "./ports.ts";
import { filled, systemPrompt } from "./prompt.ts";
import { makeRoom, SUMMARY, WINDOW } from "./room.ts";
import { AGENTS } from "./sandbox.ts";
import type { Session } from "./session.ts";
import { summarise } from "./summarise.ts";
import { LIMITS } from "../limits.ts";

/** The share of a small window that AGENTS.md gets. */
const OF_AGENTS = 0.05;
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
  const window = (await hands.model.window(ask)) ?? WINDOW;
  if (notes !== null) return [agentsBrief(notes, window, hands)];
  // What was done since the last answer was all that can be done.
  if (madeRoom(session).length > 0) return [];
  return await room(session, hands, signal, { window, overflowed: false });
}

/** What makes room when the endpoint says that a request is too long; nothing when it says so a second time in a row. */
export async function afterOverflow(session: Session, hands: Hands, signal: AbortSignal): Promise<NewEntry[]> {
  if (madeRoom(session).some(({ overflow }) => overflow)) return [];
  const window = (await hands.model.window(true)) ?? WINDOW;
  return await room(session, hands, signal, { window, overflowed: true });
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
  const { text, at } = takeHead(said.trimEnd(), Math.min(LIMITS.notesTold, Math.floor(window * OF_AGENTS * BYTES)), LIMITS.outputLine);
  const rest = at < said.trimEnd().length ? `\n[... the rest of the file is left out: ${utf8(said.slice(at))} bytes or more ...]` : "";
  // A mark on each line: nothing in it can pass for words of ours or of people.
  const quoted = `${text.trimEnd().replace(/^/gm, "> ")}${rest}`;
  return { type: "brief", about: "agents", text: filled(hands.prompts.agents, { file: AGENTS, text: quoted }) };
}
