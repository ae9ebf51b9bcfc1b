import { Buffer } from "node:buffer";
import { join } from "node:path";
import { messageOf } from "../core/errors.ts";
import type { Sandbox } from "../core/sandbox.ts";
import { fitted } from "../core/items.ts";
import { LIMITS } from "../limits.ts";
import { quoted } from "./fingerprint.ts";
import { conversationFolders } from "./folders.ts";
import type { RunUser } from "./launch.ts";
import type { SandboxOptions } from "./options.ts";
import type { Inside } from "./quota.ts";

/** Linux takes 128 kB in one variable. */
const PIECE = 100_000;

/**
 * Writes into a conversation's /tmp: inside a sandbox, as the run user, so that links in there lead nowhere. The text goes in by
 * variables, which no process list shows. `seen`: the folder as commands see it.
 */
export function keeping(
  options: SandboxOptions,
  inside: Inside,
  userOf: (workspace: string) => RunUser | null,
  seen: (tmp: string) => string,
): Sandbox["keep"] {
  return async ({ conversation, workspace, name }, text) => {
    const user = userOf(workspace);
    if (user === null) return null;
    try {
      const { tmp } = conversationFolders(options.stateDir, conversation, user);
      const pieces = piecesOf(fitted(text, LIMITS.outputFile));
      const given = Object.fromEntries(pieces.map((piece, at) => [`KEPT_${at}`, piece]));
      const words = pieces.map((_, at) => `"$KEPT_${at}"`).join(" ");
      const file = quoted(name);
      const said = await inside(tmp, user, `umask 077; rm -f -- ${file}; set -C; printf %s ${words} >${file} && echo kept`, given);
      if (said.trim() === "kept") return join(seen(tmp), name);
      throw new Error(said.trim());
    } catch (thrown) {
      options.warn?.("keep-failed", { error: messageOf(thrown) });
      return null;
    }
  };
}

/** No character is cut in two. */
function piecesOf(text: string): string[] {
  const bytes = Buffer.from(text.replaceAll("\0", ""));
  const pieces: string[] = [];
  for (let from = 0, to = 0; from < bytes.length; from = to) {
    to = Math.min(bytes.length, from + PIECE);
    while (to < bytes.length && ((bytes[to] ?? 0) & 0xc0) === 0x80) to -= 1;
    pieces.push(bytes.toString("utf8", from, to));
  }
  return pieces;
}
