import { parseArgs } from "node:util";
import { loadConfig } from "../config.ts";
import { DeckhandError } from "../core/errors.ts";
import { checkThread } from "../core/inbound.ts";
import { traceLines, traceTree } from "../core/trace.ts";
import { redacted, redactor } from "../core/redactor.ts";
import { redisLog } from "../redis/log.ts";
import { logTrace } from "../system.ts";

/** `deckhand trace CONVERSATION`: the log of one thread as a tree. */
export async function traceCommand(args: string[]): Promise<number> {
  const { values, positionals } = parseArgs({ args, allowPositionals: true, options: { json: { type: "boolean", default: false } } });
  const [conversation] = positionals;
  if (!conversation || positionals.length > 1)
    throw new DeckhandError("BAD_INPUT", "deckhand trace takes one conversation, such as slack:T1:C1:1699.01");
  checkThread(conversation);
  const config = await loadConfig();
  const log = redisLog({ url: config.redisUrl, trace: logTrace("error", config.secrets) });
  try {
    const entries = redacted(await log.read(conversation, 0), redactor(config.secrets));
    if (entries.length === 0) throw new DeckhandError("BAD_CONVERSATION", conversation);
    const turns = traceTree(entries);
    process.stdout.write(values.json ? `${JSON.stringify({ conversation, turns }, null, 2)}\n` : `${traceLines(turns).join("\n")}\n`);
    return 0;
  } finally {
    await log.close();
  }
}
