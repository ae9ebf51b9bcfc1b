/** What people write in Discord, and what we write there. The `content` of a message is Markdown as it was typed. */

/** User id -> name, for the people that a message mentions. */
export type Names = ReadonlyMap<string, string>;

/** Names of roles and channels, where they are known. */
export type Label = (kind: "role" | "channel", id: string) => string | undefined;

/** The text as the person saw it: own mention at the start gone, the rest of them by name. */
export function decode(content: string, options: { self: string; names: Names; label: Label }): string {
  const { self, names, label } = options;
  return withoutOwnMention(content, self)
    .replace(/<@!?(\d+)>/g, (whole, id: string) => (names.has(id) ? `@${names.get(id)}` : whole))
    .replace(/<@&(\d+)>/g, (whole, id: string) => nameOr(label("role", id), "@", whole))
    .replace(/<#(\d+)>/g, (whole, id: string) => nameOr(label("channel", id), "#", whole))
    .replace(/<a?(:\w+:)\d+>/g, "$1")
    .replace(/<t:(-?\d{1,12})(?::[a-zA-Z])?>/g, (_, seconds: string) => new Date(Number(seconds) * 1000).toISOString());
}

/** Whether the text itself names this user; a reply's ping does not. */
export function namesUser(content: string, user: string): boolean {
  return content.includes(`<@${user}>`) || content.includes(`<@!${user}>`);
}

/** The person whom a text addresses with its first word, if any. */
export function addressed(content: string): string | null {
  return /^\s*<@!?(\d+)>/.exec(content)?.[1] ?? null;
}

function withoutOwnMention(content: string, self: string): string {
  let rest = content;
  while (addressed(rest) === self) rest = rest.replace(/^\s*<@!?\d+>\s*[,:]?\s*/, "");
  return rest;
}

function nameOr(name: string | undefined, sign: string, whole: string): string {
  return name === undefined ? whole : `${sign}${name}`;
}

const MARKUP = /[\\`*_~|<>[\]#]/g;

/** Plain words: nothing in the result is markup, a mention, an emoji or a list. */
export function encode(text: string): string {
  return text.replace(MARKUP, "\\$&").replace(/^(\s*)([-+]|\d+[.)])(?=\s)/gm, (_, space: string, sign: string) => space + escaped(sign));
}

/** At least the length of `encode(text)`, and additive over pieces. */
export function encodedLength(text: string): number {
  return text.length + (text.match(/[\\`*_~|<>[\]#+.)-]/g)?.length ?? 0);
}

function escaped(sign: string): string {
  return `${sign.slice(0, -1)}\\${sign.slice(-1)}`;
}

/** Escaped and at most `max` characters long. */
export function encodeShort(text: string, max: number): string {
  let kept = text;
  while (encodedLength(kept) > max) kept = kept.slice(0, Math.floor(kept.length * 0.9)).toWellFormed();
  return encode(kept) + (kept === text ? "" : "…");
}

/** Letters that stand for themselves, in a box of their own: three backticks would end it. */
export function codeBlock(text: string): string {
  return `\`\`\`\n${text.replace(/``(?=`)/g, "``\u200b") || " "}\n\`\`\``;
}

/** At least the length that `codeBlock` adds to a text, and additive over pieces. */
export function codeLength(text: string): number {
  return text.length + (text.match(/`/g)?.length ?? 0);
}

/** Discord may read `<@1>` and its like in Markdown: an invisible letter keeps them from looking like a mention. */
export function silent(markdown: string): string {
  return markdown.replace(/<(?=@[!&]?\d|#\d|a?:\w+:\d|t:-?\d|id:|\/[^<>\n]+:\d)/g, "<\u200b");
}
