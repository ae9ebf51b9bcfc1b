import { kindArg } from "./args.ts";
import { arithmetic } from "./arith.ts";
import { assign, assignArray, forgetVariable } from "./assign.ts";
import { judgeCommand } from "./command.ts";
import { ask, deny, MOST_DEPTH, type Printed, show, type Walk } from "./finding.ts";
import { argumentOf, valueOf } from "./values.ts";
import { startsItself, startsOwnShell } from "./forkbomb.ts";
import { inBranches, inLoop, inSubshell, loopValues, narrowed } from "./flow.ts";
import { isListed } from "./lookup.ts";
import {
  type AndOr,
  type Assignment,
  type Command,
  children,
  type FunctionNode,
  type ParsedScript,
  type Pipeline,
  parseScript,
  type SyntaxNode,
} from "./parse.ts";
import { judgePath } from "./judge-path.ts";
import { inputOf, judgeRedirects, noteWritten, writesOutput } from "./redirects.ts";
import { copyScope, mergeScopes } from "./scope.ts";
import { isShell } from "./shells.ts";
import { judgeTest } from "./test-command.ts";
import { readWord } from "./words.ts";

/** Judges a whole script as part of the line, in the shell of the line itself. */
export function walkText(text: string, walk: Walk): Printed | null {
  if (walk.depth >= MOST_DEPTH) {
    ask(walk, "too-long", "the line has more shells inside shells than are followed");
    return null;
  }
  const { script, broken } = parseScript(text);
  if (broken !== null) ask(walk, "unparsed", `the line cannot be read as bash: ${broken}`);
  if (text.includes("$0") && startsOwnShell(script)) deny(walk, "forkbomb", "the line starts itself again and again");
  return visit(script, walk);
}

/** `text` runs in a shell of its own: what it sets does not count for what follows. */
export function innerScript(text: string, walk: Walk): Printed | null {
  const inner = { ...walk, depth: walk.depth + 1, piped: null };
  return inSubshell(inner, () => walkText(text, inner));
}

/** The functions that the rooms of the gate call back, so that none imports another in a circle. */
export const WALKERS = { script: innerScript, substitute, visit, word: readWord, run: judgeCommand };

function substitute(part: { script?: ParsedScript | undefined } | SyntaxNode, walk: Walk): Printed | null {
  const script = "script" in part ? part.script : "type" in part && part.type === "Script" ? part : undefined;
  if (script === undefined) {
    ask(walk, "unparsed", "a substitution of the line cannot be read as bash");
    return null;
  }
  const inner = { ...walk, depth: walk.depth + 1, piped: null, command: -1 };
  if (inner.depth > 4 * MOST_DEPTH) {
    ask(walk, "too-long", "the line has more commands inside commands than are followed");
    return null;
  }
  return inSubshell(inner, () => visit(script, inner));
}

function visit(node: SyntaxNode, walk: Walk): Printed | null {
  walk.seen.left -= 1;
  if (walk.seen.left < 0) throw new Error("too many parts");
  switch (node.type) {
    case "Script":
      if (walk.scope.errexit || walk.depth > 0 || walk.calls.length > 0) return visitAll(node.commands, walk);
      return visitAll(
        node.commands,
        walk,
        // Under `set -e` a `cd` of the line itself that fails ends the line; within a condition it would not.
        (one) => walk.scope.errexit && one.type === "Statement" && one.background !== true && isPlainCd(one.command),
      );
    case "CompoundList":
      return visitAll(node.commands, walk);
    case "Statement":
      if (node.background === true) {
        const printed = inSubshell(walk, () => visit(node.command, walk));
        return printed === null ? null : { ...printed, sure: false };
      }
      return visitApart(node.command, walk);
    case "AndOr":
      return visitAndOr(node, walk);
    case "Pipeline":
      return visitPipeline(node, walk);
    case "Command":
      return narrowed(node, walk, () => visitCommand(node, walk));
    case "Redirected":
      judgeRedirects(node.redirects, walk);
      walk.piped = inputOf(node.redirects, walk) ?? walk.piped;
      return visit(node.command, walk);
    case "Subshell":
      return inSubshell(walk, () => visit(node.body, walk));
    case "BraceGroup":
      return visit(node.body, walk);
    default:
      return visitCompound(node, walk);
  }
}

function visitCompound(node: SyntaxNode, walk: Walk): Printed | null {
  switch (node.type) {
    case "If": {
      visit(node.clause, walk);
      const ways = [node.then, ...node.elif.flatMap((one) => [one.clause, one.then]), ...(node.else === undefined ? [] : [node.else])];
      return inBranches(
        walk,
        ways.map((way) => () => visit(way, walk)),
      );
    }
    case "Case":
      for (const pattern of node.items.flatMap((item) => item.pattern)) readWord(pattern, walk);
      readWord(node.word, walk);
      return inBranches(
        walk,
        node.items.map((item) => () => visit(item.body, walk)),
      );
    case "For":
    case "Select":
      return inLoop(node, walk, () => {
        const words = node.wordlist?.flatMap((word) => readWord(word, walk)) ?? walk.scope.positional ?? [kindArg("free", "$@")];
        for (const word of words) if (word.glob >= 0) judgePath(word, "names", walk);
        forgetVariable(node.name.value, walk);
        walk.scope.vars.set(node.name.value, loopValues(words, walk));
        if (node.type === "Select") ask(walk, "dynamic", "the line asks which way to go on with `select`");
        return visit(node.body, walk);
      });
    case "While":
      return inLoop(node, walk, () => {
        visit(node.clause, walk);
        return visit(node.body, walk);
      });
    case "ArithmeticFor":
      arithmetic(node.initialize, "", walk);
      return inLoop(node, walk, () => {
        for (const one of [node.test, node.update]) arithmetic(one, "", walk);
        return visit(node.body, walk);
      });
    case "ArithmeticCommand":
      arithmetic(node.expression, node.body, walk);
      return null;
    case "TestCommand":
      judgeTest(node.expression, walk);
      return null;
    case "Function":
      define(node, walk);
      return null;
    case "Coproc":
      ask(walk, "builtin", "the line starts a command in the background that the rest of it talks to");
      return inSubshell(walk, () => visit(node.body, walk));
    default:
      ask(walk, "unparsed", "a part of the line is of a kind that is not read here");
      for (const child of children(node)) visit(child, walk);
      return null;
  }
}

/** What several commands print, one after the other. */
function visitAll(nodes: readonly SyntaxNode[], walk: Walk, mustSucceed?: (node: SyntaxNode) => boolean): Printed | null {
  if (nodes.length === 1 && nodes[0] !== undefined) return visit(nodes[0], walk);
  const texts: Printed[] = [];
  let sure = true;
  for (const node of nodes) {
    const printed = visit(mustSucceed?.(node) === true && node.type === "Statement" ? node.command : node, walk);
    if (printed === null) sure = false;
    else texts.push(printed);
  }
  if (texts.length === 0) return null;
  return { text: texts.map((one) => one.text).join(""), sure: sure && texts.every((one) => one.sure), kind: "free" };
}

function isPlainCd(node: SyntaxNode): boolean {
  return node.type === "Command" && node.name?.value === "cd";
}

/** A `cd` in there may have failed or not: what follows may run in either folder, unless it is sure that it did not. */
function visitApart(node: SyntaxNode, walk: Walk): Printed | null {
  const before = walk.scope.cwds;
  const printed = visit(node, walk);
  const { cwds, sure } = walk.scope;
  if (cwds !== before && cwds !== sure) walk.scope.cwds = [...new Set([...before, ...cwds])];
  return printed;
}

/** After `&&` alone it is sure that everything before succeeded; after a `||` it no longer is. */
function visitAndOr(node: AndOr, walk: Walk): Printed | null {
  const printed: (Printed | null)[] = [];
  let seen = walk.scope;
  let sure = true;
  for (const [index, command] of node.commands.entries()) {
    if (index > 0 && node.operators[index - 1] !== "&&") sure = false;
    if (!sure) walk.scope = seen;
    const before = walk.scope;
    walk.scope = copyScope(before);
    printed.push(visit(command, walk));
    seen = index === 0 ? mergeFolders(before, walk.scope, seen) : mergeScopes(seen, walk.scope);
  }
  walk.scope = seen;
  const texts = printed.filter((one) => one !== null);
  return texts.length === 0 ? null : { text: texts.map((one) => one.text).join(""), sure: false, kind: "free" };
}

/** The first command of a list does run; only whether its `cd` succeeded is open. */
function mergeFolders(before: Walk["scope"], after: Walk["scope"], seen: Walk["scope"]): Walk["scope"] {
  return {
    ...after,
    cwds: after.cwds === before.cwds || after.cwds === after.sure ? after.cwds : [...new Set([...seen.cwds, ...after.cwds])],
  };
}

/** Each command of a pipeline runs in a shell of its own. */
function visitPipeline(node: Pipeline, walk: Walk): Printed | null {
  const [only] = node.commands;
  if (node.commands.length === 1 && only !== undefined) return visitApart(only, walk);
  let piped: Printed | null = walk.piped;
  for (const command of node.commands) {
    walk.piped = piped;
    piped = inSubshell(walk, () => visit(command, walk));
  }
  walk.piped = null;
  return piped;
}

function visitCommand(node: Command, walk: Walk): Printed | null {
  const piped = walk.piped;
  walk.piped = null;
  const before = walk.command;
  const words = node.name === undefined ? [] : readWord(node.name, walk);
  for (const part of node.suffix) {
    if (part.type === "Word") words.push(...readWord(part, walk));
    else if (part.type === "Assignment") words.push(argumentOf(part, walk));
  }
  // A shell that reads the line from its input goes on with that file.
  if (node.name?.value === "exec" && words.length === 1 && node.redirects.some((one) => one.operator.startsWith("<")))
    ask(walk, "builtin", "`exec` changes what the rest of the line reads");
  if (isShell(node.name?.value ?? "") && node.redirects.some((one) => one.type === "Redirect" && one.target?.text.includes("/dev/tcp/")))
    deny(walk, "escape", "the line gives others a shell");
  const restored = visitPrefix(node, words.length > 0, walk);
  judgeRedirects(node.redirects, walk);
  const input = inputOf(node.redirects, walk) ?? (node.redirects.some((one) => /^</.test(one.operator)) ? null : piped);
  const printed = words.length > 0 ? judgeCommand(words, input, walk, "line") : null;
  restored();
  walk.command = before;
  if (!writesOutput(node.redirects)) return printed;
  if (printed !== null) noteWritten(node.redirects, printed, walk);
  return null;
}

/** `NAME=value` in front: for the command alone when there is one, else for what follows. */
function visitPrefix(node: Command, hasCommand: boolean, walk: Walk): () => void {
  const kept = hasCommand ? walk.scope.vars : null;
  if (kept !== null) walk.scope.vars = new Map(kept);
  for (const part of node.prefix) if (part.type === "Assignment") visitAssignment(part, hasCommand, walk);
  if (kept === null) return () => undefined;
  // Functions and builtins may have set others; those stay.
  const names = node.prefix.flatMap((part) => (part.type === "Assignment" ? [part.name] : []));
  return () => {
    for (const name of names) {
      const old = kept.get(name);
      if (old === undefined) walk.scope.vars.delete(name);
      else walk.scope.vars.set(name, old);
    }
  };
}

function visitAssignment(node: Assignment, forCommand: boolean, walk: Walk): void {
  if (node.value.type === "ArrayValue") {
    assignArray(
      node,
      node.value.elements.flatMap((word) => readWord(word, walk)),
      walk,
    );
  } else {
    assign(node, valueOf(node, walk), forCommand, walk);
  }
}

function define(node: FunctionNode, walk: Walk): void {
  const name = node.name.value;
  if (startsItself(node, walk.scope.functions)) deny(walk, "forkbomb", "a function of the line starts itself again and again");
  if (isListed(name) || name.includes("_handle") || !/^[\w.:-]+$/.test(name)) {
    ask(walk, "builtin", `the line gives ${show(name)} another meaning`);
  }
  walk.scope.functions.set(name, node);
  // What is never called may still not hold what is always refused.
  const inner = { ...walk, refusalsOnly: true, piped: null };
  inSubshell(inner, () => {
    inner.scope.positional = null;
    inner.scope.functions.delete(name);
    return visit(node.body, inner);
  });
}
