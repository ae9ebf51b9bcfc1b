import { spawnSync } from "node:child_process";
import { chmodSync, existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import fc from "fast-check";
import { parse } from "unbash";
import { judge, readLine } from "../../../src/core/gate.ts";
import type { Arg } from "../../../src/core/gate/args.ts";
import { children, type SyntaxNode } from "../../../src/core/gate/parse.ts";
import type { Place } from "../../../src/core/ports.ts";
import { randomLine, STUBS } from "./random-lines.ts";

/** Real programs that start others; everything else on the PATH is a stub. */
const REAL = "bash sh env nice timeout nohup stdbuf xargs find".split(" ");
const FILES: [string, string][] = [
  ["a.txt", "1\n"],
  ["b.txt", "2\n"],
  ["dir/c.txt", "3\n"],
  ["f.sh", "hidden sourced\n"],
];

export interface Differences {
  lines: number;
  /** Lines that ran by themselves. */
  auto: number;
  /** What bash did in them that the gate had not listed. */
  unlisted: string[];
  /** How often each kind of syntax node was met. */
  kinds: Map<string, number>;
}

/**
 * Runs generated lines with the real bash, in a folder of their own and with stubs that log how they are started, and
 * compares that, and the files afterwards, with what the gate lists for the lines that it would let run.
 */
export function compare(count: number, seed: number): Differences {
  const stand = makeStand();
  const ran: { line: string; place: Place; log: string }[] = [];
  const found: Differences = { lines: 0, auto: 0, unlisted: [], kinds: new Map() };
  try {
    for (const line of fc.sample(randomLine(), { seed, numRuns: count })) {
      found.lines += 1;
      countKinds(line, found.kinds);
      const place: Place = { workspace: stand.workspace, cwd: stand.workspace, posture: "careful" };
      if (judge(line, place).verdict !== "auto") continue;
      found.auto += 1;
      const log = join(stand.logs, String(found.auto));
      ran.push({ line, place, log });
      found.unlisted.push(...tryLine(line, place, stand, log));
    }
    // Only now, as what stands in `<( )` may outlive the line.
    for (const one of ran) found.unlisted.push(...unlistedStarts(one.line, one.place, one.log));
  } finally {
    rmSync(stand.root, { recursive: true, force: true });
  }
  return found;
}

interface Stand {
  root: string;
  workspace: string;
  bin: string;
  logs: string;
}

function makeStand(): Stand {
  const root = mkdtempSync(join(tmpdir(), "gate-"));
  const stand = { root, workspace: join(root, "ws"), bin: join(root, "bin"), logs: join(root, "logs") };
  for (const folder of [stand.bin, stand.logs]) mkdirSync(folder);
  const script = join(stand.bin, "stub");
  // One write a start, so that commands that run at once do not mix their words.
  const text = `#!/bin/bash\nprintf -v line '%q\\t' "\${0##*/}" "$@"\necho "$line" >> "$STUB_LOG"\necho 1\n`;
  writeFileSync(script, text);
  chmodSync(script, 0o755);
  for (const name of STUBS) symlinkSync(script, join(stand.bin, name));
  for (const name of REAL) symlinkSync(existsSync(`/usr/bin/${name}`) ? `/usr/bin/${name}` : `/bin/${name}`, join(stand.bin, name));
  return stand;
}

function tryLine(line: string, place: Place, stand: Stand, log: string): string[] {
  rmSync(stand.workspace, { recursive: true, force: true });
  mkdirSync(join(stand.workspace, "dir"), { recursive: true });
  for (const [name, text] of FILES) writeFileSync(join(stand.workspace, name), text);
  writeFileSync(log, "");
  spawnSync("/bin/bash", ["--norc", "--noprofile", "-c", line], {
    cwd: stand.workspace,
    env: { PATH: stand.bin, HOME: stand.root, STUB_LOG: log },
    stdio: "ignore",
    timeout: 10_000,
  });
  const { written } = readLine(line, place);
  const wrong: string[] = [];
  for (const path of changedIn(stand.workspace)) {
    const listed = [...written].some(
      (one) => one === path || (/[*?]/.test(one) && path.startsWith(stand.workspace)) || sameShape(one, path),
    );
    // `nohup` writes beside the line when there is no terminal; it is known to change something.
    if (!listed && !path.endsWith("/nohup.out")) wrong.push(`${JSON.stringify(line)} changed ${path}`);
  }
  return wrong;
}

function unlistedStarts(line: string, place: Place, log: string): string[] {
  const { lowered } = readLine(line, place);
  const started = startedIn(log).filter((argv) => !lowered.some((one) => couldBe(one.argv, argv)));
  return started.map((argv) => `${JSON.stringify(line)} started ${JSON.stringify(argv)}`);
}

/** `out-0` stands for `out-` and some integer. */
function sameShape(one: string, path: string): boolean {
  return one.replace(/\d+/g, "#") === path.replace(/\d+/g, "#");
}

/** Whether a command that the gate lists may be the one that ran: what it knows of the words must be right. */
function couldBe(listed: Arg[], argv: string[]): boolean {
  const [name, ...args] = listed;
  if (name === undefined || name.value !== argv[0]) return false;
  if (args.some((arg) => arg.loose || arg.glob >= 0 || arg.kind === "free")) return true;
  return args.length === argv.length - 1 && args.every((arg, at) => arg.kind !== "literal" || arg.value === argv[at + 1]);
}

function startedIn(log: string): string[][] {
  const rows = readFileSync(log, "utf8")
    .split("\n")
    .filter((row) => row !== "");
  return rows.map((row) => row.split("\t").slice(0, -1).map(unescaped));
}

/** The few forms of `%q` that the generated words need. */
function unescaped(text: string): string {
  if (text === "''") return "";
  const [, ansi] = /^\$'(.*)'$/s.exec(text) ?? [];
  if (ansi !== undefined) return ansi.replaceAll("\\t", "\t").replaceAll("\\n", "\n").replaceAll("\\'", "'");
  return text.replace(/\\(.)/g, "$1");
}

function changedIn(workspace: string): string[] {
  const before = new Map(FILES.map(([name, text]) => [join(workspace, name), text]));
  const changed: string[] = [];
  for (const entry of readdirSync(workspace, { recursive: true, withFileTypes: true })) {
    const path = join(entry.parentPath, entry.name);
    if (entry.isFile() && before.get(path) !== readFileSync(path, "utf8")) changed.push(path);
    before.delete(path);
  }
  return [...changed, ...before.keys()];
}

function countKinds(line: string, kinds: Map<string, number>): void {
  const queue: SyntaxNode[] = [parse(line)];
  for (let node = queue.pop(); node !== undefined; node = queue.pop()) {
    kinds.set(node.type, (kinds.get(node.type) ?? 0) + 1);
    queue.push(...children(node));
  }
}

/** Kinds of nodes that the generated lines must hold, so that the comparison is about all of bash. */
export const KINDS =
  "Statement CompoundList Command Pipeline AndOr If For ArithmeticFor While Case CaseItem Function Subshell BraceGroup Redirected Coproc TestCommand ArithmeticCommand Negation Word Assignment Redirect HereDoc HereString Literal Glob SingleQuoted DoubleQuoted AnsiCQuoted SimpleExpansion ParameterExpansion CommandExpansion ArithmeticExpansion ProcessSubstitution BraceExpansion".split(
    " ",
  );
