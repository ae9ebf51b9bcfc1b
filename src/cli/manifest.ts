import { DeckhandError } from "../core/errors.ts";

/** `deckhand manifest slack`: from the same list of scopes and events that the code uses. */
export async function manifestCommand(args: string[]): Promise<number> {
  if (args[0] !== "slack" || args.length > 1) throw new DeckhandError("BAD_INPUT", "deckhand manifest takes the word slack");
  const { slackManifest } = await import("../chat/slack/manifest.ts");
  process.stdout.write(`${JSON.stringify(slackManifest(), null, 2)}\n`);
  return 0;
}
