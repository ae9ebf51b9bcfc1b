import { ask, deny, show, type Walk } from "./finding.ts";
import type { ArithmeticExpression, Word } from "./parse.ts";
import { isSecretName } from "./secrets.ts";
import { kindArg } from "./args.ts";

const INTEGER = /^[-+]?(?:\d+|0[xX][\da-fA-F]+|\d+#[\w@]+)$/;
const ASSIGNS = /^(?:=|[-+*/%&|^]=|<<=|>>=)$/;

/**
 * Judges arithmetic. Bash calculates with the text of a variable as if it stood in the expression, and runs the
 * substitutions in it: so only integers of the line itself are let pass.
 */
export function arithmetic(expression: ArithmeticExpression | undefined, text: string, walk: Walk): void {
  if (expression === undefined) {
    if (/[^\s()$]/.test(text)) ask(walk, "arith", `what ${show(text)} calculates cannot be read from the line`);
    return;
  }
  walk.seen.left -= 1;
  if (walk.seen.left < 0) throw new Error("too many parts");
  switch (expression.type) {
    case "ArithmeticBinary":
      return binary(expression, text, walk);
    case "ArithmeticUnary":
      arithmetic(expression.operand, text, walk);
      return set(expression.operand, expression.operator, walk);
    case "ArithmeticTernary":
      for (const one of [expression.test, expression.consequent, expression.alternate]) arithmetic(one, text, walk);
      return;
    case "ArithmeticGroup":
      return arithmetic(expression.expression, text, walk);
    case "ArithmeticCommandExpansion": {
      const printed = expression.script === undefined ? null : walk.substitute(expression.script, walk);
      const known = printed !== null && (printed.kind === "number" || (printed.sure && INTEGER.test(printed.text.trim())));
      if (!known) ask(walk, "arith", `${show(expression.text)} is calculated with, whatever it prints`);
      return;
    }
    default:
      return operand(expression, walk);
  }
}

function binary(expression: Extract<ArithmeticExpression, { type: "ArithmeticBinary" }>, text: string, walk: Walk): void {
  const { left, operator, right } = expression;
  arithmetic(right, text, walk);
  if (operator !== "=") arithmetic(left, text, walk);
  else if (left.type !== "ArithmeticWord" || !/^[A-Za-z_]\w*$/.test(left.value)) arithmetic(left, text, walk);
  if (ASSIGNS.test(operator)) set(left, operator, walk);
}

/** `x = 1` and `x++` give the variable an integer. */
function set(target: ArithmeticExpression, operator: string, walk: Walk): void {
  if (!ASSIGNS.test(operator) && operator !== "++" && operator !== "--") return;
  if (target.type !== "ArithmeticWord") return;
  const name = /^[A-Za-z_]\w*/.exec(target.value)?.[0];
  if (name === undefined) return;
  if (name === target.value) walk.scope.vars.set(name, [kindArg("number", `$${name}`)]);
  else walk.scope.lists.delete(name);
}

function operand({ value, parts }: Extract<ArithmeticExpression, { type: "ArithmeticWord" }>, walk: Walk): void {
  for (const part of parts ?? []) {
    if (part.type === "CommandExpansion") walk.substitute(part, walk);
    else if (part.type === "ParameterExpansion" || part.type === "SimpleExpansion")
      walk.word({ type: "Word", text: part.text, value: part.text, pos: part.pos, end: part.end, parts: [part] }, walk);
  }
  judgeText(value, walk);
}

/** Judges a word that is calculated: a subscript, an offset, an operand of `-eq`. */
export function arithmeticWord(word: Word, walk: Walk): void {
  const args = walk.word(word, walk);
  for (const arg of args) {
    if (arg.kind === "number") continue;
    if (arg.kind === "literal") judgeText(arg.value.trim(), walk);
    else ask(walk, "arith", `${show(word.text)} is calculated with, and its value is not known here`);
  }
}

/** Text that is calculated, such as an argument of `let`. */
export function judgeText(text: string, walk: Walk): void {
  if (INTEGER.test(text) || text === "" || text === "@" || text === "*") return;
  const name = /^\$?\{?#?([A-Za-z_]\w*|[#?$!])\}?$/.exec(text)?.[1];
  if (name !== undefined) return judgeName(name, text, walk);
  const [, list, index] = /^\$?\{?([A-Za-z_]\w*)\[([^[\]$`]*)\]\}?$/.exec(text) ?? [];
  if (list !== undefined && index !== undefined && walk.scope.lists.get(list)?.every((one) => INTEGER.test(one.value)) === true) {
    return judgeText(index, walk);
  }
  // Plain sums of what is allowed alone.
  const pieces = /[`]|\$[({[]/.test(text) ? [] : text.split(/[-+*/%()<>=!&|,?:~^\s]+/).filter((piece) => piece !== "");
  if (pieces.length > 1 && pieces.every((piece) => /^[\w$@#{}]+$/.test(piece))) {
    for (const piece of pieces) judgeText(piece, walk);
    return;
  }
  ask(walk, "arith", `${show(text)} is calculated with, and may run what stands in it`);
  evaluated(text, walk);
}

function judgeName(name: string, text: string, walk: Walk): void {
  if (/^[#?$!]$/.test(name) || /^\$?\{#/.test(text)) return;
  const values = walk.scope.vars.get(name);
  if (values === undefined && /^(?:RANDOM|SECONDS|LINENO|UID|EUID|PPID|BASHPID|EPOCHSECONDS|COLUMNS|LINES)$/.test(name)) return;
  if (values === undefined && isSecretName(name)) deny(walk, "secrets", `the line shows the value of ${show(`$${name}`)}`);
  const known = values?.every((one) => one.kind === "number" || (one.kind === "literal" && INTEGER.test(one.value)));
  if (known === true) return;
  ask(walk, "arith", `the line calculates with ${show(name)}, whose value is not known to be a number`);
  for (const one of values ?? []) evaluated(one.value, walk);
}

/** Text that bash expands when it is used: what it would run is judged, as far as it stands in the line. */
export function evaluated(text: string, walk: Walk): void {
  if (!/[$`]/.test(text) || walk.depth > 8) return;
  const delimiter = "_END_OF_WHAT_IS_EXPANDED_";
  if (text.includes(delimiter)) return;
  walk.script(`cat <<${delimiter}\n${text}\n${delimiter}`, { ...walk, piped: null });
}
