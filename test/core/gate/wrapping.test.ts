import { spawnSync } from "node:child_process";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { judge } from "../../../src/core/gate.ts";
import { labelled, PLACE } from "./lines.ts";

const SEED = 20_261_130;
const RANK = { auto: 0, ask: 1, deny: 2 };
const rank = (line: string): number => RANK[judge(line, PLACE).verdict];
const lines = [...labelled("risk-corpus"), ...labelled("own-corpus")].map((one) => one.command);
// A heredoc, a comment or a line that is not read would swallow what is put behind it.
const whole = lines.filter((line) => !/<<|#|\n/.test(line) && !judge(line, PLACE).reasons.some((reason) => reason.code === "unparsed"));
// `cd` in a shell of its own, or as a program, leads nowhere; and these have no meaning outside of the line's own shell.
const shellOnly =
  /\b(?:cd|pushd|popd|shift|set|read|declare|typeset|local|export|readonly|unset|alias|trap|exit|eval|let|mapfile|printf -v|exec|source|return|complete|enable|hash|fc|bind|shopt|history)\b|^\.|[=(){}!;&|]|\$[@*\d]|^(?:time|for|if|case|while|until|coproc|builtin|command|\[\[)\b/;

const quoted = (line: string): string => `'${line.replaceAll("'", "'\\''")}'`;

const WRAPS: [name: string, wrap: (line: string) => string][] = [
  ["bash -c", (line) => `bash -c ${quoted(line)}`],
  ["a subshell", (line) => `( ${line} )`],
  ["a group", (line) => `{ ${line}; }`],
  ["a substitution", (line) => `echo "$( ${line} )"`],
  ["a pipe into cat", (line) => `{ ${line}; } | cat`],
  ["eval", (line) => `eval ${quoted(line)}`],
  ["a loop", (line) => `for _i in 1 2; do ${line}; done`],
  ["a while loop", (line) => `while true; do ${line}; break; done`],
  ["a function", (line) => `_f() { ${line}; }; _f`],
  ["a condition", (line) => `if true; then ${line}; fi`],
  ["a case", (line) => `case x in x) ${line};; esac`],
  ["a negation", (line) => `! { ${line}; }`],
  ["a background", (line) => `{ ${line}; } & wait`],
  ["a process substitution", (line) => `cat <( ${line} )`],
  ["a shell's input", (line) => `bash <<< ${quoted(line)}`],
];

describe("a line in something else", () => {
  it.each(WRAPS)("is never judged milder in %s", (_name, wrap) => {
    for (const line of whole) {
      // Arguments of the surrounding shell have another meaning in a new one or in a function.
      if (/\$[@*\d]|\$\{[@*\d]|^set --|;\s*shift/.test(line)) continue;
      const wrapped = wrap(/&\s*$/.test(line) ? `${line} true` : line);
      expect([wrapped, rank(wrapped) >= rank(line)]).toEqual([wrapped, true]);
    }
  });

  it("is never judged milder behind env, for a single command", () => {
    for (const line of whole.filter((one) => !shellOnly.test(one) && !/^[\w]+=/.test(one))) {
      const wrapped = `env A=1 ${line}`;
      expect([wrapped, rank(wrapped) >= rank(line)]).toEqual([wrapped, true]);
    }
  });

  it("is never judged milder with a harmless command behind or in front of it", () => {
    for (const line of whole) {
      for (const more of [`${line}${/&\s*$/.test(line) ? "" : ";"} ls`, `ls; ${line}`, `${line}\nls`]) {
        expect([more, rank(more) >= rank(line)]).toEqual([more, true]);
      }
    }
  });

  it("is never judged milder in two wraps at once", () => {
    const wrap = fc.constantFrom(...WRAPS.map(([, one]) => one));
    const usable = whole.filter((line) => !/\$[@*\d]|\$\{[@*\d]|&\s*$|^set --/.test(line));
    fc.assert(
      fc.property(fc.constantFrom(...usable), wrap, wrap, (line, inner, outer) => {
        const wrapped = outer(inner(line));
        expect([wrapped, rank(wrapped) >= rank(line)]).toEqual([wrapped, true]);
      }),
      { numRuns: 1_500, seed: SEED },
    );
  });
});

describe("quotes", () => {
  it("around a literal word never change the verdict", () => {
    const plain = whole.filter(
      (line) =>
        /^[\w./-]+(?: [\w./:@=,-]+)*$/.test(line) && !/^(?:time|coproc|if|for|while|until|case|function|select)\b|(?:^| )\w+=|~/.test(line),
    );
    const quote = fc.constantFrom<(word: string) => string>(
      (word) => `'${word}'`,
      (word) => `"${word}"`,
      (word) => `${word.slice(0, 1)}""${word.slice(1)}`,
      (word) => `\\${word}`,
      (word) => `$'${word}'`,
      (word) => word,
    );
    fc.assert(
      fc.property(fc.constantFrom(...plain), fc.array(quote, { minLength: 8, maxLength: 8 }), (line, quotes) => {
        const changed = line
          .split(" ")
          .map((word, at) => quotes[at % quotes.length]?.(word) ?? word)
          .join(" ");
        expect([changed, judge(changed, PLACE).verdict]).toEqual([changed, judge(line, PLACE).verdict]);
      }),
      { numRuns: 2_000, seed: SEED },
    );
  });
});

describe("a line that bash rejects", () => {
  it("never runs by itself, however a good line was broken", () => {
    const broken = mutations(400).filter((line) => judge(line, PLACE).verdict === "auto");
    // Many lines at a time: bash reads each as a script of its own.
    const rejected = broken.filter((line) => spawnSync("bash", ["-O", "extglob", "-n"], { input: line, timeout: 20_000 }).status !== 0);
    expect(rejected).toEqual([]);
  });

  /** Lines with a piece cut off, taken out or put in. */
  function mutations(count: number): string[] {
    const piece = fc.constantFrom(
      "'",
      '"',
      "(",
      ")",
      "{",
      "}",
      ";",
      "|",
      "&&",
      "<",
      ">",
      "`",
      "$(",
      "fi",
      "done",
      "do",
      "esac",
      "\\",
      "<<E",
      "[[",
      "$((",
      "&",
      "||",
      "!",
    );
    const cut = fc.tuple(fc.constantFrom(...whole), fc.nat(200)).map(([line, at]) => line.slice(0, at % (line.length + 1)));
    const without = fc
      .tuple(fc.constantFrom(...whole), fc.nat(200))
      .map(([line, at]) => line.slice(0, at % line.length) + line.slice((at % line.length) + 1));
    const withMore = fc
      .tuple(fc.constantFrom(...whole), fc.nat(200), piece)
      .map(([line, at, more]) => `${line.slice(0, at % (line.length + 1))}${more}${line.slice(at % (line.length + 1))}`);
    return fc.sample(fc.oneof(cut, without, withMore), { numRuns: count, seed: SEED });
  }
});
