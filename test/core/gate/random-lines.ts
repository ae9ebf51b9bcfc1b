import fc from "fast-check";

/** Programs that only log that they were started; see differential.ts. */
export const STUBS = "ls cat grep wc head sort git npm make curl rm touch tool hidden".split(" ");

const name = fc.constantFrom("a.txt", "b.txt", "dir", "dir/c.txt", "new.txt", "x");
const variable = fc.constantFrom("v", "w", "n");
const stub = fc.constantFrom(...STUBS);
const integer = fc.constantFrom("0", "1", "2", "3");

const plainWord = fc.oneof(
  name,
  name.map((one) => `'${one}'`),
  name.map((one) => `"${one}"`),
  name.map((one) => `${one.slice(0, 1)}''${one.slice(1)}`),
  fc.constantFrom("-n", "--long", "$'a\\tb'", "*.txt", "dir/*", "{a,b}.txt", "{1..3}", "\\x", "a\\ b"),
);

const readWord = fc.oneof(
  variable.map((one) => `$${one}`),
  variable.map((one) => `"$${one}"`),
  variable.map((one) => `"\${${one}:-d}"`),
  variable.map((one) => `\${${one}%t}`),
  variable.map((one) => `"\${#${one}}"`),
  variable.map((one) => `"pre-\${${one}}-post"`),
  integer.map((one) => `$((${one} + 1))`),
  variable.map((one) => `$((${one} + 1))`),
  fc.tuple(stub, name).map(([one, arg]) => `$(${one} ${arg})`),
  fc.tuple(stub, name).map(([one, arg]) => `"$(${one} ${arg})"`),
  stub.map((one) => `\`${one}\``),
  stub.map((one) => `<(${one} p)`),
  variable.map((one) => `"\${${one}/a/$(tool r)}"`),
);

const word = fc.oneof({ weight: 3, arbitrary: plainWord }, { weight: 2, arbitrary: readWord });
const words = fc.array(word, { maxLength: 3 }).map((all) => all.join(" "));

const simple = fc.tuple(stub, words).map(([one, rest]) => `${one} ${rest}`.trim());
const spoken = fc.tuple(fc.constantFrom("echo", "printf '%s\\n'"), words).map(([one, rest]) => `${one} ${rest}`.trim());
const assignment = fc
  .tuple(
    variable,
    fc.oneof(
      plainWord.filter((one) => !/[*{]/.test(one)),
      readWord,
      integer,
    ),
  )
  .map(([one, value]) => `${one}=${value}`);
const target = fc.constantFrom("new.txt", "dir/new.txt", '"a.txt"', "$v", '"out-$n"', "/dev/null", "$(echo made.txt)");

const launched = fc
  .tuple(
    fc.constantFrom(
      "env A=1",
      "nice -n 1",
      "timeout 5",
      "nohup",
      "stdbuf -oL",
      "command",
      "builtin command",
      "exec",
      "xargs -r",
      "env -u Z",
    ),
    simple,
  )
  .map(([launcher, line]) => `${launcher} ${line}`);

/** Forms in which something runs that does not look like a command. */
const hidden = fc.constantFrom(
  "test -v 'q[$(hidden)]'",
  "printf -v 'q[$(hidden)]' x",
  "read 'q[$(hidden)]' <<< x",
  "unset 'q[$(hidden)]'",
  "let 'q[$(hidden)]=1'",
  "declare 'q[$(hidden)]=1'",
  "[[ -v 'q[$(hidden)]' ]]",
  "v='q[$(hidden)]'; echo $((v))",
  "v='q[$(hidden)]'; [[ $v -eq 1 ]]",
  "v='$(hidden)'; echo \"${v@P}\"",
  "s=abc; v='q[$(hidden)]'; echo \"${s:v}\"",
  "trap hidden EXIT",
  "trap 'hidden' DEBUG; ls",
  "eval 'hidden x'",
  "v=hidden; $v x",
  "v='hidden x'; $v",
  'set -- hidden; "$@"',
  ". ./f.sh",
  "source f.sh",
  "bash f.sh",
  "sh -c hidden",
  "bash -c 'v=hidden; $v'",
  "echo hidden | bash",
  "bash <<< hidden",
  "mapfile -C hidden -c 1 q < a.txt",
  "find . -maxdepth 0 -exec hidden \\;",
  "echo x | xargs hidden",
  "shopt -s expand_aliases\nalias ls=hidden\nls",
  "ls() { hidden; }; ls",
  "n=1; n=n; ((n++)); cat $n",
  "for v in hidden; do $v; done",
  "IFS=,; v=hidden,x; $v",
  'a=(hidden x); "${a[@]}"',
  "v=h; ${v}idden",
  "hid''den 2>/dev/null",
  "q=([$(hidden)]=1)",
  "{ hidden; } > new.txt",
  "coproc hidden",
);

/** Lines of bash in every form that the gate reads; `depth` bounds how they stand in each other. */
export function randomLine(depth = 2): fc.Arbitrary<string> {
  const small = fc.oneof({ weight: 4, arbitrary: simple }, { weight: 2, arbitrary: spoken }, assignment, launched);
  if (depth === 0) return small;
  const inner = randomLine(depth - 1);
  // A line that ends with a heredoc or a comment cannot stand in front of something.
  const closed = inner.filter((line) => !line.includes("<<"));
  const compound = fc.oneof(
    fc.tuple(closed, fc.constantFrom("&&", "||", ";", "|", "\n"), closed).map(([a, sign, b]) => `${a} ${sign} ${b}`),
    closed.map((line) => `(${line})`),
    closed.map((line) => `{ ${line}; }`),
    fc.tuple(closed, fc.constantFrom(">", ">>", "2>", ">|", "&>"), target).map(([line, sign, to]) => `{ ${line}; } ${sign} ${to}`),
    fc.tuple(simple, fc.constantFrom(">", ">>", "<", "2>"), target).map(([line, sign, to]) => `${line} ${sign} ${to}`),
    fc.tuple(simple, closed, closed).map(([a, b, c]) => `if ${a}; then ${b}; else ${c}; fi`),
    fc.tuple(variable, words, closed).map(([v, all, line]) => `for ${v} in ${all}; do ${line}; done`),
    closed.map((line) => `for ((n = 0; n < 2; n++)); do ${line}; done`),
    closed.map((line) => `while true; do ${line}; break; done`),
    fc.tuple(word, closed).map(([one, line]) => `case ${one} in a*) ${line};; *) tool c;; esac`),
    fc.tuple(closed, words).map(([line, all]) => `f() { ${line}; }; f ${all}`),
    fc.tuple(words).map(([all]) => `g() { tool "$@" "$1"; }; g ${all}`),
    closed.map((line) => `! ${line}`),
    closed.map((line) => `${line} & wait`),
    fc.tuple(assignment, simple).map(([a, line]) => `${a} ${line}`),
    fc.tuple(simple, word).map(([line, one]) => `${line} <<< ${one}`),
    fc.tuple(simple, readWord).map(([line, one]) => `${line} <<EOF\nsome ${one}\nEOF`),
    fc.tuple(simple).map(([line]) => `${line} <<'EOF'\n$(hidden)\nEOF`),
    fc.tuple(word, closed).map(([one, line]) => `[[ ${one} == a* ]] && ${line}`),
    fc.tuple(integer, closed).map(([one, line]) => `n=${one}; ((n += 2)); ${line}`),
    closed.filter((line) => !line.includes("'")).map((line) => `bash -c '${line}'`),
    fc.tuple(fc.constantFrom("cd dir", "cd ..", "cd dir && cd .."), closed).map(([a, b]) => `${a}; ${b}`),
    simple.map((line) => `coproc ${line}`),
    hidden,
  );
  return fc.oneof({ weight: 1, arbitrary: small }, { weight: 4, arbitrary: compound });
}
