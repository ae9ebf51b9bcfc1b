import { RESTJSONErrorCodes as Code, Routes, ThreadAutoArchiveDuration } from "discord.js";
import { DeckhandError } from "../../core/errors.ts";
import type { Api } from "./api.ts";
import { codeOf } from "./refusals.ts";

/** No thread can begin here. `message` is what the person who asked is told; `problem` is for who runs Deckhand. */
export class NotOpened extends Error {
  readonly problem: DeckhandError;
  constructor(words: string, problem: DeckhandError) {
    super(words);
    this.name = "NotOpened";
    this.problem = problem;
  }
}

const MAY_NOT =
  "I may not start a thread here, so I did nothing. Whoever runs this server can allow me to view this channel, create public threads and send messages in threads.";

const REFUSALS = new Map<number, [words: string, problem: string]>([
  [Code.MissingPermissions, [MAY_NOT, "create public threads"]],
  [Code.MissingAccess, [MAY_NOT, "view the channel"]],
  [
    Code.MaximumActiveThreads,
    [
      "This server has too many active threads, so I did nothing. Close some, or mention me in one that is there.",
      "start one more active thread",
    ],
  ],
  [
    Code.CannotExecuteActionOnThisChannelType,
    [
      "I cannot start a thread in this kind of channel, so I did nothing. Mention me in a text channel or in a thread.",
      "start threads in such a channel",
    ],
  ],
]);

/** Names can be refused for their words too. */
const BAD_NAMES = new Set<number | null>([
  Code.InvalidFormBodyOrContentType,
  Code.TitleWasBlockedByAutomaticModeration,
  Code.MessageWasBlockedByAutomaticModeration,
]);
const PLAIN_NAME = "Deckhand";

/**
 * Begins the thread at a message; it gets the message's id. Twice is once. Throws NotOpened when Discord will not have
 * it, and what the SDK throws when it may work later.
 */
export async function openThread(api: Api, channel: string, message: string, name: string): Promise<void> {
  try {
    await api.write.post(Routes.threads(channel, message), {
      body: { name, auto_archive_duration: ThreadAutoArchiveDuration.ThreeDays },
    });
  } catch (error) {
    const code = codeOf(error);
    if (code === Code.ThreadAlreadyCreatedForMessage) return;
    if (BAD_NAMES.has(code) && name !== PLAIN_NAME) return await openThread(api, channel, message, PLAIN_NAME);
    const [words, problem] = REFUSALS.get(code ?? 0) ?? [];
    if (!words || !problem) throw error;
    throw new NotOpened(words, new DeckhandError("DISCORD_PERMISSION", `${problem} (${code}, channel ${channel})`, { cause: error }));
  }
}
