import { type APIUser, Routes } from "discord.js";
import { untilDone } from "../../core/patience.ts";
import type { Chat, Ids } from "../../core/ports.ts";
import { discordApi } from "./api.ts";
import { Ears, type EarsOptions } from "./ears.ts";
import { download } from "./files.ts";
import { layout } from "./layout.ts";
import { begin, buckets, edit, find, type Out, send } from "./out.ts";
import type { Self } from "./read.ts";
import { discordError } from "./refusals.ts";
import { Typing } from "./typing.ts";

export interface DiscordOptions extends EarsOptions {
  ids: Ids;
}

/**
 * Discord over its Gateway. `start` waits for Discord when it is down and resolves once this process hears it or another
 * one does; it rejects with DISCORD_AUTH, DISCORD_INTENTS or DISCORD_DOWN when Discord refuses for good.
 */
export function discordChat(options: DiscordOptions): Chat {
  const api = discordApi(options);
  const ending = new AbortController();
  let ears: Ears | undefined;
  let self: Self | undefined;
  const typing = new Typing(api, options.clock);
  const out: Out = { ...options, api, typing, self: () => self?.user };

  async function whoAmI(): Promise<Self | undefined> {
    const onFailure = (error: unknown): void => {
      const problem = discordError(error);
      if (problem.code !== "DISCORD_DOWN") throw problem;
      options.trace.warn("discord.down", { problem: problem.line() });
    };
    const ask = async (): Promise<unknown> => await api.write.get(Routes.user("@me"));
    const user = (await untilDone(ask, { clock: options.clock, signal: ending.signal, onFailure })) as APIUser | undefined;
    return user && { user: user.id, name: user.username };
  }

  return {
    platform: "discord",
    start: async (arrive) => {
      self = await whoAmI();
      if (!self || ending.signal.aborted) return;
      ears = new Ears(options, api, self, arrive);
      await ears.start();
    },
    stop: async () => {
      ending.abort();
      typing.stop();
      await ears?.stop();
    },
    layout,
    buckets,
    send: (thread, chunk, nonce, file) => send(out, thread, chunk, nonce, file),
    begin: (channel, chunk, nonce) => begin(out, channel, chunk, nonce),
    edit: (thread, ref, chunk) => edit(out, thread, ref, chunk),
    download: (file, limits) => download(options.apiUrl, file, limits),
    find: (thread, sought) => find(out, thread, sought),
  };
}
