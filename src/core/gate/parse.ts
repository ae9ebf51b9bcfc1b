import { forEachChild, type ParsedScript, parse, type SyntaxNode } from "unbash";

/** The one place that knows the parser. The tree is the parser's own; its types are passed on from here. */
export type {
  AndOr,
  Assignment,
  Command,
  Function as FunctionNode,
  ParsedScript,
  Pipeline,
  Redirection,
  SyntaxNode,
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

/**
 * Parses a bash script. Never throws on bad syntax: the tree is then partial and `broken` says why. Nested
 * scripts (substitutions, backticks) carry their own errors, so the whole tree is searched for them.
 */
export function parseScript(text: string): Parsed {
  const script = parse(text);
  if (JOINED.test(text) || (text.includes("\\\n") && text.includes("<<"))) return { script, broken: "two lines are joined inside a word" };
  const queue: SyntaxNode[] = [script];
  for (let node = queue.pop(); node !== undefined; node = queue.pop()) {
    const broken = problemOf(node);
    if (broken !== null) return { script, broken };
    forEachChild(node, (child) => queue.push(child));
  }
  return { script, broken: null };
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
