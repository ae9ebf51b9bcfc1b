import { arithmeticWord, evaluated } from "./arith.ts";
import { forgetVariable } from "./assign.ts";
import { ask, deny, show, type Walk } from "./finding.ts";
import type { ParameterExpansionPart, SimpleExpansionPart, Word } from "./parse.ts";
import { isSecretName } from "./secrets.ts";
import { type Arg, kindArg, literalArg } from "./args.ts";

/** Variables of the shell that hold integers. */
const NUMBERS = /^(?:[#?$!]|RANDOM|SECONDS|LINENO|UID|EUID|PPID|BASHPID|SHLVL|COLUMNS|LINES|EPOCHSECONDS|OPTIND|SRANDOM|HISTCMD)$/;
/** Names of variables whose value is a password, although not one of the bot's. */
const PRIVATE = /PASSW|CREDENTIAL|PASSPHRASE/;

/** What `$x` and `${...}` become. Notes what speaks against reading them. */
export function expanded(part: SimpleExpansionPart | ParameterExpansionPart, walk: Walk): Arg[] {
  if (part.type === "SimpleExpansion") return variable(part.text.slice(1), part.text, walk);
  const found = parameter(part, walk);
  for (const word of operandsOf(part)) walk.word(word, walk);
  return found;
}

/** The values that a variable may have: one, as the walk looks at each of several in turn. */
function variable(name: string, text: string, walk: Walk): Arg[] {
  const { scope } = walk;
  if (name === "@" || name === "*") return scope.positional?.map((arg) => ({ ...arg })) ?? [kindArg("free", text)];
  if (/^[1-9]\d*$/.test(name)) {
    const arg = scope.positional?.[Number(name) - 1];
    if (arg !== undefined) return [arg];
    return [scope.positional === null ? kindArg("free", text) : { ...literalArg(""), text }];
  }
  const values = scope.vars.get(name);
  if (values !== undefined) return values?.length === 1 ? [...values] : [kindArg("free", text)];
  if (isSecretName(name)) deny(walk, "secrets", `the line shows the value of ${show(`$${name}`)}`);
  else if (PRIVATE.test(name)) ask(walk, "secrets", `the line uses the value of ${show(`$${name}`)}`);
  if (name === "HOME") return [{ ...kindArg("free", text, "~"), tilde: true }];
  if (name === "PWD" && scope.cwds.length === 1) return [{ ...literalArg(scope.cwds[0] ?? ""), text }];
  if (name === "IFS") return [{ ...literalArg(" \t\n"), text }];
  return [kindArg(NUMBERS.test(name) ? "number" : "free", text)];
}

function parameter(part: ParameterExpansionPart, walk: Walk): Arg[] {
  const { parameter: name, text, operation } = part;
  if (part.prefix === "#") {
    if (isSecretName(name)) variable(name, text, walk);
    if (part.index !== undefined && !/^[@*]$/.test(part.index.value)) {
      if (walk.scope.maps.has(name)) walk.word(part.index, walk);
      else arithmeticWord(part.index, walk);
    }
    return [kindArg("number", text)];
  }
  if (part.prefix === "!") return indirect(part, walk);
  if (part.index !== undefined) return element(part, walk);
  const values = variable(name, text, walk);
  if (operation === undefined) return values;
  const value = values.length === 1 ? values[0] : undefined;
  switch (operation.type) {
    case "Default":
      return defaulted(part, value, walk);
    case "Remove":
      return [removed(text, value, operation.operator, operation.operand)];
    case "Slice":
      arithmeticWord(operation.offset, walk);
      if (operation.length !== undefined) arithmeticWord(operation.length, walk);
      return [kindArg("free", text)];
    case "Transform":
      if (!/^[QEPAaKkUuL]$/.test(operation.operand.text) || operation.operand.text === "P") {
        ask(walk, "builtin", `${show(text)} runs what stands in the value of ${show(name)}`);
        evaluated(value?.value ?? "", walk);
      }
      return [kindArg("free", text)];
    case "Unknown":
      ask(walk, "dynamic", `what ${show(text)} becomes cannot be read from the line`);
      return [kindArg("free", text)];
    default:
      return [kindArg("free", text)];
  }
}

/** `${x:-text}` and its like: both ways are possible unless the line has set the variable. */
function defaulted(part: ParameterExpansionPart, value: Arg | undefined, walk: Walk): Arg[] {
  const { operation, parameter: name, text } = part;
  if (operation?.type !== "Default") return [];
  const isSet = walk.scope.vars.has(name) && value !== undefined && value.kind === "literal" && value.value !== "";
  if (operation.operator.endsWith("=")) forgetVariable(name, walk);
  if (isSet) return operation.operator.endsWith("+") ? walk.word(operation.operand, walk) : [value];
  if (name === "HOME") return value === undefined ? [] : [value];
  return [kindArg("free", text)];
}

/** `${f%.js}`: cut off at the end, a harmless name stays one; at the beginning only up to a slash. */
function removed(text: string, value: Arg | undefined, operator: string, pattern: Word): Arg {
  if (value === undefined || value.kind === "free" || value.tilde) return kindArg("free", text, value?.tilde === true ? value.value : text);
  const plain = pattern.parts === undefined || pattern.parts.every((one) => one.type === "Literal");
  const cut = pattern.value;
  if (value.kind === "literal" && plain) {
    const rest = operator.startsWith("%")
      ? value.value.endsWith(cut) && value.value.slice(0, value.value.length - cut.length)
      : value.value.startsWith(cut) && value.value.slice(cut.length);
    if (rest !== false) return { ...value, text, value: rest, glob: value.glob >= 0 ? (/[*?[]/.exec(rest)?.index ?? -1) : -1 };
  }
  const relative = !value.value.startsWith("/") && !value.value.split("/").includes("..");
  const harmless = operator.startsWith("%") || /\/$/.test(cut);
  return relative && harmless ? kindArg("name", text) : kindArg("free", text);
}

/** What is done with an element or a whole array. */
function judgeOperation({ operation, text }: ParameterExpansionPart, walk: Walk): Arg[] {
  if (operation?.type === "Slice") {
    arithmeticWord(operation.offset, walk);
    if (operation.length !== undefined) arithmeticWord(operation.length, walk);
  }
  if (operation?.type === "Transform" || operation?.type === "Unknown")
    ask(walk, "builtin", `${show(text)} may run what stands in its value`);
  return [kindArg("free", text)];
}

/** `${!name}` names another variable; `${!prefix*}` lists names. */
function indirect(part: ParameterExpansionPart, walk: Walk): Arg[] {
  const { parameter: name, text } = part;
  if (part.operation?.type === "Names" || part.index !== undefined) {
    if (/^(?:SLACK_?|DISCORD_?|OPENAI_?)/.test(name)) deny(walk, "secrets", `${show(text)} looks for the bot's secrets`);
    return [kindArg("free", text)];
  }
  if (part.operation !== undefined) ask(walk, "dynamic", `what ${show(text)} becomes cannot be read from the line`);
  const values = walk.scope.vars.get(name);
  const target = values?.length === 1 ? values[0] : undefined;
  if (target?.literal === true && /^\w+$/.test(target.value)) return variable(target.value, text, walk);
  ask(walk, "dynamic", `which variable ${show(text)} shows cannot be read from the line`);
  return [kindArg("free", text)];
}

/** `${a[1]}`: the subscript is calculated, and so may run something. */
function element(part: ParameterExpansionPart, walk: Walk): Arg[] {
  const { parameter: name, text, index } = part;
  if (isSecretName(name) && !walk.scope.vars.has(name)) variable(name, text, walk);
  const list = walk.scope.lists.get(name);
  const plain = index !== undefined && (index.value === "@" || index.value === "*");
  if (index !== undefined && !plain) {
    if (walk.scope.maps.has(name)) walk.word(index, walk);
    else arithmeticWord(index, walk);
  }
  if (part.operation !== undefined) return judgeOperation(part, walk);
  if (list === undefined) return [kindArg("free", text)];
  if (plain) return list.length > 0 ? [...list] : [{ ...literalArg(""), text }];
  const at = /^\d+$/.test(index?.value ?? "") ? list[Number(index?.value)] : undefined;
  if (at !== undefined) return [at];
  return [kindArg(list.every((one) => one.kind === "number" || /^\d+$/.test(one.value)) ? "number" : "free", text)];
}

/** The words inside `${...}` that are read as words, apart from what was calculated. */
function operandsOf(part: ParameterExpansionPart): Word[] {
  const { operation } = part;
  if (operation === undefined) return [];
  switch (operation.type) {
    case "Default":
    case "Remove":
      return [operation.operand];
    case "Replace":
      return [operation.pattern, operation.replacement];
    case "CaseModification":
      return operation.operand === undefined ? [] : [operation.operand];
    default:
      return [];
  }
}
