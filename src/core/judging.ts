import { type Bound, provesNoNetwork } from "./approval.ts";
import { boundOf, settingOf } from "./bound.ts";
import type { CallState } from "./conversation.ts";
import { rulesFor } from "./gate/rule.ts";
import { enough, parseGrant, widens } from "./grants.ts";
import type { Hands } from "./hands.ts";
import { messageOf } from "./errors.ts";
import type { Act, Judgement, Place, Tool } from "./ports.ts";
import type { StandingRule } from "./rules.ts";
import { patiently, type Session } from "./session.ts";

export type RuledPlace = Omit<Place, "rules"> & { rules: StandingRule[]; credentials?: { name: string; host: string }[] };

export interface Found {
  tool: Tool;
  act: Act;
}

/** The gate's word. What is `auto` has grants only from the rule that lets it through. */
export type Ruling = Omit<Judgement, "grants"> & { grants: string[] };

/** The place as it is now, with the rules of the file and the learned ones that hold for its workspace, channel and requester. */
export async function placeNow(session: Session, hands: Hands, signal: AbortSignal): Promise<RuledPlace> {
  const { workspace, path, sandbox } = settingOf(session, hands);
  const learned = await patiently(() => hands.log.rules.learned(), hands.clock, signal);
  const { opened, turn } = session.state;
  const context = {
    workspace,
    ...(opened ? { channel: opened.channel } : {}),
    ...(turn ? { person: turn.requester.key } : {}),
    now: hands.clock.now(),
  };
  const all = [...hands.rules, ...learned];
  const hold = new Set(rulesFor(all, context));
  return {
    workspace: path,
    // All calls of a step start where the step began: the verdict is for the folder that the command runs in.
    cwd: hands.sandbox.carried(session.conversation, path).cwd,
    posture: provesNoNetwork(sandbox) ? hands.posture : "careful",
    realpath: hands.realpath,
    rules: all.filter((rule) => hold.has(rule)),
    credentials: hands.workspaces.get(workspace)?.credentials ?? [],
  };
}

/** The same with what the files hold, now, that it runs as code. */
export async function boundWhole(found: Found, call: CallState, session: Session, hands: Hands, place: RuledPlace): Promise<Bound> {
  const bound = boundOf(found.act, call, session, hands, place.rules);
  const files = found.tool.files?.(found.act, { ...place, cwd: bound.cwd }) ?? [];
  return files.length === 0 ? bound : { ...bound, files: await hands.sandbox.fingerprint(place.workspace, files) };
}

/** The tool's judgement; what a command needs beyond the grants of the rule that lets it through is asked. */
export function judgeAct({ tool, act }: Found, place: RuledPlace): Ruling {
  const { grants: needed = [], ...judgement } = tool.judge(act, place);
  const grants = withCredentials(needed.filter(widens), place.credentials ?? []);
  if (judgement.verdict !== "auto") return { ...judgement, grants };
  const rule = place.rules.find(({ decision, name }) => decision === "auto" && name === judgement.rule);
  const given = grants.map((grant) => enough(grant, rule?.grants ?? []));
  const beyond = grants.filter((_, at) => given[at] === null);
  if (beyond.length === 0) return { ...judgement, grants: [...new Set(given.filter((grant) => grant !== null))] };
  const { reads: _, ...asks } = judgement;
  const text = `it needs ${beyond.join(", ")}, which ${rule ? `the rule "${rule.name}"` : "no rule alone"} does not give`;
  return { ...asks, verdict: "ask", reasons: [...asks.reasons, { code: "rule", text }], grants };
}

/** Whoever lets a command go to a host also gives it the credential for that host, and for no other. */
function withCredentials(grants: string[], credentials: { name: string; host: string }[]): string[] {
  const hosts = grants.map((text) => parseGrant(text)).flatMap((grant) => (grant.kind === "network" ? [grant.host] : []));
  return [...grants, ...credentials.filter(({ host }) => hosts.includes(host)).map(({ name }) => `credential=${name}`)];
}

/** Keeps what was judged and counts the rules that decided, behind the turn's back: what is lost of it are figures. */
export function noteJudged(
  judged: { title: string; cwd: string; rule: string }[],
  place: RuledPlace,
  session: Session,
  hands: Hands,
): void {
  const { workspace } = settingOf(session, hands);
  const names = new Set(place.rules.map(({ name }) => name));
  const commands = judged.map(({ title, cwd }) => ({ command: title, cwd })).filter(({ command }) => command.length <= LONGEST_NOTED);
  const decided = judged.map(({ rule }) => rule).filter((rule) => names.has(rule));
  hands.log.rules.note(workspace, commands, decided, hands.clock.now()).catch((thrown: unknown) => {
    hands.trace.info("not-noted", { conversation: session.conversation, error: messageOf(thrown) });
  });
}

/** Longer ones would make looking through all of them slow. */
const LONGEST_NOTED = 2_000;
