import type { Arg } from "./args.ts";
import type { Printed, Walk } from "./finding.ts";

/** Commands that print names of files below the folder they are called in, or of commits and branches. */
const NAMES = new Set("ls fd fdfind git rg grep find basename dirname mktemp whoami hostname".split(" "));
const GIT_NAMES = /^(?:ls-files|ls-tree|diff|log|describe|branch|symbolic-ref|merge-base|rev-list|show-branch|show|tag)$/;
/** They pass on some of what they get, or all of it in another order. */
const FILTERS = new Set("cat head tail sort uniq grep egrep fgrep tac shuf tee".split(" "));

/** What a command prints, as far as the line tells. Null when nothing is known. */
export function printsOf(name: string, args: Arg[], input: Printed | null, walk: Walk): Printed | null {
  const values = args.map((arg) => arg.value);
  const words = args.filter((arg) => !/^-./.test(arg.value));
  switch (name) {
    case "echo":
      return echoed(args);
    case "printf":
      return formatted(args);
    case "base64":
    case "base32":
      return input !== null && values.some((one) => /^(?:-\w*d\w*|-D|--decode)$/.test(one))
        ? { ...input, text: decoded(input.text) }
        : null;
    case "xxd":
      return input !== null && values.some((one) => /^-r/.test(one)) ? { ...input, text: unhexed(input.text) } : null;
    case "rev":
      return input === null ? null : { ...input, text: input.text.split("\n").map(reversed).join("\n") };
    case "tr":
      return input === null ? null : translated(input, words);
    case "sed":
      return input === null ? null : { ...input, sure: false, kind: "free" };
    case "wc":
      return words.length === 0 && values.every((one) => /^-[lcwm]$/.test(one)) && values.length === 1 ? known("number") : null;
    case "nproc":
    case "seq":
      return known("number");
    case "date":
      return dated(args);
    case "pwd":
      return walk.scope.cwds.length === 1 ? { text: walk.scope.cwds[0] ?? "", sure: true, kind: "free" } : null;
  }
  if (name === "cat" && (words.length === 0 || (words.length === 1 && words[0]?.value === "-"))) return input;
  if (FILTERS.has(name) && input !== null && words.length <= (name.endsWith("grep") ? 1 : 0)) {
    return { ...input, sure: false };
  }
  return NAMES.has(name) ? named(name, values, words) : null;
}

function known(kind: "name" | "number", text = kind === "number" ? "0" : "x"): Printed {
  return { text, sure: false, kind };
}

function named(name: string, values: string[], words: Arg[]): Printed | null {
  const relative = words.every((arg) => arg.kind !== "free" && !arg.tilde && !/^\/|(?:^|\/)\.\.(?:\/|$)/.test(arg.value));
  if (name === "mktemp") return words.length === 0 && values.every((one) => /^-[dqtu]+$/.test(one)) ? known("name", "/tmp/tmp.x") : null;
  if (name === "git") {
    if (values[0] === "rev-parse")
      return values.some((one) => /show-toplevel|git-dir|absolute|common-dir|cdup/.test(one)) ? null : known("name");
    if (values[0] === "rev-list" && values.includes("--count")) return known("number");
    if (values[0] === "diff" || values[0] === "show") return values.includes("--name-only") && relative ? known("name") : null;
    if (values[0] === "log" && !values.some((one) => /^--(?:format|pretty)=(?:format:)?%[hH]$/.test(one))) return null;
    return GIT_NAMES.test(values[0] ?? "") ? known("name") : null;
  }
  if (name === "rg" || name === "grep") {
    if (name === "grep" && words.length <= 2 && values.some((one) => /^-\w*c/.test(one)) && !values.some((one) => /^-\w*r/i.test(one)))
      return known("number");
    const list = values.some((one) => /^-[a-km-zA-Z]*l[a-zA-Z]*$|^--files(?:-with-matches)?$/.test(one));
    return list && relative ? known("name") : null;
  }
  if (name === "find" && values.some((one) => /^-(?:exec|ok|printf|ls|fprint)/.test(one))) return null;
  return relative ? known("name") : null;
}

function echoed(args: Arg[]): Printed {
  const words = [...args];
  let escapes = false;
  while (/^-[neE]+$/.test(words[0]?.value ?? "")) escapes ||= words.shift()?.value.includes("e") === true;
  const text = words.map((arg) => arg.value).join(" ");
  const sure = words.every((arg) => arg.literal && arg.glob < 0 && !arg.tilde);
  const [only] = words;
  if (words.length === 1 && only !== undefined && only.kind !== "literal") return { text: only.value, sure: false, kind: only.kind };
  return { text: `${escapes ? unescaped(text) : text}\n`, sure, kind: "free" };
}

function formatted(args: Arg[]): Printed | null {
  const [format, ...rest] = args[0]?.value === "--" ? args.slice(1) : args;
  if (format === undefined || format.value.startsWith("-")) return null;
  const sure = args.every((arg) => arg.literal && arg.glob < 0 && !arg.tilde);
  const text = unescaped(format.value);
  if (!/%[^%]/.test(text)) return { text: text.replaceAll("%%", "%"), sure, kind: "free" };
  const values = rest.map((arg) => arg.value);
  const once = (): string =>
    text.replace(/%(?:%|[-+ #0]*\d*(?:\.\d+)?([a-zA-Z]))/g, (whole, kind: string | undefined) => {
      if (kind === undefined) return "%";
      const value = values.shift() ?? "";
      return kind === "b" ? unescaped(value) : /[sdiq]/.test(kind) ? value : whole;
    });
  let printed = once();
  for (let round = 0; values.length > 0 && round < 64; round += 1) printed += once();
  return { text: printed, sure: sure && /^(?:[^%]|%%|%[sdb])*$/.test(text), kind: "free" };
}

function dated(args: Arg[]): Printed | null {
  const format = args.find((arg) => arg.value.startsWith("+"));
  if (format === undefined || !format.literal) return args.some((arg) => /^-I|^--iso/.test(arg.value)) ? known("name") : null;
  if (/^\+%[sYjHMSNdmy]$/.test(format.value)) return known("number");
  return /^\+(?:%[sYyjHIMSNdmFTpbaZzu]|[\w.,:@ -])+$/.test(format.value) ? known("name", "2026-01-01") : null;
}

const ESCAPES: Record<string, string> = { n: "\n", t: "\t", r: "\r", "\\": "\\", "'": "'", '"': '"', a: "", b: "", e: "", v: " ", f: " " };

function unescaped(text: string): string {
  return text.replace(/\\(?:x([\da-fA-F]{1,2})|u([\da-fA-F]{1,4})|0?([0-7]{1,3})|(.))/gs, (whole, hex, unicode, octal, letter) => {
    if (typeof hex === "string") return String.fromCharCode(Number.parseInt(hex, 16));
    if (typeof unicode === "string") return String.fromCharCode(Number.parseInt(unicode, 16));
    if (typeof octal === "string") return String.fromCharCode(Number.parseInt(octal, 8));
    return ESCAPES[String(letter)] ?? String(whole);
  });
}

const DIGITS = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

/** What base64 says, byte by byte; text beyond ASCII is of no matter here. */
function decoded(text: string): string {
  let bits = 0;
  let held = 0;
  let out = "";
  for (const sign of text) {
    const digit = DIGITS.indexOf(sign);
    if (digit < 0) continue;
    held = ((held << 6) | digit) & 0xffffff;
    bits += 6;
    if (bits >= 8) {
      bits -= 8;
      out += String.fromCharCode((held >> bits) & 0xff);
    }
  }
  return out;
}

function unhexed(text: string): string {
  return (text.match(/[\da-fA-F]{2}/g) ?? []).map((pair) => String.fromCharCode(Number.parseInt(pair, 16))).join("");
}

function reversed(text: string): string {
  return text.split("").reverse().join("");
}

/** `tr` with two sets: letters are exchanged where the sets are plain ranges, else nothing is known for sure. */
function translated(input: Printed, words: Arg[]): Printed {
  const [from, to] = words.map((arg) => ranges(arg.value));
  if (words.length !== 2 || from === undefined || to === undefined || from.length > 512) return { ...input, sure: false, kind: "free" };
  const text = input.text
    .split("")
    .map((sign) => (from.includes(sign) ? (to[Math.min(from.indexOf(sign), to.length - 1)] ?? "") : sign))
    .join("");
  return { text, sure: false, kind: "free" };
}

function ranges(set: string): string {
  return unescaped(set).replace(/(\w)-(\w)/g, (whole, low: string, high: string) => {
    const [first, last] = [low.charCodeAt(0), high.charCodeAt(0)];
    return first > last ? whole : Array.from({ length: last - first + 1 }, (_, at) => String.fromCharCode(first + at)).join("");
  });
}
