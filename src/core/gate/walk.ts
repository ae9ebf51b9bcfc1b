import { judgeCommand } from "./command.ts";
import { ask, deny, MOST_DEPTH, show, type Walk } from "./finding.ts";
import { isInside } from "./paths.ts";
import { isPrivate } from "./private.ts";
import {
  type AndOr,
  type Assignment,
  type Command,
  children,
  type FunctionNode,
  type Pipeline,
  parseScript,
  type Redirection,
  type SyntaxNode,
  type Word,
  type WordPart,
} from "./parse.ts";
import { isSecretName, refusedArgument } from "./secrets.ts";
import { type Arg, readAssignment, readWord } from "./words.ts";

/** Folders that a command may be in, at most; more ask. */
const MOST_FOLDERS = 8;

/** Judges a whole script as part of the line and adds what it finds. */
export function walkText(text: string, walk: Walk): void {
  if (walk.depth >= MOST_DEPTH) return ask(walk, "too-long", "the line has more shells inside shells than are followed");
  const { script, broken } = parseScript(text);
  if (broken !== null) ask(walk, "unparsed", `the line cannot be read as bash: ${broken}`);
  visit(script, walk);
}

/** `text` runs in a shell of its own: its `cd` does not count for what follows. */
export function innerScript(text: string, walk: Walk): void {
  walkText(text, { ...walk, depth: walk.depth + 1, piped: null });
}

/** What the constructs are called that are not followed: they ask, and what is in them is judged all the same. */
const CONSTRUCTS: Partial<Record<SyntaxNode["type"], [code: string, text: string]>> = {
  If: ["compound", "the line contains an `if`"],
  For: ["compound", "the line contains a loop"],
  ArithmeticFor: ["arith", "the line contains a loop that calculates"],
  Select: ["compound", "the line contains a `select`"],
  While: ["compound", "the line contains a loop"],
  Case: ["compound", "the line contains a `case`"],
  Subshell: ["compound", "the line contains a subshell"],
  BraceGroup: ["compound", "the line contains a group of commands"],
  TestCommand: ["compound", "the line contains a `[[ ]]` test"],
  Coproc: ["background", "the line starts a command in the background"],
  Function: ["compound", "the line defines a function"],
  ArithmeticCommand: ["arith", "the line calculates with `(( ))`"],
  ArithmeticExpansion: ["arith", "the line calculates with `$(( ))`"],
  CommandExpansion: ["dynamic", "the line uses what another command prints"],
  ProcessSubstitution: ["dynamic", "the line reads or writes another command as a file"],
};

function visit(node: SyntaxNode, walk: Walk): void {
  walk.budget.left -= 1;
  if (walk.budget.left < 0) throw new Error("too many parts");
  switch (node.type) {
    case "Statement":
      if (node.background === true) ask(walk, "background", "the line runs a command in the background");
      return visitApart(node.command, walk);
    case "AndOr":
      return visitAndOr(node, walk);
    case "Pipeline":
      return visitPipeline(node, walk);
    case "Command":
      return visitCommand(node, walk);
    case "Word":
      visitWord(node, walk);
      return;
    case "Assignment":
      return visitAssignment(node, walk);
    case "Redirect":
    case "HereString":
    case "HereDoc":
      return visitRedirect(node, walk);
    default:
      return visitOther(node, walk);
  }
}

function visitOther(node: SyntaxNode, walk: Walk): void {
  const construct = CONSTRUCTS[node.type];
  if (construct !== undefined) ask(walk, construct[0], construct[1]);
  if (node.type === "Function" && startsItself(node)) deny(walk, "forkbomb", "a function of the line starts itself again and again");
  if (node.type === "SimpleExpansion") judgeVariable(node.text.slice(1), walk);
  if (node.type === "ParameterExpansion") judgeVariable(node.parameter, walk);
  if (node.type === "ArithmeticWord" && isSecretName(node.value)) judgeVariable(node.value, walk);
  for (const child of children(node)) visit(child, walk);
}

function judgeVariable(name: string, walk: Walk): void {
  if (isSecretName(name)) deny(walk, "secrets", `the line shows the value of ${show(`$${name}`)}`);
  else ask(walk, "dynamic", `the line depends on ${show(`$${name}`)}, whose value is not known here`);
}

/** A `cd` in there may have failed or not: what follows may run in either folder. */
function visitApart(node: SyntaxNode, walk: Walk): void {
  const before = walk.cwds;
  visit(node, walk);
  walk.cwds = either(before, walk.cwds, walk);
}

/** After `&&` alone it is sure that everything before succeeded; after a `||` it no longer is. */
function visitAndOr(node: AndOr, walk: Walk): void {
  let seen = walk.cwds;
  let sure = true;
  for (const [index, command] of node.commands.entries()) {
    if (index > 0 && node.operators[index - 1] !== "&&") sure = false;
    if (!sure) walk.cwds = seen;
    visit(command, walk);
    seen = either(seen, walk.cwds, walk);
  }
  walk.cwds = seen;
}

/** Each command of a pipeline runs in a shell of its own. */
function visitPipeline(node: Pipeline, walk: Walk): void {
  if (node.commands.length === 1 && node.commands[0] !== undefined) return visitApart(node.commands[0], walk);
  const before = walk.cwds;
  let piped: string | null = null;
  for (const command of node.commands) {
    walk.piped = piped;
    visit(command, walk);
    piped = printedBy(command);
    walk.cwds = before;
  }
  walk.piped = null;
}

/** What a command passes on of the text of the line: the words of `echo` and `printf`, the heredoc of `cat`. */
function printedBy(node: SyntaxNode): string | null {
  if (node.type !== "Command") {
    const texts = children(node).flatMap((child) => printedBy(child) ?? []);
    return texts.length > 0 ? texts.join("\n") : null;
  }
  const name = node.name?.value;
  if (name !== "echo" && name !== "printf") return inputOf(node);
  const words = node.suffix.flatMap((part) => (part.type === "Word" && !/^-[neE]+$/.test(part.value) ? [part.value] : []));
  return words.map((word) => word.replaceAll("\\n", "\n")).join(name === "echo" ? " " : "\n");
}

/** The text that a command reads from the line itself. */
function inputOf(node: Command): string | null {
  let input: string | null = null;
  for (const redirect of node.redirects) {
    if (redirect.type === "HereDoc") input = redirect.body.text;
    if (redirect.type === "HereString") input = redirect.target?.value ?? null;
  }
  return input;
}

function visitCommand(node: Command, walk: Walk): void {
  const piped = walk.piped;
  walk.piped = null;
  const words = node.name === undefined ? [] : visitWord(node.name, walk);
  for (const part of node.prefix) visit(part, walk);
  for (const part of node.suffix) {
    if (part.type === "Word") words.push(...visitWord(part, walk));
    else if (part.type === "Assignment") words.push(...visitArgument(part, walk));
    else visit(part, walk);
  }
  judgeCommand(words, inputOf(node) ?? piped, walk);
}

function visitWord(node: Word, walk: Walk): Arg[] {
  for (const part of node.parts ?? []) visit(part, walk);
  const args = readWord(node);
  if (args.some((arg) => arg.tilde)) ask(walk, "outside", `${show(node.text)} is or contains a home folder`);
  if (args.some((arg) => !arg.literal) && !(node.parts ?? []).some(explains))
    ask(walk, "dynamic", `what ${show(node.text)} becomes cannot be read from the line`);
  return args;
}

/** Whether visiting the part has already said why the word is not known. */
function explains(part: WordPart): boolean {
  if (part.type === "DoubleQuoted") return part.parts.some(explains);
  return /^(?:(?:Simple|Parameter|Command|Arithmetic)Expansion|ProcessSubstitution)$/.test(part.type);
}

/** `export NAME=value`: the builtin itself asks, its value is searched. */
function visitArgument(node: Assignment, walk: Walk): Arg[] {
  for (const child of children(node)) visit(child, walk);
  return [readAssignment(node)];
}

/** Variables whose value some program hands to a shell. */
const COMMAND_VARIABLE = /PROMPT_COMMAND|PAGER$|EDITOR$|^VISUAL$|^GIT_(?:SSH_COMMAND|EXTERNAL_DIFF|ASKPASS)$|^LESSOPEN$/;

function visitAssignment(node: Assignment, walk: Walk): void {
  if (COMMAND_VARIABLE.test(node.name) && node.value.type === "Word") walk.script(node.value.value, walk);
  ask(walk, "env", `the line sets ${show(node.text)}`);
  for (const child of children(node)) visit(child, walk);
}

function visitRedirect(node: Redirection, walk: Walk): void {
  for (const child of children(node)) {
    if (child.type !== "HereDocBody") visit(child, walk);
    else for (const part of child.parts ?? []) visit(part, walk);
  }
  if (node.descriptor?.type === "FileDescriptorVariable") ask(walk, "redirect", "the line opens a file for what follows");
  if (node.type !== "Redirect" || node.target === undefined) return;
  for (const target of readWord(node.target)) judgeTarget(node.operator, target, walk);
}

function judgeTarget(operator: string, target: Arg, walk: Walk): void {
  const refusal = refusedArgument(target, walk.cwds);
  if (refusal !== null) deny(walk, refusal.code, `${show(target.text)} ${refusal.text}`);
  if (!target.literal) return;
  if (/^[<>]&$/.test(operator) && /^[0-9]$/.test(target.value)) return;
  if (target.value === "/dev/null" && operator !== "<&") return;
  if (/^\/dev\/(?:tcp|udp)\//.test(target.value)) return ask(walk, "network", `${show(target.text)} is a connection to the network`);
  const inside = target.glob < 0 && walk.cwds.every((cwd) => isInside(walk.place, cwd, target.value));
  if (!inside) ask(walk, "outside", `${show(target.text)} leads out of the workspace`);
  if (operator !== "<") ask(walk, "redirect", `the line writes to ${show(target.text)}`);
  else if (isPrivate(target.value)) ask(walk, "secrets", `${show(target.text)} usually holds credentials`);
}

/** Whether a function calls itself in a pipe or in the background. */
function startsItself(node: FunctionNode): boolean {
  const name = node.name.value;
  const calls = (inner: SyntaxNode): boolean => (inner.type === "Command" && inner.name?.value === name) || children(inner).some(calls);
  const starts = (inner: SyntaxNode): boolean =>
    (inner.type === "Pipeline" && inner.commands.length > 1 && calls(inner)) ||
    (inner.type === "Statement" && inner.background === true && calls(inner)) ||
    children(inner).some(starts);
  return starts(node.body);
}

function either(one: string[], other: string[], walk: Walk): string[] {
  const both = [...new Set([...one, ...other])];
  if (both.length > MOST_FOLDERS) ask(walk, "too-long", "the line changes the folder more often than is followed");
  return both.slice(0, MOST_FOLDERS);
}
