import { type Arg, kindArg } from "./args.ts";
import { ask, askRead, type Own, type Printed, show, type Walk } from "./finding.ts";
import { putIn } from "./launchers.ts";
import { judgePath } from "./judge-path.ts";
import { mayBePrivate } from "./private.ts";

type Listed = (name: string, args: Arg[], walk: Walk) => boolean;
type Run = (argv: Arg[], input: Printed | null, walk: Walk, own: Own) => Printed | null;

/** What `find` and `fd` put in the place of `{}`: a name below the folder that they look through. */
const FOUND = kindArg("name", "{}", "x");

/** Tests whose next word is a value, also when it looks like an action: `-name -delete`. */
const TAKES_VALUE =
  /^-(?:i?name|i?path|i?wholename|i?regex|i?lname|regextype|[px]?type|size|perm|user|group|[acm](?:time|min)|newer\w*|(?:max|min)depth|printf)$/;

/** What `find` itself gets, and the commands that stand between `-exec` and `;` or `+`. */
function splitFind(args: Arg[]): { own: Arg[]; inner: { option: string; command: Arg[] }[] } {
  const own: Arg[] = [];
  const inner: { option: string; command: Arg[] }[] = [];
  for (let at = 0; at < args.length; at += 1) {
    const arg = args[at] as Arg;
    if (TAKES_VALUE.test(arg.value)) {
      own.push(...args.slice(at, at + 2));
      at += 1;
      continue;
    }
    if (!/^-(?:exec|ok)(?:dir)?$/.test(arg.value)) {
      own.push(arg);
      continue;
    }
    const rest = args.slice(at + 1);
    const end = rest.findIndex((one, index) => one.value === ";" || (one.value === "+" && rest[index - 1]?.value === "{}"));
    inner.push({ option: arg.value, command: (end < 0 ? rest : rest.slice(0, end)).map((one) => putIn(one, "{}", FOUND)) });
    at = end < 0 ? args.length : at + 1 + end;
  }
  return { own, inner };
}

/** Judges `find` without the commands that it starts, then these. */
export function judgeFind(args: Arg[], walk: Walk, listed: Listed, run: Run): boolean {
  const { own, inner } = splitFind(args);
  if (!listed("find", own, walk)) return false;
  if (own.some((arg, at) => arg.value === "-delete" && !TAKES_VALUE.test(own[at - 1]?.value ?? ""))) {
    walk.seen.changes = true;
    ask(walk, "delete", "`find -delete` deletes what it finds");
  }
  for (const [at, arg] of own.entries()) {
    const file = own[at + 1];
    if (!/^-fprint(?:f|0)?$|^-fls$/.test(arg.value) || file === undefined) continue;
    ask(walk, "interp", `${show(`find ${arg.value}`)} writes to ${show(file.text)}`);
    judgePath(file, "writes", walk);
  }
  const aimed = own.find((arg, at) => /^-i?(?:name|path)$/.test(own[at - 1]?.value ?? "") && mayBePrivate(arg.value));
  if (aimed !== undefined && inner.length > 0)
    askRead(walk, "secrets", `${show(aimed.text)} usually holds credentials, which would be posted to the thread`);
  for (const { option, command } of inner) {
    if (option.startsWith("-ok")) ask(walk, "interp", "`find -ok` waits for an answer that nobody gives");
    // A program of the folder that is searched may be found by its name.
    if (option === "-execdir") ask(walk, "interp", "`find -execdir` runs a command in every folder that it finds something in");
    dataIsCode("find", command, walk);
    run(command, null, walk, "process");
  }
  return true;
}

/** A shell that gets names of files may take them for commands. */
export function dataIsCode(name: string, [command]: Arg[], walk: Walk): void {
  if (command !== undefined && /^(?:.*\/)?(?:\w*sh|env|python[\d.]*|node|perl|ruby|php|awk|eval)$/.test(command.value))
    ask(walk, "interp", `${show(name)} gives what it finds to ${show(command.value)}, which may run it`);
}

/** `fd` without the command that it starts. */
export function withoutCommand(args: Arg[]): Arg[] {
  const at = args.findIndex((arg) => /^(?:-x|-X|--exec|--exec-batch)$/.test(arg.value));
  return at < 0 ? args : args.slice(0, at);
}

/** `fd -x` starts what stands behind it for every file that it finds. */
export function judgeFd(args: Arg[], walk: Walk, run: Run): void {
  const at = args.findIndex((arg) => /^(?:-x|-X|--exec|--exec-batch)$/.test(arg.value));
  if (at < 0) return;
  const inner = args.slice(at + 1).filter((arg) => arg.value !== ";");
  const has = inner.some((arg) => arg.value.includes("{"));
  run([...inner.map((arg) => putIn(arg, "{}", FOUND)), ...(has ? [] : [FOUND])], null, walk, "process");
}
