import type { FunctionNode } from "./parse.ts";
import type { Arg } from "./args.ts";

/**
 * What the line itself has set at one point: folders, variables, functions, positional parameters. A variable that is
 * not in `vars` comes from outside; one with `null` was set in the line to something that cannot be read from it.
 */
export interface Scope {
  /** Folders that commands may run in: more than one when a `cd` may have failed. */
  cwds: string[];
  vars: Map<string, Arg[] | null>;
  /** Arrays whose elements are known. */
  lists: Map<string, Arg[]>;
  /** Variables whose values are calculated when they are set: those of `declare -i`, and some of the shell's own. */
  integers: ReadonlySet<string>;
  /** Arrays of `declare -A`: their subscripts are texts. */
  maps: ReadonlySet<string>;
  functions: Map<string, FunctionNode>;
  /** Null when not known. */
  positional: Arg[] | null;
  /** What `popd` goes back to. */
  stack: string[][];
  /** `set -e` holds: what fails ends the line. */
  errexit: boolean;
  /** These `cwds` when the `cd` that set them cannot have failed. */
  sure: string[] | null;
}

const CALCULATED: ReadonlySet<string> = new Set(["RANDOM", "SRANDOM", "OPTIND", "HISTCMD", "LINENO", "BASHPID", "SECONDS", "EPOCHSECONDS"]);
const NONE: ReadonlySet<string> = new Set();

/** More values than this of one variable are not followed. */
const MOST_VALUES = 16;
/** A line that sets more variables than this is not followed. */
const MOST_VARIABLES = 100;
/** More folders than this at once are not followed. */
export const MOST_FOLDERS = 5;

export function newScope(cwd: string): Scope {
  return {
    cwds: [cwd],
    vars: new Map(),
    lists: new Map(),
    integers: CALCULATED,
    maps: NONE,
    functions: new Map(),
    positional: null,
    stack: [],
    errexit: false,
    sure: null,
  };
}

/** Throws when the line sets more than is followed. */
export function copyScope(scope: Scope): Scope {
  if (scope.vars.size > MOST_VARIABLES) throw new Error("too many variables");
  return {
    ...scope,
    vars: new Map(scope.vars),
    lists: new Map(scope.lists),
    functions: new Map(scope.functions),
  };
}

/** What is known where two ways through the line meet. */
export function mergeScopes(one: Scope, other: Scope): Scope {
  if (one === other) return one;
  const vars = new Map<string, Arg[] | null>();
  const names = one.vars.size + other.vars.size === 0 ? [] : new Set([...one.vars.keys(), ...other.vars.keys()]);
  for (const name of names) vars.set(name, mergeValues(one.vars.get(name), other.vars.get(name)));
  const lists = new Map([...one.lists].filter(([name, list]) => other.lists.get(name) === list));
  return {
    cwds: one.cwds === other.cwds ? one.cwds : [...new Set([...one.cwds, ...other.cwds])],
    vars,
    lists,
    integers: one.integers === other.integers ? one.integers : new Set([...one.integers, ...other.integers]),
    maps: both(one.maps, other.maps),
    functions: one.functions.size === 0 ? new Map(other.functions) : new Map([...one.functions, ...other.functions]),
    positional: one.positional === other.positional ? one.positional : null,
    stack: one.stack === other.stack ? one.stack : [],
    errexit: one.errexit && other.errexit,
    sure: one.sure === other.sure ? one.sure : null,
  };
}

/** Names that are in both sets. */
export function both(one: ReadonlySet<string>, other: ReadonlySet<string>): ReadonlySet<string> {
  return one === other ? one : new Set([...one].filter((name) => other.has(name)));
}

/** `names` without `name`. */
export function without(names: ReadonlySet<string>, name: string): ReadonlySet<string> {
  return names.has(name) ? new Set([...names].filter((one) => one !== name)) : names;
}

function mergeValues(one: Arg[] | null | undefined, other: Arg[] | null | undefined): Arg[] | null {
  if (one === other && one !== undefined) return one;
  if (!one || !other) return null;
  const all = new Map([...one, ...other].map((arg) => [`${arg.kind} ${arg.value}`, arg]));
  return all.size > MOST_VALUES ? null : [...all.values()];
}
