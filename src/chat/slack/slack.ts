import { untilDone } from "../../core/patience.ts";
import type { Chat } from "../../core/ports.ts";
import { layout } from "./blocks.ts";
import { type Clients, slackClients } from "./clients.ts";
import { type Ears, type EarsOptions, slackEars } from "./ears.ts";
import { download } from "./files.ts";
import { slackError } from "./health.ts";
import type { Self } from "./inbound.ts";
import { begin, buckets, edit, find, send } from "./out.ts";

export type SlackOptions = EarsOptions;

/**
 * Slack over Socket Mode. `start` waits for Slack when it is down and resolves once a socket is open; it rejects
 * with SLACK_AUTH or SLACK_SCOPE when Slack refuses a token.
 */
export function slackChat(options: SlackOptions): Chat {
  const clients = slackClients(options);
  const ending = new AbortController();
  let ears: Ears | undefined;
  let self: Identity | undefined;

  return {
    platform: "slack",
    start: async (arrive) => {
      self = await whoAmI(options, clients, ending.signal);
      if (!self || ending.signal.aborted) return;
      ears = slackEars(options, clients, self, arrive);
      await ears.start();
    },
    stop: async () => {
      ending.abort();
      await ears?.stop();
    },
    layout,
    buckets,
    send: (thread, chunk, nonce, file) => send(clients, thread, chunk, nonce, file),
    begin: (channel, chunk, nonce) => begin(clients, self?.team ?? "", channel, chunk, nonce),
    edit: (thread, ref, chunk) => edit(clients, thread, ref, chunk),
    download: (file, limits) => download(options, file, limits),
    find: (thread, sought) => find(clients, self?.user, thread, sought),
  };
}

type Identity = Self & { botId: string };

/** auth.test, again and again while Slack is down; undefined when stopped meanwhile. */
async function whoAmI(options: SlackOptions, clients: Clients, signal: AbortSignal): Promise<Identity | undefined> {
  const onFailure = (error: unknown): void => {
    const problem = slackError(error, "SLACK_BOT_TOKEN");
    if (problem.code !== "SLACK_DOWN") throw problem;
    options.trace.warn("slack.down", { problem: problem.line() });
  };
  const answer = await untilDone(() => clients.control.auth.test(), { clock: options.clock, signal, onFailure });
  if (!answer) return undefined;
  const { team_id, user_id, bot_id, user } = answer;
  return { team: team_id ?? "", user: user_id ?? "", botId: bot_id ?? "", name: user ?? "Deckhand" };
}
