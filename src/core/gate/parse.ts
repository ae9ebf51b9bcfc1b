import { forEachChild, type ParsedScript, parse, type SyntaxNode } from "unbash";

/** The one place that knows the parser. The tree is the parser's own; its types are passed on from here. */
export type {
  AndOr,
  ArithmeticExpression,
  Assignment,
  Command,
  CommandExpansionPart,
  Function as FunctionNode,
  ParameterExpansionPart,
  ParsedScript,
  Pipeline,
  Redirection,
  Script,
  SimpleExpansionPart,
  SyntaxNode,
  TestExpression,
  Word,
  WordPart,
} from "unbash";

export interface Parsed {
  script: ParsedScript;
  /** Why the tree may differ from what bash runs, in a few words; null when it was understood whole. */
  broken: string | null;
}

/**
 * Bash joins lines before it reads them, the parser afterwards: `$\` and `HOME` on the next line are `$HOME` to bash
 * alone. Between words, as in `ls \` and `-la` on the next line, both read the same.
 */
const JOINED = /\\\n(?![ \t\n]|$)(?:(?<![ \t|&;]\\\n)|(?![\w./'"-]))/;

/** The parser gives up at 256 levels, after a long time. */
const MOST_NESTING = 256;

/**
 * Parses a bash script. Never throws on bad syntax: the tree is then partial and `broken` says why. Nested
 * scripts (substitutions, backticks) carry their own errors, so the whole tree is searched for them.
 */
export function parseScript(given: string): Parsed {
  const text = joined(given);
  if (nesting(text) > MOST_NESTING) return { script: parse(""), broken: "it is nested too deeply" };
  const script = parse(text);
  if (JOINED.test(text) || (text.includes("\\\n") && text.includes("<<"))) return { script, broken: "two lines are joined inside a word" };
  const queue: { node: SyntaxNode; source: string }[] = [{ node: script, source: text }];
  for (let next = queue.pop(); next !== undefined; next = queue.pop()) {
    const { node } = next;
    // Backticks with escapes in them are read from a text of their own.
    const source = node.type === "Script" ? (node.source ?? next.source) : next.source;
    const broken = problemOf(node) ?? gapIn(node, source);
    if (broken !== null) return { script, broken };
    forEachChild(node, (child) => queue.push({ node: child, source }));
  }
  return { script, broken: null };
}

/** The parser passes over some signs without a word, such as a bracket behind a command's name: bash does not. */
function gapIn(node: SyntaxNode, source: string): string | null {
  if (node.type === "ArithmeticFor" && !/^for\s*\(\(/.test(source.slice(node.pos, node.pos + 40)))
    return "a loop is not opened as it is closed";
  if (node.type === "Function" && !/^\s*(?:\(\s*\))?\s*$/.test(source.slice(node.name.end, node.body.pos)))
    return "a function has no plain head";
  if (node.type !== "Command") return null;
  if (/^[ \t]*\(/.test(source.slice(node.end, node.end + 20))) return "a bracket stands behind a command";
  const parts = [...(node.name === undefined ? [] : [node.name]), ...node.prefix, ...node.suffix].toSorted(
    (one, other) => one.pos - other.pos,
  );
  for (let at = 1; at < parts.length; at += 1) {
    const between = source.slice(parts[at - 1]?.end, parts[at]?.pos);
    if (/[^\s\\]/.test(between)) return `nothing stands for ${between.trim().slice(0, 20)}`;
  }
  return null;
}

/** How deep brackets of any kind stand in each other, also in quotes. */
function nesting(text: string): number {
  let depth = 0;
  let deepest = 0;
  for (let at = 0; at < text.length; at += 1) {
    const code = text.charCodeAt(at);
    if (code === 40 || code === 123) depth += 1;
    else if (code === 41 || code === 125) depth -= depth > 0 ? 1 : 0;
    if (depth > deepest) deepest = depth;
  }
  return deepest;
}

/** Joins the lines where nothing in the text could keep bash from doing so. */
function joined(text: string): string {
  if (!text.includes("\\\n") || /['#]|<</.test(text)) return text;
  return text.replace(/(?<!\\)((?:\\\\)*)\\\n/g, "$1");
}

/** The direct parts of a node, in source order. */
export function children(node: SyntaxNode): SyntaxNode[] {
  const found: SyntaxNode[] = [];
  forEachChild(node, (child) => found.push(child));
  return found;
}

function problemOf(node: SyntaxNode): string | null {
  if (node.type === "Script") return ("errors" in node ? node.errors?.[0]?.message : undefined) ?? null;
  // Bash only warns about a heredoc that the end of the text closes, and runs it.
  if (node.type === "HereDoc" && node.closing === undefined) return "a heredoc is not closed";
  if (node.type === "CommandExpansion" && node.script === undefined) return "a substitution is not closed";
  return null;
}
