import { InteractionResponseType, MessageFlags, Routes } from "discord.js";
import { messageOf } from "../../core/errors.ts";
import type { Reply, Trace } from "../../core/ports.ts";
import type { Api } from "./api.ts";
import type { Press } from "./events.ts";
import { encodeShort } from "./text.ts";

/** Discord gives a press 3 s and never sends it again; until then keeping it comes first. */
const ACK_MS = 1_500;
const TEXT_MAX = 1_900;
const LOST = "That did not reach me. Please try it once more.";

/** Answers a press: what the person is told comes with the acknowledgement, or after it when keeping takes long. Never rejects. */
export async function answerPress(api: Api, trace: Trace, press: Press, keep: Promise<Reply>): Promise<void> {
  const kept = keep.then(
    ({ whisper }) => whisper ?? "",
    (error: unknown) => {
      trace.warn("discord.lost-press", { error: messageOf(error) });
      return LOST;
    },
  );
  try {
    const soon = await within(ACK_MS, kept);
    await acknowledge(api, press, soon);
    const late = soon === null ? await kept : "";
    if (late) await api.write.post(Routes.webhook(press.application_id, press.token), { auth: false, body: alone(late) });
  } catch (error) {
    // The press is kept all the same, and the card says what became of it.
    trace.warn("discord.press-unanswered", { error: messageOf(error) });
    await kept;
  }
}

/** A line for the person alone, or nothing but "it was heard". */
async function acknowledge(api: Api, { id, token }: Press, words: string | null): Promise<void> {
  const body = words
    ? { type: InteractionResponseType.ChannelMessageWithSource, data: alone(words) }
    : { type: InteractionResponseType.DeferredMessageUpdate };
  await api.write.post(Routes.interactionCallback(id, token), { auth: false, body });
}

function alone(words: string): object {
  return { content: encodeShort(words, TEXT_MAX), flags: MessageFlags.Ephemeral, allowed_mentions: { parse: [] } };
}

/** Null when it takes longer than `ms`. */
async function within<T>(ms: number, work: Promise<T>): Promise<T | null> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<null>((resolve) => {
    timer = setTimeout(() => resolve(null), ms);
  });
  const first = await Promise.race([work, late]);
  clearTimeout(timer);
  return first;
}
