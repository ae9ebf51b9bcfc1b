import { type APIMessage, Routes } from "discord.js";
import type { Api } from "./api.ts";
import { byAge } from "./snowflake.ts";

const PAGE = 100;

/** The messages of a channel or thread that are newer than an id, in no order. Rejects with the SDK's errors. */
export async function historyAfter(api: Api, channel: string, id: string, signal?: AbortSignal): Promise<APIMessage[]> {
  const found: APIMessage[] = [];
  for (let after = id; ; ) {
    const query = new URLSearchParams({ after, limit: String(PAGE) });
    const page = (await api.read.get(Routes.channelMessages(channel), { query, ...(signal && { signal }) })) as APIMessage[];
    found.push(...page);
    // Discord gives the oldest of them first, page by page.
    if (page.length < PAGE) return found;
    after = page
      .map((message) => message.id)
      .sort(byAge)
      .at(-1) as string;
  }
}
