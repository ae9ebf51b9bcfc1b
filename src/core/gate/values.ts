import { type Arg, kindArg, literalArg } from "./args.ts";
import type { Walk } from "./finding.ts";
import type { Assignment } from "./parse.ts";
import { readWord } from "./words.ts";

/** What an assignment gives its variable. */
export function valueOf(node: Assignment, walk: Walk): Arg {
  if (node.value.type !== "Word") return kindArg("free", node.text);
  const args = readWord(node.value, walk);
  const [only] = args;
  if (args.length === 1 && only !== undefined) return only.loose && only.kind === "free" && only.value === "" ? literalArg("") : only;
  const literal = args.every((arg) => arg.literal);
  return literal ? { ...literalArg(args.map((arg) => arg.value).join(" ")), text: node.text } : kindArg("free", node.value.text);
}

/** `export NAME=value`: what the builtin gets as one word. */
export function argumentOf(node: Assignment, walk: Walk): Arg {
  if (node.value.type === "ArrayValue") {
    const elements = node.value.elements.flatMap((word) => readWord(word, walk));
    return { ...kindArg("free", node.text, `${node.name}${node.append === true ? "+" : ""}=()`), list: elements };
  }
  const value = valueOf(node, walk);
  const index = node.index === undefined ? "" : `[${node.index.text}]`;
  const sign = node.append === true ? "+=" : "=";
  return { ...value, text: node.text, value: `${node.name}${index}${sign}${value.value}`, glob: -1 };
}
