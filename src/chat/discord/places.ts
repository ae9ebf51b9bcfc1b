import { type APIChannel, ChannelType, type Client, Routes } from "discord.js";
import { remember } from "../../core/remember.ts";
import type { Clock } from "../../core/ports.ts";
import type { Api } from "./api.ts";
import { chatError } from "./refusals.ts";

/** Where something was said. A thread and a direct channel are conversations of their own. */
export interface Place {
  /** Null: a direct channel. */
  guild: string | null;
  channel: string;
  /** The channel that a thread belongs to; any other channel itself. */
  parent: string;
  isThread: boolean;
}

/** What a channel is, from the SDK's memory or from Discord. Null when we cannot see it (any more); rejects when Discord does not say. */
export type PlaceOf = (channel: string) => Promise<Place | null>;

const THREADS = [ChannelType.PublicThread, ChannelType.PrivateThread, ChannelType.AnnouncementThread];
const KEPT_MS = 24 * 60 * 60_000;
const KEPT_PLACES = 10_000;

export function discordPlaces(options: { api: Api; clock: Clock; client: () => Client | undefined }): PlaceOf {
  const ask = remember({ clock: options.clock, ms: KEPT_MS, most: KEPT_PLACES }, (id) => lookUp(options.api, id));
  return async (id) => {
    const channel = options.client()?.channels.cache.get(id);
    if (channel) {
      const guild = "guildId" in channel ? channel.guildId : null;
      const isThread = channel.isThread();
      return { guild, channel: id, parent: (isThread ? channel.parentId : null) ?? id, isThread };
    }
    try {
      return await ask(id);
    } catch (error) {
      if (chatError(error).refusal.kind === "gone") return null;
      throw error;
    }
  };
}

/** Asks Discord. Rejects with what the SDK throws. */
export async function lookUp(api: Api, id: string): Promise<Place> {
  const channel = (await api.read.get(Routes.channel(id))) as APIChannel;
  const isThread = THREADS.includes(channel.type);
  const guild = ("guild_id" in channel && channel.guild_id) || null;
  return { guild, channel: id, parent: (isThread && "parent_id" in channel && channel.parent_id) || id, isThread };
}
