import { type Arg, join, tail } from "./args.ts";

/** Programs that run a command given in an option, or behind a word: `tar -I`, `git rebase --exec`, `git bisect run`. */
const RUN: { names: string; options?: string; behind?: string }[] = [
  {
    names: "tar bsdtar",
    options: "-I -F --use-compress-program --to-command --checkpoint-action --info-script --new-volume-script --rsh-command",
  },
  { names: "rsync", options: "-e --rsh --rsync-path" },
  { names: "ssh scp sftp", options: "-o" },
  {
    names: "git",
    options:
      "-c -x --exec --extcmd --tree-filter --index-filter --msg-filter --env-filter --commit-filter --parent-filter --tag-name-filter --upload-pack --receive-pack",
    behind: "run foreach",
  },
  { names: "npm npx pnpm yarn", options: "-c --call --shell-mode" },
  { names: "mapfile readarray complete compgen", options: "-C" },
  { names: "vim vi nvim ex view", options: "-c --cmd" },
  { names: "make gmake", options: "--eval -E" },
  { names: "man", options: "-P --pager" },
  { names: "zip", options: "-TT --unzip-command" },
  { names: "rg", options: "--pre --hostname-bin" },
  { names: "sort", options: "--compress-program" },
  { names: "split", options: "--filter" },
];

/** Settings that name a command, among those that `git -c` and `ssh -o` take. */
const NAMES_COMMAND =
  /^[\w.-]*(?:alias|askpass|command|diff|driver|editor|filter|fsmonitor|helper|hook|pager|program|proxy|textconv)[\w.-]*=/i;

const OF = new Map<string, { options: Set<string>; behind: Set<string> }>();
for (const { names, options, behind } of RUN) {
  const found = { options: new Set(options?.split(" ")), behind: new Set(behind?.split(" ")) };
  for (const name of names.split(" ")) OF.set(name, found);
}

/** Texts among the arguments that the program hands to a shell, as far as that is known of it. */
export function scriptsOf(name: string, args: Arg[]): Arg[] {
  if (name === "trap") return args.filter((arg) => arg.value !== "--").slice(0, 1);
  const known = OF.get(name);
  if (known === undefined) return [];
  const scripts: Arg[] = [];
  for (const [at, arg] of args.entries()) {
    const equals = arg.value.startsWith("--") ? arg.value.indexOf("=") : -1;
    const option = equals < 0 ? arg.value : arg.value.slice(0, equals);
    const next = args[at + 1];
    const setting = option === "-c" || option === "-o";
    if (setting && /^(?:git|ssh|scp|sftp)$/.test(name) && !NAMES_COMMAND.test(next?.value ?? "")) continue;
    if (known.options.has(option)) scripts.push(...(equals >= 0 ? [tail(arg, equals + 1)] : next === undefined ? [] : [next]));
    else if (/^-\w./.test(arg.value) && known.options.has(arg.value.slice(0, 2))) scripts.push(tail(arg, 2));
    if (known.behind.has(arg.value)) {
      scripts.push(join(args.slice(at + 1)));
    }
  }
  return scripts.map(bare);
}

/** Without what names it: `exec=`, `ProxyCommand=`, `core.pager=`, `!`. */
function bare(script: Arg): Arg {
  const shell = /\$\(shell\s+(.*)\)/s.exec(script.value);
  if (shell !== null) return { ...script, value: shell[1] ?? "" };
  return tail(script, /^(?:[\w.-]+=)?!?/.exec(script.value)?.[0].length ?? 0);
}
