import { type Arg, kindArg } from "./args.ts";
import { ask, type Printed, type Walk } from "./finding.ts";
import { type Command, children, type SyntaxNode } from "./parse.ts";
import { mayBePrivate } from "./private.ts";
import { copyScope, mergeScopes, without } from "./scope.ts";

/** Values of several variables at once that are looked at one by one. */
const MOST_CHOICES = 32;
const INTEGER = /^-?\d{1,18}$/;

/** Runs in a shell of its own: what it sets is forgotten. */
export function inSubshell<T>(walk: Walk, visit: () => T): T {
  const before = walk.scope;
  walk.scope = copyScope(before);
  const result = visit();
  walk.scope = before;
  return result;
}

/** One of several ways is taken, or none. */
export function inBranches(walk: Walk, ways: (() => Printed | null)[]): Printed | null {
  const before = walk.scope;
  let after = before;
  let texts = "";
  for (const way of ways) {
    walk.scope = copyScope(before);
    texts += way()?.text ?? "";
    after = mergeScopes(after, walk.scope);
  }
  walk.scope = after;
  return texts === "" ? null : { text: texts, sure: false, kind: "free" };
}

/** A body that runs any number of times: what it sets is not known while it runs, nor after it. */
export function inLoop(node: SyntaxNode, walk: Walk, visit: () => Printed | null): Printed | null {
  const before = walk.scope;
  walk.scope = copyScope(before);
  forget(node, walk);
  let printed = visit();
  for (let round = 0; round < 2 && !sameFolders(before.cwds, walk.scope.cwds); round += 1) {
    const cwds = [...new Set([...before.cwds, ...walk.scope.cwds])];
    walk.scope.cwds = cwds;
    printed = visit();
    if (round === 1 && walk.scope.cwds.some((cwd) => !cwds.includes(cwd))) {
      ask(walk, "dynamic", "the line changes the folder again and again");
    }
  }
  walk.scope = mergeScopes(before, walk.scope);
  return printed === null ? null : { ...printed, sure: false };
}

function sameFolders(one: string[], other: string[]): boolean {
  return one === other || other.every((cwd) => one.includes(cwd));
}

/** Whatever the loop sets may have its new value from the second round on. */
function forget(node: SyntaxNode, walk: Walk): void {
  const set = new Map<string, boolean>();
  for (const one of [node, ...walk.scope.functions.values()]) {
    for (const name of collect(one, set)) walk.scope.maps = without(walk.scope.maps, name);
  }
  for (const [name, integer] of set) {
    const known = walk.scope.vars.get(name);
    const wasInteger = known?.every((one) => one.kind === "number" || (one.literal && INTEGER.test(one.value))) === true;
    walk.scope.vars.set(name, integer && wasInteger ? [kindArg("number", `$${name}`)] : null);
    walk.scope.lists.delete(name);
  }
}

/** Notes the names that are set below a node, and whether only ever to integers; returns those that are unset or declared. */
function collect(node: SyntaxNode, set: Map<string, boolean>): string[] {
  const declared: string[] = [];
  const note = (name: string, integer: boolean): void => void set.set(name, integer && set.get(name) !== false);
  const queue: SyntaxNode[] = [node];
  for (let next = queue.pop(); next !== undefined; next = queue.pop()) {
    if (next.type === "Assignment") {
      const value = next.value.type === "Word" ? next.value : undefined;
      const calculated = value?.parts?.length === 1 && value.parts[0]?.type === "ArithmeticExpansion";
      note(next.name, next.append !== true && (calculated || INTEGER.test(value?.value ?? "")));
    } else if (next.type === "ArithmeticBinary" || next.type === "ArithmeticUnary") {
      const target = next.type === "ArithmeticBinary" ? next.left : next.operand;
      if (target.type === "ArithmeticWord" && /^\w+$/.test(target.value) && /[=]$|^(?:\+\+|--)$/.test(next.operator))
        note(target.value, true);
    } else if (next.type === "Command") {
      for (const name of setBy(next)) note(name, false);
      if (/^(?:unset|declare|typeset|local|readonly|export)$/.test(next.name?.value ?? ""))
        declared.push(
          ...next.suffix.map(
            (part) => (part.type === "Word" ? /^\w*/.exec(part.value)?.[0] : part.type === "Assignment" ? part.name : undefined) ?? "",
          ),
        );
    } else if (next.type === "ParameterExpansion" && next.operation?.type === "Default" && next.operation.operator.endsWith("=")) {
      note(next.parameter, false);
    }
    for (const child of children(next)) queue.push(child);
  }
  return declared;
}

/** Variables that a builtin sets by name. */
function setBy(node: Command): string[] {
  const words = node.suffix.flatMap((part) => (part.type === "Word" ? [part.value] : []));
  switch (node.name?.value) {
    case "read":
    case "mapfile":
    case "readarray":
    case "getopts":
    case "unset":
      return ["REPLY", "MAPFILE", "OPTARG", ...words.filter((word) => /^[A-Za-z_]\w*$/.test(word))];
    case "printf":
      return words.slice(1, 2);
    case "let":
      return words.flatMap((word) => /[A-Za-z_]\w*/.exec(word)?.[0] ?? []);
    default:
      return [];
  }
}

/** What the variable of a `for` stands for: the names that match a pattern are names of its kind. */
export function loopValues(words: Arg[], walk: Walk): Arg[] | null {
  const values = new Map<string, Arg>();
  for (const word of words) {
    const value = word.glob >= 0 && word.kind !== "free" ? matched(word) : word;
    if (value.kind === "free") return null;
    values.set(`${value.kind} ${value.value}`, value.literal && INTEGER.test(value.value) ? value : value);
  }
  const all = [...values.values()];
  if (all.length > 1 && all.every((one) => one.kind === "number" || INTEGER.test(one.value))) return [kindArg("number", "number")];
  if (all.length <= MOST_CHOICES / 2) return all;
  ask(walk, "dynamic", "the line goes through more values than are followed");
  return null;
}

/** One of the names that a pattern matches: a name like it, without wildcards. */
function matched(word: Arg): Arg {
  const value = word.value
    .split("/")
    .map((part) => (/^\.\.?[*?[]/.test(part) ? ".." : part.replace(/\[[^\]]*\]|[*?]/g, "x")))
    .join("/");
  const name = mayBePrivate(word.value) && !value.split("/").includes("..") ? `${value.slice(0, value.lastIndexOf("/") + 1)}.env` : value;
  return { ...kindArg("name", word.text, name), tilde: word.tilde };
}

/** Looks at the command once for each value that its variables may have. */
export function narrowed(node: Command, walk: Walk, visit: () => Printed | null): Printed | null {
  const { vars } = walk.scope;
  const several = [...vars].filter(([, values]) => values !== null && values.length > 1).map(([name]) => name);
  if (several.length === 0) return visit();
  const used = several.filter((name) => uses(node, name));
  const count = used.reduce((product, name) => product * (vars.get(name)?.length ?? 1), 1);
  if (used.length === 0) return visit();
  if (count > MOST_CHOICES) {
    for (const name of used) vars.set(name, null);
    return visit();
  }
  const kept = used.map((name) => [name, vars.get(name) ?? []] as const);
  const texts: string[] = [];
  for (let choice = 0; choice < count; choice += 1) {
    let rest = choice;
    for (const [name, values] of kept) {
      const value = values[rest % values.length];
      rest = Math.floor(rest / values.length);
      if (value !== undefined) walk.scope.vars.set(name, [value]);
    }
    const piped = walk.piped;
    texts.push(visit()?.text ?? "");
    walk.piped = choice < count - 1 ? piped : walk.piped;
  }
  for (const [name, values] of kept) if (!assigns(node, name)) walk.scope.vars.set(name, [...values]);
  return { text: texts.join("\n"), sure: false, kind: "free" };
}

function uses(node: Command, name: string): boolean {
  const queue: SyntaxNode[] = [node];
  for (let next = queue.pop(); next !== undefined; next = queue.pop()) {
    if (next.type === "SimpleExpansion" && next.text.slice(1) === name) return true;
    if (next.type === "ParameterExpansion" && (next.parameter === name || next.prefix === "!")) return true;
    if (next.type === "ArithmeticWord" && next.value.includes(name)) return true;
    for (const child of children(next)) queue.push(child);
  }
  return false;
}

function assigns(node: Command, name: string): boolean {
  return node.prefix.some((part) => part.type === "Assignment" && part.name === name) || setBy(node).includes(name);
}
