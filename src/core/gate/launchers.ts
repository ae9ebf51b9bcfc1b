import { type Arg, join, literalArg } from "./args.ts";
import { isPowerful } from "./assign.ts";
import type { Printed } from "./finding.ts";
import { type OptionTable, optionTable, readOptions } from "./options.ts";
import type { Code } from "./record.ts";

/** A program whose arguments are another command. */
interface Launcher {
  names: string;
  options: string;
  digits?: boolean;
  /** Words of its own between its options and the command. */
  skip?: number;
  /** Takes `NAME=value` before the command. */
  assigns?: boolean;
  /** An option (or a word in the command's place) whose value is a line for a shell. */
  shell?: string;
  /** The command is a line for a shell, made of all the words. */
  joined?: boolean;
  /** Set when the launcher itself is a reason to ask. */
  code?: Code;
}

/** `sh -c`, `find -exec` and `eval` are read elsewhere. */
const LAUNCHERS: Launcher[] = [
  { names: "command builtin", options: "-p" },
  // As a program of its own there is none; what stands behind it is judged all the same.
  { names: "exec", options: "-c -l -a=" },
  { names: "nohup", options: "" },
  { names: "nice", options: "-n= --adjustment=", digits: true },
  { names: "ionice", options: "-c= -n= -t" },
  { names: "timeout gtimeout", options: "-k= -s= -v -f -p --kill-after= --signal= --foreground --preserve-status --verbose", skip: 1 },
  { names: "time gtime", options: "-p -v -f= --verbose --portability --format=" },
  { names: "stdbuf", options: "-i= -o= -e= --input= --output= --error=" },
  {
    names: "env",
    options: "-i -0 -u= -v -S= --null --ignore-environment --unset= --split-string=",
    assigns: true,
    shell: "-S --split-string",
  },
  {
    names: "c8 nyc",
    options: "--reporter= --all --check-coverage --lines= --branches= --functions= --silent --exclude= --include= -r= --no-clean",
  },
  { names: "coproc", options: "", code: "builtin" },
  { names: "setsid", options: "-c -f -w --ctty --fork --wait", code: "process" },
  {
    names: "xargs",
    options:
      "-0 -r -t -x -n= -P= -I= -i[=] -L= -l[=] -d= -a=path -s= -E= --null --no-run-if-empty --verbose --max-args= --max-procs= --max-lines[=] --replace[=] --delimiter= --arg-file=path --exit",
  },
  {
    names: "parallel",
    options: "-0 -k -j= -N= -n= -X -m -a= --jobs= --keep-order --bar --eta --dry-run --halt= --colsep=",
    joined: true,
    code: "dynamic",
  },
  {
    names: "watch",
    options: "-n= -d -t -e -g -b -p -c -x --interval= --differences[=] --no-title --color --exec",
    joined: true,
    code: "interp",
  },
  {
    names: "flock",
    options: "-n -x -s -e -u -o -w= -E= --nonblock --exclusive --shared --timeout=",
    skip: 1,
    shell: "-c --command",
  },
  { names: "script", options: "-a -e -f -q -c= --append --return --flush --quiet --command=", shell: "-c --command", code: "interp" },
  { names: "strace ltrace", options: "-f -ff -c -t -tt -y -yy -q -e= -o= -s= -p= -u=", code: "interp" },
  {
    names: "systemd-run",
    options: "-P -q -t -G --user --scope --pipe --pty --wait --quiet --collect -p= --unit= --property= --on-active=",
    code: "process",
  },
  { names: "busybox toybox", options: "" },
  { names: "chrt taskset", options: "-a -b -f -i -o -r -c", skip: 1, code: "process" },
  { names: "entr", options: "-c -d -n -p -r -s -z", shell: "-s", code: "interp" },
  {
    names:
      "fakeroot unbuffer eatmydata chronic catchsegv caffeinate dbus-run-session xvfb-run proxychains torsocks ts rlwrap firejail bwrap",
    options: "-a -q -i -s",
    code: "unknown",
  },
];

const TABLE = new Map<string, { launcher: Launcher; options: OptionTable }>();
for (const launcher of LAUNCHERS) {
  for (const name of launcher.names.split(" ")) TABLE.set(name, { launcher, options: optionTable(launcher.options) });
}

export function isLauncher(name: string): boolean {
  return TABLE.has(name);
}

export interface Unwrapped {
  /** What it starts; null when it starts nothing, or when its own options were not understood. */
  command: Arg[] | null;
  /** Lines that it hands to a shell. */
  scripts: Arg[];
  /** `NAME=value` for the command. */
  assigns: Arg[];
  /** Files that it reads, and files that it writes. */
  reads: Arg[];
  writes: Arg[];
  /** Options that take something out of the environment. */
  emptied: string[];
  /** Whether every word of the launcher was understood. */
  clear: boolean;
  /** Why the launcher itself asks, or null. */
  code: Code | null;
}

/** What a launcher starts; null when the program is not a launcher. `input` is what it reads, where the line says it. */
export function unwrap(name: string, args: Arg[], input: Printed | null): Unwrapped | null {
  const found = TABLE.get(name);
  if (found === undefined) return null;
  const { launcher } = found;
  const code = launcher.code ?? null;
  const read = readOptions(found.options, args, { ordered: true, ...(launcher.digits === true ? { digits: true } : {}) });
  if (read.unknown !== null) return { command: null, scripts: [], assigns: [], reads: [], writes: [], emptied: [], clear: false, code };
  const shells = launcher.shell?.split(" ") ?? [];
  const scripts = read.used.flatMap((one) => (shells.includes(one.name) && one.value !== null ? [one.value] : []));
  const emptied = launcher.assigns === true ? read.used.filter(takesAway) : [];
  const skipped = read.operands.slice(0, launcher.skip ?? 0);
  let rest = read.operands.slice(skipped.length);
  const assigns: Arg[] = [];
  // `env -` stands for `env -i`.
  const dash = launcher.assigns === true && rest[0]?.value === "-" ? rest.splice(0, 1).map(() => "-i") : [];
  while (launcher.assigns === true && /^\w+=/.test(rest[0]?.value ?? "")) assigns.push(...rest.splice(0, 1));
  if (shells.includes(rest[0]?.value ?? "")) {
    scripts.push(...rest.slice(1, 2));
    rest = [];
  }
  if (name === "xargs" && rest.length > 0) rest = filled(rest, read.used, input);
  if (launcher.joined === true && rest.length > 0) scripts.push(join(rest.splice(0)));
  return {
    command: rest.length > 0 ? rest : null,
    scripts,
    assigns,
    reads: read.used.flatMap((one) => (one.kind === "path" && one.value !== null ? [one.value] : [])),
    writes: name === "flock" ? skipped : [],
    emptied: [...dash, ...emptied.map((one) => one.name)],
    clear: scripts.length === 0 && skipped.every((arg) => arg.glob < 0 && arg.kind !== "free"),
    code,
  };
}

/** `env -i`, and `env -u` of a variable that matters. */
function takesAway({ name, value }: { name: string; value: Arg | null }): boolean {
  if (/^(?:-i|--ignore-environment)$/.test(name)) return true;
  return /^(?:-u|--unset)$/.test(name) && (value?.literal !== true || isPowerful(value.value));
}

/** The command of `xargs` with the words that it gets, in the place of `{}` or at the end. */
function filled(command: Arg[], used: { name: string; value: Arg | null }[], input: Printed | null): Arg[] {
  const replace = used.find((one) => /^(?:-I|-i|--replace)$/.test(one.name));
  const from = used.some((one) => /^(?:-a|--arg-file)$/.test(one.name)) ? null : input;
  // In the place of a mark stands a whole line.
  const line = replace !== undefined && from?.sure === true && !/\n./.test(from.text) && !/['"\\]/.test(from.text);
  const given = line ? [literalArg(from.text.trim())] : wordsOf(from);
  if (replace === undefined) return [...command, ...given];
  const mark = replace.value?.value ?? "{}";
  const one = given[0] ?? unknownArg();
  return command.map((arg) =>
    mark !== "" && arg.value.includes(mark) ? putIn(arg, mark, given.length === 1 ? one : given.length > 1 ? unknownArg() : one) : arg,
  );
}

/** What stands between words, also for `xargs -0`. */
const BLANKS = /[\s\0]+/;

function wordsOf(input: Printed | null): Arg[] {
  if (input === null || (!input.sure && input.kind === "free")) {
    return [...(input?.text.trim().split(BLANKS).slice(0, 64).map(literalArg) ?? []), unknownArg()];
  }
  if (!input.sure) return [{ ...unknownArg(), value: input.text, kind: input.kind }];
  return input.text
    .split(BLANKS)
    .filter((word) => word !== "")
    .slice(0, 64)
    .map(literalArg);
}

function unknownArg(): Arg {
  return { text: "(its input)", value: "$input", kind: "free", literal: false, glob: -1, tilde: false, loose: false };
}

/** A word with what stands for `{}` put in. */
export function putIn(arg: Arg, mark: string, value: Arg): Arg {
  if (mark === "" || !arg.value.includes(mark)) return arg;
  const kind = arg.kind === "literal" ? value.kind : "free";
  return { ...arg, value: arg.value.replaceAll(mark, value.value), kind, literal: kind === "literal" };
}
