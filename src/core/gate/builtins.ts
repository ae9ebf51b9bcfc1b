import { type Arg, join } from "./args.ts";
import { evaluated, judgeText } from "./arith.ts";
import { forgetVariable, judgeVariable, remember, setArray, unsetVariable } from "./assign.ts";
import { judgeCd, judgePopd, judgePushd } from "./folders.ts";
import { ask, type Printed, show, type Walk } from "./finding.ts";
import { judgePath } from "./judge-path.ts";
import { without } from "./scope.ts";
import { runsWritten } from "./shells.ts";
import { judgeName } from "./test-command.ts";

/** Judges one builtin of the shell. False when this use of it is like that of any listed program. */
type Builtin = (name: string, args: Arg[], input: Printed | null, walk: Walk) => boolean;

const OPTIONS = /^[-+][eufvxC]*o?$/;
const OPTION_NAMES = /^(?:errexit|nounset|pipefail|xtrace|noglob|verbose|noclobber)$/;
const SHELL_OPTIONS = /^(?:nullglob|globstar|failglob|nocaseglob|nocasematch|inherit_errexit|localvar_inherit|checkwinsize)$/;
/** Options of `declare` and its like that do no more than mark a variable. */
const MARKS = /^[-+][aAirxglu]+$/;

const BUILTINS: Record<string, Builtin> = {
  cd: (_name, args, _input, walk) => judgeCd(args, walk),
  pushd: (_name, args, _input, walk) => judgePushd(args, walk),
  popd: (_name, args, _input, walk) => judgePopd(args, walk),
  eval: (_name, args, _input, walk) => {
    const text = join(args);
    if (!text.literal) ask(walk, "dynamic", `could not read what ${show(`eval ${text.text}`)} runs`);
    ask(walk, "builtin", "`eval` runs text as commands");
    walk.script(text.value, walk);
    return true;
  },
  trap: (_name, args, _input, walk) => {
    const words = args.filter((arg) => arg.value !== "--");
    if (words[0]?.value === "-" || words[0]?.value === "" || /^-[lp]$/.test(words[0]?.value ?? "")) return true;
    ask(walk, "builtin", `${show(`trap ${words.map((arg) => arg.text).join(" ")}`)} runs its text at another time`);
    if (words[0] !== undefined) walk.script(words[0].value, walk);
    return true;
  },
  alias: (_name, args, _input, walk) => {
    ask(walk, "builtin", "`alias` gives a name another meaning");
    for (const arg of args) walk.script(arg.value.slice(arg.value.indexOf("=") + 1), walk);
    return true;
  },
  ".": source,
  source,
  exec: (_name, args, input, walk) => {
    // Alone it only opens files, which are judged with the redirects.
    if (args[0]?.value.startsWith("-") === true) ask(walk, "builtin", "`exec` puts something else in the shell's place");
    const words = args[0]?.value === "-a" ? args.slice(2) : args.filter((arg, at) => at > 0 || !/^-[cl-]+$/.test(arg.value));
    if (words.length > 0) walk.run(words, input, walk, "process");
    return true;
  },
  export: declare,
  readonly: declare,
  declare,
  typeset: declare,
  local: declare,
  unset: (_name, args, _input, walk) => {
    for (const arg of args) {
      if (arg.value === "-v") continue;
      if (arg.value.startsWith("-")) ask(walk, "builtin", `${show(`unset ${arg.text}`)} changes what names mean`);
      else judgeName(arg.value, arg.literal, walk);
      unsetVariable(arg.value, walk);
    }
    return true;
  },
  read: (_name, args, input, walk) => named(args, /^(?:-[rse]+|-[rse]*[pdnNtui].*)$/, "pdnNtui", input, walk),
  getopts: (_name, args, _input, walk) => named(args.slice(1, 2), /^$/, "", null, walk),
  mapfile,
  readarray: mapfile,
  let: (_name, args, _input, walk) => {
    for (const arg of args) judgeLet(arg, walk);
    return true;
  },
  set: judgeSet,
  shopt: (_name, args, _input, walk) => {
    const fine = args.every((arg) => /^-[suqp]$/.test(arg.value) || (arg.literal && SHELL_OPTIONS.test(arg.value)));
    if (!fine) ask(walk, "builtin", `${show(`shopt ${args.map((arg) => arg.text).join(" ")}`)} changes how the shell reads what follows`);
    return true;
  },
  shift: (_name, args, _input, walk) => {
    const by = args.length === 0 ? 1 : Number(args[0]?.value);
    walk.scope.positional = Number.isInteger(by) ? (walk.scope.positional?.slice(by) ?? null) : null;
    return true;
  },
  printf: (_name, args, _input, walk) => {
    if (args[0]?.value !== "-v") return false;
    const [, name, ...rest] = args;
    if (name === undefined) return false;
    judgeName(name.value, name.literal, walk);
    const format = rest[0]?.value ?? "";
    if (rest[0]?.literal !== true || /%[-+ #0-9.*'hlLjzt]*n/.test(format))
      ask(walk, "dynamic", `what ${show(`printf ${format}`)} sets cannot be read from the line`);
    const number = /^%0?\d*d$/.test(format) && /^\d+$/.test(rest[1]?.value ?? "");
    forgetVariable(name.value, walk, number ? "number" : "free");
    return true;
  },
  test: judgeTestWords,
  "[": (name, args, input, walk) => {
    if (args.at(-1)?.value !== "]") return false;
    return judgeTestWords(name, args.slice(0, -1), input, walk);
  },
  ulimit: (_name, args, _input, walk) => {
    if (!args.every((arg) => /^-[SHa-z]+$/.test(arg.value))) ask(walk, "process", "`ulimit` changes the limits of what follows");
    return true;
  },
};
for (const name of "enable hash complete compopt bind fc history bg fg disown suspend logout caller times dirs unalias compgen".split(
  " ",
)) {
  BUILTINS[name] = (_name, args, _input, walk) => {
    const text = [name, ...args.map((arg) => arg.text)].join(" ");
    ask(walk, "builtin", `${show(text)} changes or shows how the shell runs commands`);
    for (const [at, arg] of args.entries()) if (/^-[CF]$/.test(args[at - 1]?.value ?? "")) walk.script(arg.value, walk);
    return true;
  };
}
const TABLE = new Map(Object.entries(BUILTINS));

/** The judge of a builtin, or undefined for other names. */
export function builtin(name: string): Builtin | undefined {
  return TABLE.get(name);
}

function source(name: string, args: Arg[], input: Printed | null, walk: Walk): boolean {
  const [file] = args;
  ask(walk, "dynamic", `could not read what ${show([name, ...args.map((arg) => arg.text)].join(" "))} runs`);
  const text = file?.prints?.text ?? (/^\/dev\/(?:stdin|fd\/0)$/.test(file?.value ?? "") ? input?.text : undefined);
  if (text !== undefined) walk.script(text, walk);
  if (file !== undefined && file.prints === undefined) {
    judgePath(file, "names", walk);
    runsWritten(file, walk);
  }
  return true;
}

function declare(name: string, args: Arg[], _input: Printed | null, walk: Walk): boolean {
  const integer = args.some((arg) => /^-\w*i/.test(arg.value));
  const isMap = args.some((arg) => /^-\w*A/.test(arg.value)) && !args.some((arg) => /^-\w*g/.test(arg.value));
  const exported = name === "export" || args.some((arg) => /^-\w*x/.test(arg.value));
  for (const arg of args) {
    if (/^[-+]/.test(arg.value)) {
      if (!MARKS.test(arg.value) && !/^(?:--|-p|-F|-n)$/.test(arg.value))
        ask(walk, "builtin", `${show(`${name} ${arg.text}`)} changes what names mean`);
      if (arg.value === "-n" && name !== "export") ask(walk, "builtin", `${show(`${name} -n`)} makes one name stand for another`);
      continue;
    }
    markVariable(/^[A-Za-z_]\w*/.exec(arg.value)?.[0] ?? "", isMap, integer, walk);
    const [, variable, plus, value] = /^([A-Za-z_]\w*)(\+?)=(.*)$/s.exec(arg.value) ?? [];
    if (arg.list !== undefined && variable !== undefined) {
      judgeVariable(variable, { ...arg, value: "", kind: "literal", literal: true }, exported, arg.text, walk);
      setArray(variable, arg.list, plus === "+", walk);
    } else if (variable === undefined || value === undefined) {
      judgeName(arg.value, arg.literal, walk);
      if (exported) judgeVariable(arg.value, { ...arg, value: "" }, true, `${name} ${arg.text}`, walk);
    } else {
      const given = { ...arg, value };
      if (integer) judgeText(value, walk);
      judgeVariable(variable, given, exported, arg.text, walk);
      remember(variable, integer ? { ...given, kind: "number", literal: false } : given, plus === "+", walk);
    }
  }
  return true;
}

/** Notes `-A` and `-i`. An array that is there already does not become one of texts, and a new one of a function is none. */
function markVariable(name: string, isMap: boolean, integer: boolean, walk: Walk): void {
  const { scope } = walk;
  if (isMap && !scope.vars.has(name) && !scope.lists.has(name)) scope.maps = new Set([...scope.maps, name]);
  else if (!isMap) scope.maps = without(scope.maps, name);
  if (integer) scope.integers = new Set([...scope.integers, name]);
}

/** Builtins that set the variables that they name: a subscript in a name is calculated. */
function named(args: Arg[], options: RegExp, takeValue: string, input: Printed | null, walk: Walk): boolean {
  const names: Arg[] = [];
  for (let at = 0; at < args.length; at += 1) {
    const arg = args[at] as Arg;
    if (!arg.value.startsWith("-") || names.length > 0) {
      names.push(arg);
      continue;
    }
    if (/^-[rse]*a$/.test(arg.value)) {
      at += 1;
      names.push(...args.slice(at, at + 1));
      continue;
    }
    if (!options.test(arg.value)) ask(walk, "builtin", `${show(arg.text)} is not one of the options that are known here`);
    const letter = arg.value.at(-1) ?? "";
    if (takeValue.includes(letter) && !takeValue.includes(/^-[rse]*(.)./.exec(arg.value)?.[1] ?? " ")) at += 1;
  }
  for (const arg of names) {
    judgeName(arg.value, arg.literal, walk);
    forgetVariable(arg.value, walk, names.length === 1 ? (input?.kind ?? "free") : "free");
  }
  return true;
}

function mapfile(name: string, args: Arg[], _input: Printed | null, walk: Walk): boolean {
  for (let at = 0; at < args.length; at += 1) {
    const arg = args[at] as Arg;
    if (arg.value === "-t") continue;
    if (/^-[dnsOu]$/.test(arg.value)) at += 1;
    else if (arg.value.startsWith("-")) {
      ask(walk, "builtin", `${show(`${name} ${arg.text}`)} may run a command for each line`);
      if (/^-C/.test(arg.value)) walk.script(arg.value.slice(2) || (args[at + 1]?.value ?? ""), walk);
      at += 1;
    } else {
      judgeName(arg.value, arg.literal, walk);
      forgetVariable(arg.value, walk);
    }
  }
  return true;
}

function judgeLet(arg: Arg, walk: Walk): void {
  const text = arg.value.trim();
  if (!arg.literal) return ask(walk, "arith", `${show(arg.text)} is calculated with, and its value is not known here`);
  const [, name, operator, value] = /^([A-Za-z_]\w*)\s*((?:[-+*/%&|^]|<<|>>)?=)([^=].*)$/s.exec(text) ?? [];
  if (name !== undefined && operator !== undefined && value !== undefined) {
    judgeText(value.trim(), walk);
    if (operator !== "=") judgeText(name, walk);
    return forgetVariable(name, walk, "number");
  }
  const step = /^(?:\+\+|--)?([A-Za-z_]\w*)(?:\+\+|--)?$/.exec(text)?.[1];
  judgeText(step ?? text, walk);
  if (step === undefined) evaluated(text, walk);
}

function judgeSet(_name: string, args: Arg[], _input: Printed | null, walk: Walk): boolean {
  const end = args.findIndex((arg) => !/^[-+]/.test(arg.value) || arg.value === "--" || arg.value === "-");
  const options = end < 0 ? args : args.slice(0, end);
  let rest = end < 0 ? [] : args.slice(end);
  for (const [at, arg] of options.entries()) {
    if (/^-\w*e/.test(arg.value)) walk.scope.errexit = walk.calls.length === 0;
    if (/^\+\w*e/.test(arg.value)) walk.scope.errexit = false;
    if (!OPTIONS.test(arg.value)) ask(walk, "builtin", `${show(`set ${arg.text}`)} changes how the shell reads what follows`);
    else if (arg.value.endsWith("o")) {
      const [name, ...more] = at === options.length - 1 ? rest : [];
      if (name !== undefined && OPTION_NAMES.test(name.value)) rest = more;
      else ask(walk, "builtin", `${show(`set ${arg.text} ${name?.text ?? ""}`)} changes how the shell reads what follows`);
    }
  }
  if (rest[0] === undefined) return true;
  if (/^[-+]/.test(rest[0].value) && rest[0].value !== "--") return judgeSet("set", rest, null, walk);
  const words = rest[0].value === "--" ? rest.slice(1) : rest;
  walk.scope.positional = words.some((arg) => arg.loose) ? null : words;
  return true;
}

const FILE_TEST = /^-[abcdefghkprstuwxGLNOS]$/;

function judgeTestWords(name: string, args: Arg[], _input: Printed | null, walk: Walk): boolean {
  for (const [at, arg] of args.entries()) {
    const before = args[at - 1]?.value ?? "";
    if (arg.loose && arg.kind === "free")
      ask(walk, "dynamic", `${show(`${name} ${arg.text}`)} may become several words, as it is not quoted`);
    else if (before === "-v" || before === "-R") judgeName(arg.value, arg.literal, walk);
    else if ((FILE_TEST.test(before) && !(before === "-a" && at > 1)) || /^-(?:nt|ot|ef)$/.test(before)) judgePath(arg, "names", walk);
    if (/^-(?:nt|ot|ef)$/.test(args[at + 1]?.value ?? "")) judgePath(arg, "names", walk);
  }
  return true;
}
