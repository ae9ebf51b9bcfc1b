import { parseArgs } from "node:util";
import { accessOf } from "../app.ts";
import { loadConfig } from "../config.ts";
import { DeckhandError } from "../core/errors.ts";
import { checkThread } from "../core/inbound.ts";
import { retry } from "../core/intake.ts";
import { redisLog } from "../redis/log.ts";
import { bullQueue } from "../redis/queue.ts";
import { logTrace, systemClock } from "../system.ts";

/** `deckhand retry CONVERSATION`: what was asked there is tried once more. */
export async function retryCommand(args: string[]): Promise<number> {
  const { positionals } = parseArgs({ args, allowPositionals: true, options: {} });
  const [conversation] = positionals;
  if (!conversation || positionals.length > 1)
    throw new DeckhandError("BAD_INPUT", "deckhand retry takes one conversation, such as slack:T1:C1:1699.01");
  checkThread(conversation);
  const config = await loadConfig();
  const trace = logTrace("error", config.secrets);
  const log = redisLog({ url: config.redisUrl, trace });
  const queue = bullQueue({ url: config.redisUrl, trace });
  try {
    const workspace = await retry(conversation, { log, queue, clock: systemClock, trace, access: accessOf(config) });
    const isServed = await log.isServed(workspace);
    const when = isServed ? "" : ` as soon as a worker serves the workspace "${workspace}"`;
    process.stdout.write(`${conversation} goes on${when}.\n`);
    return 0;
  } finally {
    await Promise.all([queue.close(), log.close()]);
  }
}
