import { homedir } from "node:os";
import { join, normalize, resolve } from "node:path";
import { CHECKPOINTS, parseKillAt } from "../core/checkpoint.ts";

/** From the text of a setting to its value. Each parser throws `Refused` with what the value must be. */

/** A value that cannot be used. The message never repeats the value of a secret. */
export class Refused extends Error {}

function refuse(mend: string): never {
  throw new Refused(mend);
}

/** What is left when blanks and the quotes that documents and chats put around a value are gone; null for nothing. */
export function clean(text: string | undefined): string | null {
  const left = (text ?? "").replace(/^[\s\u200B\u2060"'“”„‘’«»`]+|[\s\u200B\u2060"'“”„‘’«»`]+$/g, "");
  return left === "" ? null : left;
}

export function oneWord(text: string): string {
  return /^[\x21-\x7E]+$/.test(text) ? text : refuse("must be one word of plain ASCII, without blanks");
}

export function token(prefix: string): (text: string) => string {
  const form = new RegExp(`^${prefix}[\\w-]+$`);
  return (text) => (form.test(text) ? text : refuse(`must begin with ${prefix}; copy it again from the app's pages at api.slack.com/apps`));
}

export function webAddress(text: string): string {
  return /^https?:\/\/\S+$/.test(text) && URL.canParse(text) ? text : refuse("must be an address that begins with http:// or https://");
}

export function redisAddress(text: string): string {
  const form = /^rediss?:\/\/(?:[^%\s]|%[2-7][0-9a-f])+$/i;
  return form.test(text) && URL.canParse(text) ? text : refuse("must look like redis://:PASSWORD@HOST:PORT, or rediss:// for TLS");
}

export function oneOf<T extends string>(...allowed: T[]): (text: string) => T {
  return (text) => allowed.find((word) => word === text.toLowerCase()) ?? refuse(`must be one of ${allowed.join(", ")}, not "${text}"`);
}

/** A number of at least `least` and above 0. */
export function number(least: number, most: number): (text: string) => number {
  return (text) => {
    const value = /^\d+(\.\d+)?$/.test(text) ? Number(text) : 0;
    if (value > 0 && value >= least && value <= most) return value;
    return refuse(`must be a number ${least > 0 ? `from ${least}` : "above 0"} to ${most}, not "${text}"`);
  };
}

export function userName(text: string): string {
  if (!/^([a-z_][a-z0-9_-]*|\d+)$/.test(text)) refuse(`must be the name or number of a user, not "${text}"`);
  return text === "root" || /^0+$/.test(text) ? refuse("must not be root, commands never run as root; name another user") : text;
}

export function killAt(text: string): string {
  return parseKillAt(text) ? text : refuse(`must be NAME:NTH, with a name of ${CHECKPOINTS.join(", ")}`);
}

/** Deckhand's own folder: what is relative is taken from here, because the current folder may be a workspace. */
const ROOT = join(import.meta.dirname, "../..");

export function path(text: string): string {
  return text.startsWith("~/") ? join(homedir(), text.slice(2)) : resolve(ROOT, text);
}

export const WORKSPACE = /^[a-z0-9-]+$/;
export const CHANNEL = /^(slack:[A-Z0-9]+|discord:\d+)$/;
export const PERSON = /^(slack:(\*|[A-Z0-9]+)|discord:(\*|\d+|role:\d+))$/;
export const SAY = {
  workspace: "a workspace's name has only a-z, 0-9 and -",
  path: "a workspace's path must be absolute, such as /srv/web",
  channel: "a channel is written slack:C1 (its id, not its name)",
  person: "a person is written slack:U1 or slack:*, a role discord:role:1 (ids, not names)",
};

export function people(text: string): string[] {
  const wrong = list(text).filter((item) => !PERSON.test(item));
  return wrong.length === 0 ? list(text) : refuse(`${wrong.join(", ")} cannot be read; ${SAY.person}`);
}

export function workspaces(text: string): { name: string; path: string }[] {
  return pairs(text, "name=/path,other=/path").map(([name, where]) => {
    if (!WORKSPACE.test(name)) refuse(`"${name}" cannot be used; ${SAY.workspace}`);
    return { name, path: workspacePath(where) ?? refuse(`"${where}" cannot be used; ${SAY.path}`) };
  });
}

export function channels(text: string): { channel: string; workspace: string }[] {
  return pairs(text, "slack:C1=name,slack:C2=other").map(([channel, workspace]) => {
    if (!CHANNEL.test(channel)) refuse(`"${channel}" cannot be read; ${SAY.channel}`);
    return { channel, workspace };
  });
}

/** Null when it is not absolute. */
export function workspacePath(text: string): string | null {
  const full = text.startsWith("~/") ? join(homedir(), text.slice(2)) : text;
  return full.startsWith("/") ? normalize(full).replace(/(?<=.)\/$/, "") : null;
}

function list(text: string): string[] {
  return text.split(",").flatMap((item) => clean(item) ?? []);
}

function pairs(text: string, form: string): [left: string, right: string][] {
  return list(text).map((item) => {
    const at = item.indexOf("=");
    const [left, right] = [item.slice(0, at).trim(), item.slice(at + 1).trim()];
    return at > 0 && right ? [left, right] : refuse(`"${item}" cannot be read; write ${form}`);
  });
}
