import { LIMITS } from "../limits.ts";
import { checkpoint } from "./checkpoint.ts";
import { openApproval, openRun } from "./conversation.ts";
import { DeckhandError } from "./errors.ts";
import type { Hands } from "./hands.ts";
import { loop } from "./loop.ts";
import type { Wake } from "./ports.ts";
import { interrupted } from "./run.ts";
import { type Session, openSession, patiently } from "./session.ts";

/**
 * One wake: take the conversation over, loop, settle. It ends when the people are
 * answered, when a person has to decide, or when another worker took over; nothing is held afterwards.
 */
export async function turn(wake: Wake, hands: Hands): Promise<void> {
  const { log, clock, trace } = hands;
  const { conversation, signal } = wake;
  try {
    checkpoint("picked");
    const taken = await log.takeover(conversation, wake.lock);
    if (taken.kind === "lost") return;
    checkpoint("taken-over");
    const session = await openSession(conversation, taken.epoch, { log, clock, ids: hands.ids, signal, appended: hands.appended });
    if (taken.takeovers > LIMITS.takeoversWithoutProgress) await giveUp(session, hands);
    for (;;) {
      await loop(session, hands, signal);
      if (signal.aborted) return;
      checkpoint("before-settle");
      const settled = await patiently(() => log.settle(conversation, taken.epoch, session.state.seq), clock, signal);
      checkpoint("after-settle");
      if (settled !== "more") return;
      await session.refresh();
    }
  } catch (thrown) {
    if (thrown instanceof DeckhandError && thrown.code === "REDIS_FENCED") {
      trace.info("fenced", { conversation });
      return;
    }
    throw thrown;
  }
}

/** A conversation that ends its worker again and again is answered with a failure instead of being tried for ever. */
async function giveUp(session: Session, hands: Hands): Promise<void> {
  const { log, clock } = hands;
  const approval = openApproval(session.state)?.asked?.approval;
  if (approval) await log.decide(approval, clock.now(), { decision: "cancelled" });
  await session.refresh();
  const answers = session.state.unanswered.map((m) => m.seq);
  if (answers.length === 0) return;
  const run = openRun(session.state);
  if (run) await session.append([interrupted(run, session, hands)]);
  const error = new DeckhandError("INTERNAL", "this task ended the worker several times, so it was given up");
  await session.append([{ type: "failed", code: error.code, text: error.line(), answers }]);
}
