import { type OptionTable, optionTable, readOptions } from "./options.ts";
import { type Arg, literalArg } from "./words.ts";

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
  code?: string;
}

/** `sh -c`, `find -exec` and `eval` are read in command.ts. */
const LAUNCHERS: Launcher[] = [
  { names: "command builtin", options: "-p" },
  { names: "nohup", options: "" },
  { names: "nice", options: "-n= --adjustment=", digits: true },
  { names: "ionice", options: "-c= -n= -t" },
  { names: "timeout", options: "-k= -s= -v -f -p --kill-after= --signal= --foreground --preserve-status --verbose", skip: 1 },
  { names: "time", options: "-p -v -f= --verbose --portability --format=" },
  { names: "stdbuf", options: "-i= -o= -e= --input= --output= --error=" },
  {
    names: "env",
    options: "-i -0 -u= -v -S= --null --ignore-environment --unset= --split-string=",
    assigns: true,
    shell: "-S --split-string",
  },
  { names: "exec", options: "-c -l -a=", code: "builtin" },
  { names: "coproc", options: "", code: "background" },
  { names: "setsid", options: "-c -f -w --ctty --fork --wait", code: "background" },
  {
    names: "xargs",
    options:
      "-0 -r -t -x -n= -P= -I= -i[=] -L= -l[=] -d= -a= -s= -E= --null --no-run-if-empty --verbose --max-args= --max-procs= --max-lines[=] --replace[=] --delimiter= --arg-file= --exit",
    code: "dynamic",
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
    code: "interp",
  },
  { names: "script", options: "-a -e -f -q -c= --append --return --flush --quiet --command=", shell: "-c --command", code: "interp" },
  { names: "strace ltrace", options: "-f -ff -c -t -tt -y -yy -q -e= -o= -s= -p= -u=", code: "interp" },
  {
    names: "systemd-run",
    options: "-P -q -t -G --user --scope --pipe --pty --wait --quiet --collect -p= --unit= --property= --on-active=",
    code: "process",
  },
  { names: "busybox toybox", options: "", code: "interp" },
  { names: "chrt taskset", options: "-a -b -f -i -o -r -c", skip: 1, code: "process" },
  {
    names: "fakeroot unbuffer eatmydata chronic catchsegv caffeinate dbus-run-session xvfb-run proxychains torsocks",
    options: "-a -q -i -s",
    code: "unknown",
  },
];

const TABLE = new Map<string, { launcher: Launcher; options: OptionTable }>();
for (const launcher of LAUNCHERS) {
  for (const name of launcher.names.split(" ")) TABLE.set(name, { launcher, options: optionTable(launcher.options) });
}

export interface Unwrapped {
  /** What it starts; null when it starts nothing, or when its own options were not understood. */
  command: Arg[] | null;
  /** Lines that it hands to a shell. */
  scripts: Arg[];
  assigns: Arg[];
  /** Whether every word of the launcher was understood. */
  clear: boolean;
  /** Why the launcher itself asks, or null. */
  code: string | null;
}

/** What a launcher starts; null when the program is not a launcher. `input` is what it reads, where the line says it. */
export function unwrap(name: string, args: Arg[], input: string | null): Unwrapped | null {
  const found = TABLE.get(name);
  if (found === undefined) return null;
  const { launcher } = found;
  const code = launcher.code ?? null;
  const read = readOptions(found.options, args, { ordered: true, ...(launcher.digits === true ? { digits: true } : {}) });
  if (read.unknown !== null) {
    return { command: null, scripts: [], assigns: [], clear: false, code };
  }
  const shells = launcher.shell?.split(" ") ?? [];
  const scripts = read.used.flatMap((one) => (shells.includes(one.name) && one.value !== null ? [one.value] : []));
  const emptied = launcher.assigns === true ? read.used.filter((one) => /^(?:-i|-u|--ignore-environment|--unset)$/.test(one.name)) : [];
  const skipped = read.operands.slice(0, launcher.skip ?? 0);
  let rest = read.operands.slice(skipped.length);
  const assigns: Arg[] = emptied.map((one) => literalArg(one.name));
  // `env -` stands for `env -i`.
  if (launcher.assigns === true && rest[0]?.value === "-") assigns.push(...rest.splice(0, 1));
  while (launcher.assigns === true && /^\w+=/.test(rest[0]?.value ?? "")) assigns.push(...rest.splice(0, 1));
  if (shells.includes(rest[0]?.value ?? "")) {
    scripts.push(...rest.slice(1, 2));
    rest = [];
  }
  if (name === "xargs" && rest.length > 0 && input !== null) rest.push(...input.trim().split(/\s+/).map(literalArg));
  if (launcher.joined === true && rest.length > 0) scripts.push(join(rest.splice(0)));
  return {
    command: rest.length > 0 ? rest : null,
    scripts,
    assigns,
    clear: scripts.length === 0 && skipped.every((arg) => arg.glob < 0),
    code,
  };
}

/** Several words as the one line that a shell makes of them. */
export function join(args: Arg[]): Arg {
  const text = args.map((arg) => arg.value).join(" ");
  return { text, value: text, literal: args.every((arg) => arg.literal), glob: -1, tilde: false };
}
