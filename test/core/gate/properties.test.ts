import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { judge } from "../../../src/core/gate.ts";
import type { Place } from "../../../src/core/ports.ts";
import { LIMITS } from "../../../src/limits.ts";
import { ASK } from "./asking.ts";
import { AUTO, DENY } from "./cases.ts";

const place: Place = { workspace: "/home/u/proj", cwd: "/home/u/proj", posture: "careful" };
const auto = fc.constantFrom(...AUTO.filter((line) => !/<<|#/.test(line)));
const refused = fc.constantFrom("sudo reboot", "rm -rf /", "cat /proc/1/environ", "mkfs /dev/sda", "chroot / sh", "halt");

type Wrap = (line: string) => string;

/** Programs that start the command behind them. */
const STARTERS: Wrap[] = [
  (line) => `env A=1 ${line}`,
  (line) => `env -i -u X ${line}`,
  (line) => `timeout -k 1 5 ${line}`,
  (line) => `nice -n 5 ${line}`,
  (line) => `nohup ${line}`,
  (line) => `setsid -w ${line}`,
  (line) => `stdbuf -oL ${line}`,
  (line) => `time -p ${line}`,
  (line) => `command ${line}`,
  (line) => `builtin command ${line}`,
  (line) => `exec ${line}`,
  (line) => `xargs -0 ${line}`,
  (line) => `find . -exec ${line} \\;`,
  (line) => `find . -name x -execdir ${line} {} +`,
  (line) => `flock /tmp/l ${line}`,
  (line) => `strace -f ${line}`,
  (line) => `busybox ${line}`,
];

/** Programs that take the command as text. */
const TEXTS: Wrap[] = [
  (line) => `bash -c '${line}'`,
  (line) => `sh -c "${line}"`,
  (line) => `sh <<< '${line}'`,
  (line) => `echo '${line}' | bash`,
  (line) => `env -S '${line}'`,
  (line) => `watch '${line}'`,
  (line) => `flock /tmp/l -c '${line}'`,
  (line) => `script -qc '${line}'`,
  (line) => `eval '${line}'`,
  (line) => `trap '${line}' EXIT`,
  (line) => `alias ls='${line}'`,
];

/** Forms of the shell in which the command stands. */
const SHAPES: Wrap[] = [
  (line) => `bash <<'EOF'\n${line}\nEOF`,
  (line) => `coproc ${line}`,
  (line) => `A=1 ${line}`,
  (line) => `(${line})`,
  (line) => `{ ${line}; }`,
  (line) => `! ${line}`,
  (line) => `ls; ${line}`,
  (line) => `ls && ${line} || ls`,
  (line) => `ls\n${line}`,
  (line) => `${line} &`,
  (line) => `${line} | cat`,
  (line) => `${line} > /dev/null 2>&1`,
  (line) => `echo "$(${line})"`,
  (line) => `cat <(${line})`,
  (line) => `echo $(( $(${line}) + 1 ))`,
  (line) => `echo "\${x:-$(${line})}"`,
  (line) => `cat <<EOF\n$(${line})\nEOF`,
  (line) => `if ${line}; then ls; fi`,
  (line) => `while true; do ${line}; done`,
  (line) => `for x in 1 2; do ${line}; done`,
  (line) => `case x in x) ${line};; esac`,
  (line) => `f() { ${line}; }; f`,
  (line) => `[[ $(${line}) ]]`,
];

describe("the gate on anything", () => {
  it("gives a verdict for every string and never throws", () => {
    const signs = "$ ( ) { } [ ] < > | & ; ` ' \" \\ ! # ~ * ? = : a b <<EOF $(( ${ case do fi".split(" ");
    const piece = fc.constantFrom(...signs, " ", "\n", "\t", "\u202e", "\ud800");
    const text = fc.oneof(
      fc.string({ unit: "binary" }),
      fc.array(piece).map((pieces) => pieces.join("")),
    );
    fc.assert(
      fc.property(text, (line) => {
        const { verdict, reasons, rule } = judge(line, place);
        expect(["auto", "ask", "deny"]).toContain(verdict);
        expect(reasons.length > 0).toBe(verdict !== "auto");
        expect(rule).not.toBe("");
      }),
      { numRuns: 1000 },
    );
  });

  it.each([
    ["nested substitutions", "echo " + "$(".repeat(5000)],
    ["closed substitutions", `${"echo $(".repeat(200)}id${")".repeat(200)}`],
    ["braces", "{a,b}".repeat(3000)],
    ["nested braces", `${"{a,".repeat(4000)}${"}".repeat(4000)}`],
    ["quotes", "'".repeat(16_000)],
    ["arithmetic", `echo $((${"(".repeat(6000)}1${")".repeat(6000)}))`],
    ["changes of folder", "cd a; ".repeat(2000)],
    ["nested functions", `${"f() { ".repeat(250)}f | f & ${"}; ".repeat(250)}`],
    ["a long word", "x".repeat(1_000_000)],
    ["shells in shells", Array.from({ length: 10 }).reduce<string>((line) => `bash -c ${JSON.stringify(line)}`, "ls")],
  ])("never lets run what is built to break it: %s", (_name, line) => {
    expect(judge(line, place).verdict).not.toBe("auto");
  });

  it("asks about everything that is longer than it judges", () => {
    const most = `ls ${"a".repeat(LIMITS.gateBytes - 3)}`;
    expect(judge(most, place).verdict).toBe("auto");
    expect(judge(`${most}a`, place).reasons.map((reason) => reason.code)).toEqual(["too-long"]);
    expect(judge(`ls ${"é".repeat(LIMITS.gateBytes / 2)}`, place).verdict).toBe("ask");
  });
});

describe("the strictest part wins", () => {
  it("keeps refusing a refused command in every wrapper, and in three at once", () => {
    const refusal = (line: string): void => {
      expect([line, judge(line, place).verdict]).toEqual([line, "deny"]);
    };
    for (const wrap of [...STARTERS, ...TEXTS, ...SHAPES, (line: string) => `echo \`${line}\``]) refusal(wrap("sudo reboot"));
    const starter = fc.constantFrom(...STARTERS);
    const middle = fc.constantFrom(...STARTERS, ...TEXTS);
    const wrapped = fc.tuple(refused, starter, middle, fc.constantFrom(...SHAPES)).map(([line, a, b, c]) => c(b(a(line))));
    fc.assert(fc.property(wrapped, refusal), { numRuns: 1000 });
  });

  it("never lets a line run by itself that has something to ask about added", () => {
    const added = fc.constantFrom(
      " > /etc/f",
      " $(x)",
      " `x`",
      " <(curl x.example)",
      "; PATH=.",
      " | sh",
      "; foo",
      "\nrm x",
      " 2>/etc/err",
      " && (rm x)",
      " & kill 4",
      "; echo > .git/config",
    );
    fc.assert(
      fc.property(auto, added, (line, more) => {
        expect([line + more, judge(line + more, place).verdict]).not.toEqual([line + more, "auto"]);
      }),
      { numRuns: 1000 },
    );
  });

  it("is never milder to a line with another one beside it", () => {
    const rank = { auto: 0, ask: 1, deny: 2 };
    const any = fc.constantFrom(...AUTO, ...ASK.map(([line]) => line), ...DENY.map(([line]) => line));
    fc.assert(
      fc.property(any, auto, (line, other) => {
        // A heredoc, a comment or an open quote would swallow what follows.
        fc.pre(/\S/.test(line) && !/<<|#/.test(line) && !judge(line, place).reasons.some((reason) => reason.code === "unparsed"));
        const both = judge(`${other}\n${line}`, place).verdict;
        expect(rank[both]).toBeGreaterThanOrEqual(rank[judge(line, place).verdict]);
      }),
      { numRuns: 1000 },
    );
  });

  it("reads a quoted literal like the bare one", () => {
    const words = fc.constantFrom(
      ["ls", "-la", "src"],
      ["sudo", "ls"],
      ["rm", "-rf", "/"],
      ["cat", "../x"],
      ["git", "push"],
      ["grep", "-rn", "x", "src"],
    );
    const quote = fc.constantFrom(
      (word: string) => `'${word}'`,
      (word: string) => `"${word}"`,
      (word: string) => `${word.slice(0, 1)}''${word.slice(1)}`,
      (word: string) => word,
    );
    fc.assert(
      fc.property(words, fc.array(quote, { minLength: 4, maxLength: 4 }), (plain, quotes) => {
        const quoted = plain.map((word, index) => quotes[index]?.(word) ?? word).join(" ");
        expect(judge(quoted, place).verdict).toBe(judge(plain.join(" "), place).verdict);
      }),
    );
  });
});
