/**
 * Slack's escaped text, both ways. The `text` field is the one source: Slack always sends it (also in history and
 * after an edit), and its code is exact once unescaped. The `rich_text` blocks say the same letters, smart quotes
 * included, so they are not read.
 */

/** User id -> name, for the people (and the bot) that a text mentions. */
export type Names = ReadonlyMap<string, string>;

/** The text as the person typed it: own mention at the start gone, other tokens by name, entities undone. */
export function decode(text: string, options: { botUserId: string; names: Names }): string {
  const words = withoutOwnMention(text, options.botUserId);
  // Splitting first keeps an escaped `&lt;b&gt;` from becoming a token.
  return words
    .split(/(<[^<>]*>)/)
    .map((piece, index) => (index % 2 === 1 ? token(piece.slice(1, -1), options.names) : undoEntities(piece)))
    .join("");
}

/** Escapes the three letters that mean something to Slack; nothing in the result is a mention or a link. */
export function encode(text: string): string {
  return text.replace(/&/g, "&amp;").replace(/</g, "&lt;").replace(/>/g, "&gt;");
}

/** Escaped and at most `max` characters long; says so when something was left out. */
export function encodeShort(text: string, max: number): string {
  const whole = encode(text);
  if (whole.length <= max) return whole;
  const kept = whole.slice(0, max - 8);
  // Neither half an entity nor half a letter beyond the basic plane.
  return `${kept.replace(/&[a-z]*$|[\ud800-\udbff]$/, "")} … (cut)`;
}

/** Ids of the people that a raw text mentions. */
export function mentioned(text: string): string[] {
  return [...text.matchAll(/<@([A-Z0-9]+)(?:\|[^<>]*)?>/g)].map((match) => match[1] as string);
}

/** The person whom a raw text addresses with its first word, if any. */
export function addressed(text: string): string | null {
  return /^\s*<@([A-Z0-9]+)(?:\|[^<>]*)?>/.exec(text)?.[1] ?? null;
}

function withoutOwnMention(text: string, botUserId: string): string {
  let rest = text;
  while (addressed(rest) === botUserId) rest = rest.replace(/^\s*<[^<>]*>\s*[,:]?\s*/, "");
  return rest;
}

function undoEntities(text: string): string {
  return text.replace(/&(amp|lt|gt);/g, (_, name: "amp" | "lt" | "gt") => ({ amp: "&", lt: "<", gt: ">" })[name]);
}

function token(inside: string, names: Names): string {
  const bar = inside.indexOf("|");
  const target = undoEntities(bar < 0 ? inside : inside.slice(0, bar));
  const label = bar < 0 ? "" : undoEntities(inside.slice(bar + 1));
  if (target === "") return `<${undoEntities(inside)}>`;
  const rest = target.slice(1);
  if (target.startsWith("@")) return `@${names.get(rest) ?? (label || rest)}`;
  if (target.startsWith("#")) return `#${label || rest}`;
  if (target.startsWith("!")) return special(rest, label);
  const address = target.replace(/^mailto:/, "");
  if (label === "" || sameAddress(label, address)) return label || address;
  return `${label} (${address})`;
}

/** `<!here>`, `<!subteam^S1|@team>`, `<!date^…|fallback>`. */
function special(name: string, label: string): string {
  if (name.startsWith("date^")) return label;
  if (name.startsWith("subteam^")) return label || `@${name.slice("subteam^".length)}`;
  return `@${(label || name).replace(/^@/, "")}`;
}

/** Slack turns a typed `example.com/x` into a link with that label: the label is what was typed. */
function sameAddress(label: string, address: string): boolean {
  const bare = (url: string): string => url.replace(/^https?:\/\//, "").replace(/\/$/, "");
  return bare(label) === bare(address);
}
