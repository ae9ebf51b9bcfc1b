import { DeckhandError } from "../core/errors.ts";

/** `deckhand manifest slack|discord`: from the same lists of scopes, events and permissions that the code uses. */
export async function manifestCommand(args: string[]): Promise<number> {
  const [platform = "", id] = args;
  const known = (platform === "slack" && args.length === 1) || (platform === "discord" && args.length <= 2);
  if (!known) throw new DeckhandError("BAD_INPUT", "deckhand manifest takes slack, or discord and the application's id");
  const manifest =
    platform === "slack"
      ? (await import("../chat/slack/manifest.ts")).slackManifest()
      : (await import("../chat/discord/manifest.ts")).discordManifest(id);
  process.stdout.write(`${JSON.stringify(manifest, null, 2)}\n`);
  return 0;
}
