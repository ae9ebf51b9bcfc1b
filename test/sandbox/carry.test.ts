import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, beforeEach, expect, it } from "vitest";
import { type Talk, talk } from "./carry-kit.ts";

let at: Talk;

beforeEach(() => {
  at = talk();
});
afterEach(() => at.end());

it("a folder and exported variables carry from command to command", () => {
  expect(at.run("cd sub; export GREETING=hello SECRET_FREE=1; NOT_EXPORTED=1")).toEqual({ exit: 0, output: "" });
  expect(at.carried()).toEqual({ cwd: join(at.workspace, "sub"), env: { GREETING: "hello", SECRET_FREE: "1" }, notes: [] });
  expect(at.run('pwd; echo "$GREETING"; unset SECRET_FREE').output).toBe(`${at.workspace}/sub\nhello\n`);
  expect(at.carried().env).toEqual({ GREETING: "hello" });
});

it("the newest state counts, however many commands there were", () => {
  for (let turn = 1; turn <= 9; turn++) {
    expect(at.run(`mkdir -p ${"long-name-".repeat(9 - turn)}d; cd ${"long-name-".repeat(9 - turn)}d; export N=$((N + 1))`).exit).toBe(0);
    expect(at.carried().env).toEqual({ N: String(turn) });
    expect(at.carried().cwd.split("/").length).toBe(at.workspace.split("/").length + turn);
  }
});

it("values come back as they were", () => {
  const values = [
    "it's",
    '"$x` \\ \\\\ \\n!',
    "two\nlines\n\n",
    "\x1b[1m\ttab\r\x01\x7f",
    "",
    " ",
    "ü 漢字 🌍 \u200b \ufeff",
    "$'x'",
    "=a\n=0",
    "'",
  ];
  writeFileSync(join(at.workspace, "values"), values.map((value) => `${value}\0`).join(""));
  at.run("n=0; while IFS= read -r -d '' v; do export V$n=\"$v\"; n=$((n + 1)); done <values");
  expect(Object.values(at.carried().env)).toEqual(values);
  at.run("true");
  expect(Object.values(at.carried().env)).toEqual(values);
});

// [what is special, the command]: it ends in `sub` with FOO=bar, prints nothing and exits with 3
it.each([
  ["an exit in the middle", "cd sub; export FOO=bar; exit 3; cd /"],
  ["a command that fails under set -e", "set -e; cd sub; export FOO=bar; (exit 3); echo no"],
  ["set -u", "set -u; cd sub; export FOO=bar; exit 3"],
  ["set -f", "set -f; cd sub; export FOO=bar; exit 3"],
  ["set -k and set -a", "set -ka; cd sub; FOO=bar; exit 3"],
  ["set -o noclobber", "set -C; cd sub; export FOO=bar; exit 3"],
  ["another IFS", "IFS=abrsu/0; cd sub; export FOO=bar; exit 3"],
  [
    "functions with the names of builtins",
    fakes("set trap shopt umask printf pwd export read compgen cd") + "builtin cd sub; builtin export FOO=bar; exit 3",
  ],
  ["aliases", "shopt -s expand_aliases\nalias builtin='echo alias;' printf=echo\ncd sub; export FOO=bar; exit 3"],
  ["aliases in POSIX mode", "set -o posix\nalias builtin='echo alias;'\ncd sub; export FOO=bar; exit 3"],
  ["functions in POSIX mode", `set -o posix; ${fakes("printf pwd")} cd sub; export FOO=bar; exit 3`],
  ["read-only variables", "cd sub; export FOO=bar; readonly FOO PWD OLDPWD REPLY IFS OPTIND PS4; exit 3"],
  ["no PATH", "unset PATH; cd sub; export FOO=bar; exit 3"],
  ["no PWD", "cd sub; unset PWD OLDPWD; export FOO=bar; exit 3"],
  ["case does not matter", "shopt -s nocasematch extglob; cd sub; export FOO=bar; exit 3"],
  ["output that goes elsewhere", "exec >file 2>&1; echo hidden; cd sub; export FOO=bar; exit 3"],
  ["closed output", "exec >&- 2>&-; cd sub; export FOO=bar; exit 3"],
  ["traps on everything but the end", "trap 'echo >&2' ERR; trap - ERR; trap '' TERM INT; cd sub; export FOO=bar; exit 3"],
  ["a trap that talks about each command", "exec 5>&1 >/dev/null; trap 'echo talk' DEBUG; cd sub; export FOO=bar; exit 3"],
  ["files of no size", "ulimit -f 1; cd sub; export FOO=bar; exit 3"],
  ["files for nobody", "umask 777; cd sub; export FOO=bar; exit 3"],
  ["children that go on", "sleep 600 & (sleep 600 &); cd sub; export FOO=bar; exit 3"],
  ["a function's own end", "f() { local -x FOO=bar; cd sub; exit 3; }; f 1 2 3"],
  ["an array beside it", "export FOO=bar; declare -x a=(1 2); declare -xA b=([x]=1); declare -nx c=FOO; declare -xi d; cd sub; exit 3"],
])("%s: the state carries over, the exit code stays, nothing is printed", (_, command) => {
  expect(at.run(command)).toEqual({ exit: 3, output: "" });
  expect(at.carried()).toMatchObject({ cwd: join(at.workspace, "sub"), env: { FOO: "bar" } });
});

function fakes(names: string): string {
  return names.replaceAll(/\w+ ?/g, (name) => `${name.trim()}() { echo fake; }; `);
}

it.each([
  ["true"],
  ["false"],
  ["exit 300"],
  ['echo "$_ $? $0 $# $- $LINENO $SHLVL $PPID $BASH_COMMAND ${BASH_SOURCE[0]} ${#FUNCNAME[@]} ${#BASH_EXECUTION_STRING}"'],
  ["env | sort; set -o; shopt; declare -F; alias; ls /proc/self/fd; echo ${BASH_ENV-unset}"],
  ['echo "unterminated'],
  ["if"],
  ["true\n  foo )\n"],
  ["true\n\nnosuch --x\ncat <<E\n$LINENO\nE\nfalse"],
  ["set -e\nfalse\necho no"],
  ["set -u; echo $nope; echo no"],
  ["set -x; cd sub; true"],
  ["set -n; true"],
  ["trap 'echo D $BASH_COMMAND $LINENO' DEBUG; true; cd sub"],
  ["trap 'echo E $LINENO' ERR; false"],
  ["trap 'echo bye $?' EXIT; cd sub; exit 4"],
  ["trap 'exit 5' TERM; kill $$"],
  ["kill $$"],
  ["kill -9 $$"],
  ["kill -SEGV $$"],
  ["exec ls"],
  ["exec nosuch"],
  ["sh -c 'exit 9' | cat; echo ${PIPESTATUS[*]}"],
  ["(cd sub; exit 6)"],
  ["x=$(cd sub; trap 'echo sub' EXIT; pwd); echo $x"],
  ["{ echo a; echo b >&2; } | sort"],
  ["ulimit -n 5; echo x >file; cat file"],
  ["bash -c 'echo $BASH_ENV; trap -p'"],
  ["export POSIXLY_CORRECT=1; echo x"],
])("prints and ends as without: %s", (command) => {
  const plain = at.run(command, { plain: true });
  expect(at.run(command)).toEqual(plain);
});

it("bash that shows its lines shows one of ours, with nothing of the state", () => {
  const lines = at.run("set -v\ncd sub").output.split("\n");
  expect(lines.filter((line) => line !== "" && line !== "cd sub")).toEqual([expect.stringMatching(/^\{ .builtin set \+evx/)]);
});

it("a folder that cannot be written disturbs nothing, and the state from before stays", () => {
  at.run("cd sub; export FOO=bar");
  expect(at.run("cd /; export FOO=other; echo done", { readOnly: true })).toEqual({ exit: 0, output: "done\n" });
  expect(at.carried()).toEqual({ cwd: join(at.workspace, "sub"), env: { FOO: "bar" }, notes: [] });
});

it("when there is no room for the state, the state from before stays, and that is said", () => {
  at.run("cd sub; export FOO=bar");
  expect(at.run("ulimit -f 0; cd ..; export FOO=other")).toEqual({ exit: 0, output: "" });
  expect(at.carried()).toMatchObject({ cwd: join(at.workspace, "sub"), env: { FOO: "bar" } });
  expect(at.carried().notes.join()).toMatch(/could not be read.*could not be read/);
  at.run("cd ..; export FOO=new");
  expect(at.carried()).toEqual({ cwd: at.workspace, env: { FOO: "new" }, notes: [] });
});

it.each([
  ["becomes another program", "cd ..; export FOO=no; exec true"],
  ["has an end of its own", "trap 'true' EXIT; cd ..; export FOO=no"],
  ["is killed", "cd ..; export FOO=no; kill -9 $$"],
  ["is not whole", "cd ..; export FOO='no"],
])("a command that %s leaves the state from before", (_, command) => {
  at.run("cd sub; export FOO=bar");
  at.run(command);
  expect(at.carried()).toEqual({ cwd: join(at.workspace, "sub"), env: { FOO: "bar" }, notes: [] });
});

it("without variables a command changes the folder alone", () => {
  at.run("export FOO=bar");
  at.run("export FOO=other TOKEN=secret; cd sub", { variables: false });
  expect(at.carried()).toEqual({ cwd: join(at.workspace, "sub"), env: { FOO: "bar" }, notes: [] });
  at.run("grep -rl secret /run/sess >found; cd ..", { variables: false });
  expect(readFileSync(join(at.workspace, "sub", "found"), "utf8")).toBe("");
});
