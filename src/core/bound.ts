import { type Bound, envForCard } from "./approval.ts";
import type { CallState } from "./conversation.ts";
import type { Hands } from "./hands.ts";
import type { Act } from "./ports.ts";
import type { Setting } from "./prompt.ts";
import type { StandingRule } from "./rules.ts";
import type { Session } from "./session.ts";

/** Where the conversation's commands run. */
export function settingOf({ state }: Pick<Session, "state">, hands: Hands): Setting {
  const workspace = state.opened?.workspace ?? "";
  const place = hands.workspaces.get(workspace);
  return { workspace, path: place?.path ?? "", sandbox: place?.badge ?? "" };
}

/** The circumstances of a call as they are now: the same when it is asked for and when it runs, or the approval is void. */
export function boundOf(act: Act, call: CallState, session: Session, hands: Hands, rules: StandingRule[]): Bound {
  const { workspace, path, sandbox } = settingOf(session, hands);
  const { env } = hands.sandbox.carried(session.conversation, path);
  const { verdict, grants = [] } = call.judged ?? {};
  // What a rule gives goes to the bare command, not to what earlier ones exported for it.
  const asks = verdict !== "auto";
  const carried = asks ? envForCard(env) : grants.length > 0 ? {} : env;
  // The rule that the approval itself stored changes nothing for it.
  const others = rules.filter(({ name }) => name !== call.decided?.rule?.name);
  return {
    command: act.title,
    cwd: call.judged?.cwd ?? path,
    workspace,
    timeoutMs: act.timeoutMs,
    env: carried,
    sandbox,
    grants,
    rules: hands.ids.digest(JSON.stringify(others)),
    files: "",
  };
}
