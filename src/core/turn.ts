import { LIMITS } from "../limits.ts";
import { checkpoint } from "./checkpoint.ts";
import { refusal } from "./call.ts";
import type { CallState, State } from "./conversation.ts";
import type { NewEntry, Person } from "./entry.ts";
import { DeckhandError } from "./errors.ts";
import type { Hands } from "./hands.ts";
import type { History } from "./history.ts";
import { loop } from "./loop.ts";
import type { Wake } from "./ports.ts";
import { historyOf } from "./context.ts";
import { interrupted } from "./run.ts";
import { type Ends, type Session, type Taken, openSession, patiently } from "./session.ts";
import { ownTurn } from "./suspects.ts";

/**
 * One wake: take the conversation over, loop, settle. It ends when the people are
 * answered, when a person has to decide, when we leave, or when another worker took over; nothing is held afterwards.
 */
export async function turn(wake: Wake, hands: Hands): Promise<void> {
  const { log, clock, trace } = hands;
  const { conversation, signal, leaving = new AbortController().signal } = wake;
  let gotOn = (): void => {};
  try {
    checkpoint("picked");
    let taken = await log.takeover(conversation, wake.lock, "unless-suspect");
    if (taken.kind === "suspect") {
      gotOn = await ownTurn(clock, AbortSignal.any([signal, leaving]));
      if (!leaving.aborted) taken = await log.takeover(conversation, wake.lock);
    }
    if (taken.kind === "taken") await work(wake, taken, { signal, leaving }, hands, gotOn);
  } catch (thrown) {
    if (thrown instanceof DeckhandError && thrown.code === "REDIS_FENCED") {
      trace.info("fenced", { conversation });
      return;
    }
    throw thrown;
  } finally {
    gotOn();
  }
}

async function work(wake: Wake, taken: Taken, ends: Ends, hands: Hands, gotOn: () => void): Promise<void> {
  const { log, clock } = hands;
  const { conversation } = wake;
  const { signal, leaving } = ends;
  checkpoint("taken-over");
  const appended = (of: string, urgent: boolean): void => {
    gotOn();
    hands.appended(of, urgent);
  };
  const tells = (state: State): History => historyOf(state, hands);
  const session = await openSession(conversation, taken, { log, clock, signal, appended, tells });
  if (taken.takeovers > LIMITS.takeoversWithoutProgress) await park(session, hands, taken.takeovers);
  for (;;) {
    await loop(session, hands, ends);
    if (leaving.aborted) await noteLeaving(wake, taken.epoch, hands);
    if (signal.aborted || leaving.aborted) return;
    checkpoint("before-settle");
    const settled = await patiently(() => log.settle(conversation, taken.epoch, session.state.seq), clock, signal);
    checkpoint("after-settle");
    if (settled !== "more") return;
    await session.refresh();
  }
}

/** Whoever leaves in good order has not died of this conversation: its takeovers are counted from the beginning. */
async function noteLeaving({ conversation, signal }: Wake, epoch: number, { log, clock, ids }: Hands): Promise<void> {
  const op = ids.token();
  await patiently(() => log.append(conversation, epoch, op, clock.now(), []), clock, signal);
}

/** A conversation that ends its worker again and again is set aside instead of being tried for ever. */
async function park(session: Session, hands: Hands, takeovers: number): Promise<void> {
  const { conversation, state } = session;
  // Nobody waits, or not for this: a stop needs nothing that could end a worker.
  if (state.unanswered.length === 0 || state.stop || state.parked) return;
  const error = new DeckhandError("CONVERSATION_PARKED", conversation);
  hands.trace.error("parked", { conversation, takeovers, hint: `deckhand retry ${conversation}` });
  const open = state.step?.calls.filter((call) => !call.ended) ?? [];
  const ends = open.flatMap((call): NewEntry[] =>
    call.started ? [interrupted(call, session, hands)] : [...closed(call), refusal(call, "parked", session, hands)],
  );
  await session.append([...ends, { type: "failed", code: error.code, text: error.line(), answers: [], parked: true }]);
}

/** Decides its approval when it is open. A press that came before stands. */
function closed({ asked, decided }: CallState): NewEntry[] {
  if (!asked || decided) return [];
  return [{ type: "approval-decided", approval: asked.approval, call: asked.call, decision: "cancelled", by: DECKHAND }];
}

const DECKHAND: Person = { key: "deckhand", name: "Deckhand", kind: "bot", roles: [] };
