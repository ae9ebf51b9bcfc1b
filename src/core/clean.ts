const ESC = String.fromCharCode(0x1b);
const BEL = String.fromCharCode(0x07);

const SEQUENCE = [
  `(?:${ESC}\\[|\\u009b)[0-?]*[ -/]*[@-~]?`,
  `${ESC}[\\]PX^_][^${ESC}${BEL}\\n]*(?:${BEL}|${ESC}\\\\)?`,
  `${ESC}[ -/]*[0-~]?`,
].join("|");
const ANSI = new RegExp(SEQUENCE, "g");
const OVERSTRUCK = `[^\\n]${String.fromCharCode(0x08)}`;
const CONTROL = "(?![\\t\\n])\\p{Cc}";
const PLAIN_OVERSTRUCK = new RegExp(OVERSTRUCK, "gu");
const PLAIN_CONTROL = new RegExp(CONTROL, "gu");
const ANSI_OR_OVERSTRUCK = new RegExp(`(${SEQUENCE})|${OVERSTRUCK}`, "gu");
const ANSI_OR_CONTROL = new RegExp(`(${SEQUENCE})|${CONTROL}`, "gu");
const REPLACEMENT = "\uFFFD";

/**
 * Terminal output as plain text: colours and titles gone, progress lines as they stood at the end, other control
 * characters and broken Unicode as U+FFFD. Linear in the length of the text.
 */
export function clean(text: string): string {
  const plain = withoutColour(text.toWellFormed()).replace(PLAIN_OVERSTRUCK, "");
  return foldProgress(plain, (part) => part !== "").replace(PLAIN_CONTROL, REPLACEMENT);
}

/** The same for a terminal: its sequences stay. */
export function cleanInColour(text: string): string {
  const kept = text.toWellFormed().replace(ANSI_OR_OVERSTRUCK, (_, sequence?: string) => sequence ?? "");
  const folded = foldProgress(kept, (part) => withoutColour(part) !== "");
  return folded.replace(ANSI_OR_CONTROL, (_, sequence?: string) => sequence ?? REPLACEMENT);
}

export function withoutColour(text: string): string {
  return text.replace(ANSI, "");
}

/** `10%\r50%\r100%` is what a terminal shows at the end: `100%`. */
function foldProgress(text: string, shows: (part: string) => boolean): string {
  if (!text.includes("\r")) return text;
  return text
    .split("\n")
    .map((line) => (line.includes("\r") ? (line.split("\r").findLast(shows) ?? "") : line))
    .join("\n");
}
