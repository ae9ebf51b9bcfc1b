import type { Hub } from "./socket.ts";
import type { Json, World } from "./state.ts";
import { channelType, Refusal, refusalWith, SCOPE_OF } from "./state.ts";
import type { Tier } from "./limits.ts";

/** What a method works with. */
export interface Call {
  args: Json;
  world: World;
  hub: Hub;
  /** Spends a trigger id; gives whose it was. */
  spendTrigger: (id: string) => string;
  /** `http://127.0.0.1:PORT` */
  url: string;
}

export interface Method {
  tier: Tier;
  /** The scope it needs; for conversations it depends on the channel. */
  scope?: string | ((args: Json) => string[]);
  /** Only the app-level token, and only in the header. */
  appToken?: true;
  run(call: Call): Json;
}

/** `channels:history`, `groups:history` or `im:history`, by the channel that is asked for. */
export function conversationScope(what: "read" | "history"): (args: Json) => string[] {
  return (args) => [`${SCOPE_OF[channelType(String(args.channel ?? "C"))]}:${what}`];
}

export function optional(args: Json, name: string): string | undefined {
  const value = args[name];
  if (value === undefined || value === null || value === "") return undefined;
  return typeof value === "string" ? value : JSON.stringify(value);
}

export function need(args: Json, name: string): string {
  const value = optional(args, name);
  if (value === undefined) throw refusalWith("invalid_arguments", [`missing required field: ${name}`]);
  return value;
}

export function flag(args: Json, name: string): boolean {
  return args[name] === true || args[name] === "true" || args[name] === "1";
}

/** A whole number between 1 and `max`. Throws `invalid_limit`. */
export function limitOf(args: Json, standard: number, max: number): number {
  const text = optional(args, "limit");
  const limit = text === undefined ? standard : Number(text);
  if (!Number.isInteger(limit) || limit < 1 || limit > max) throw new Refusal("invalid_limit");
  return limit;
}

/** One page of a list and the cursor of the next. Throws `invalid_cursor`. */
export function page<T>(items: T[], args: Json, limit: number): { items: T[]; more: boolean; response_metadata: Json } {
  const cursor = optional(args, "cursor");
  const start = cursor === undefined ? 0 : Number(/^at:(\d+)$/.exec(Buffer.from(cursor, "base64").toString())?.[1] ?? Number.NaN);
  if (Number.isNaN(start)) throw new Refusal("invalid_cursor");
  const more = start + limit < items.length;
  const next_cursor = more ? Buffer.from(`at:${start + limit}`).toString("base64") : "";
  return { items: items.slice(start, start + limit), more, response_metadata: { next_cursor } };
}

/** An argument that has to be a JSON object. */
export function objectArg(args: Json, name: string): Json {
  need(args, name);
  const value = args[name];
  if (typeof value === "object" && value !== null && !Array.isArray(value)) return value as Json;
  throw refusalWith("invalid_arguments", [`must provide an object [json-pointer:/${name}]`]);
}
