import type { Upload } from "./body.ts";
import type { Gateway } from "./gateway.ts";
import type { Interactions } from "./interact.ts";
import type { Limits, Rule } from "./limits.ts";
import type { Json } from "./refusal.ts";
import { refuse, refuseForm } from "./refusal.ts";
import type { TwinChannel, TwinMessage, World } from "./state.ts";
import type { Permission } from "./permissions.ts";

/** What all routes work with. */
export interface Context {
  world: World;
  gateway: Gateway;
  interactions: Interactions;
  limits: Limits;
  /** Whether the limits of routes and the global one are in force. */
  rated: boolean;
  /** `http://127.0.0.1:PORT` */
  url: string;
  token(): string;
  /** Bits of the application's flags. */
  flags: number;
}

export interface Call extends Context {
  /** What stands for each `:` of the path. */
  params: string[];
  query: URLSearchParams;
  body: Json;
  files: Upload[];
}

export interface Route {
  method: "GET" | "POST" | "PATCH" | "PUT" | "DELETE";
  /** `/channels/:/messages` */
  path: string;
  rule?: Rule;
  /** Without the bot's token, and outside of the global limit. */
  open?: true;
  /** Of an answer with a body; 200 when not given. */
  status?: number;
  /** undefined answers 204. */
  run(call: Call): unknown;
}

export function channelIn(call: Call): TwinChannel {
  return call.world.channel(call.params[0]);
}

/** The message that the second part of the path names. Throws 10008. */
export function messageIn(call: Call, channel: TwinChannel): TwinMessage {
  const message = call.world.message(channel.id, call.params[1] ?? "");
  if (!message) throw refuse(10008);
  return message;
}

/** Throws 50013 without the permission. */
export function needPermission(world: World, channel: TwinChannel, permission: Permission): void {
  if (!world.may(channel, permission)) throw refuse(50013);
}

/** A whole number of the query within bounds. Throws 50035. */
export function numberIn(query: URLSearchParams, name: string, standard: number, min: number, max: number): number {
  const text = query.get(name);
  const value = text === null ? standard : Number(text);
  const message = `Value should be between ${min} and ${max}.`;
  if (!Number.isInteger(value)) throw refuseForm([{ path: [name], code: "NUMBER_TYPE_COERCE", message: "Value is not int." }]);
  if (value < min || value > max) throw refuseForm([{ path: [name], code: value < min ? "NUMBER_TYPE_MIN" : "NUMBER_TYPE_MAX", message }]);
  return value;
}
