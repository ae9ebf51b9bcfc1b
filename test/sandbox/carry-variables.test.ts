import fc from "fast-check";
import { afterEach, beforeEach, expect, it } from "vitest";
import { keepable } from "../../src/sandbox/variables.ts";
import { GIVEN, type Talk, talk } from "./carry-kit.ts";

let at: Talk;

beforeEach(() => {
  at = talk();
});
afterEach(() => at.end());

const FORBIDDEN = [
  ...["LD_PRELOAD", "LD_LIBRARY_PATH", "LD_AUDIT", "GLIBC_TUNABLES", "GCONV_PATH", "LOCPATH", "NLSPATH", "MALLOC_CHECK_"],
  ...["BASH_ENV", "ENV", "SHELLOPTS", "BASHOPTS", "BASH_LOADABLES_PATH", "PS0", "PS4", "PROMPT_COMMAND", "IFS", "CDPATH", "GLOBIGNORE"],
  ...["HISTFILE", "TMOUT", "POSIXLY_CORRECT", "HOME", "USER", "SHELL", "XDG_CONFIG_HOME", "TERMINFO", "TERMINFO_DIRS"],
  ...["GIT_DIR", "GIT_SSH_COMMAND", "GIT_EXTERNAL_DIFF", "PAGER", "GIT_PAGER", "MANPAGER"],
  ...[
    "EDITOR",
    "GIT_EDITOR",
    "VISUAL",
    "BROWSER",
    "LESSOPEN",
    "LESSCLOSE",
    "LESS",
    "SSH_ASKPASS",
    "RSYNC_RSH",
    "TAR_OPTIONS",
    "RIPGREP_CONFIG_PATH",
  ],
  ...["NODE_OPTIONS", "NODE_PATH", "NODE_EXTRA_CA_CERTS", "npm_config_script_shell", "PYTHONPATH", "PYTHONSTARTUP", "PERL5OPT", "PERL5LIB"],
  ...["PERLLIB", "RUBYOPT", "RUBYLIB", "JAVA_TOOL_OPTIONS", "_JAVA_OPTIONS", "JDK_JAVA_OPTIONS", "CLASSPATH", "MAKEFLAGS", "GNUMAKEFLAGS"],
  ...["CARGO_BUILD_RUSTC_WRAPPER", "RUSTC_WRAPPER", "RUSTC_WORKSPACE_WRAPPER", "RUSTFLAGS", "GOFLAGS", "OPENSSL_CONF", "SSL_CERT_FILE"],
  ...["SSL_CERT_DIR", "http_proxy", "HTTPS_PROXY", "ALL_PROXY", "no_proxy", "KRB5_CONFIG"],
];
const ALLOWED = [
  ...[
    "FOO",
    "NODE_ENV",
    "CC",
    "CXX",
    "CFLAGS",
    "JAVA_HOME",
    "GOPATH",
    "VIRTUAL_ENV",
    "CARGO_TARGET_DIR",
    "RUST_BACKTRACE",
    "TMPDIR",
    "LC_ALL",
  ],
  ...["TZ", "DEBUG", "DATABASE_URL", "DJANGO_SETTINGS_MODULE", "env", "home", "user", "path", "x", "_x", "__proto__", "constructor"],
];

it.each(FORBIDDEN)("%s is never carried; its name is told, its value is not", (name) => {
  for (const value of ["wicked", "", "/bin/true"]) {
    const { env, notes } = keepable(new Map([[name, value]]), GIVEN);
    expect(env).toEqual({});
    expect(notes).toEqual([`Not kept for the next command: ${name}. Set such variables in the command that needs them.`]);
  }
});

it.each(["GIT_CONFIG_GLOBAL", "GIT_CONFIG_COUNT", "GIT_CONFIG_VALUE_2"])("%s is ours: never carried, and not worth a word", (name) => {
  expect(keepable(new Map([[name, "wicked"]]), GIVEN)).toEqual({ env: {}, notes: [] });
});

it.each(ALLOWED)("%s is carried", (name) => {
  const { env, notes } = keepable(new Map([[name, "value"]]), GIVEN);
  expect(Object.entries(env)).toEqual([[name, "value"]]);
  expect(notes).toEqual([]);
});

it("what the sandbox sets itself is no news, and what a command made of it is", () => {
  expect(keepable(new Map(Object.entries(GIVEN)), GIVEN)).toEqual({ env: {}, notes: [] });
  const changed = keepable(new Map(Object.entries({ ...GIVEN, LANG: "de_DE.UTF-8", TERM: "xterm", CI: "", HOME: "/tmp" })), GIVEN);
  expect(changed).toEqual({ env: { LANG: "de_DE.UTF-8", TERM: "xterm", CI: "" }, notes: [expect.stringMatching(/command: HOME\./)] });
});

it("code that would run in every later command does not carry, with real bash", () => {
  at.run("export LD_PRELOAD=/tmp/evil.so BASH_ENV=/tmp/evil GIT_DIR=/tmp ENV=/tmp/evil NODE_OPTIONS=--require=/tmp/x FOO=1");
  expect(at.carried()).toMatchObject({
    env: { FOO: "1" },
    notes: [
      "Not kept for the next command: BASH_ENV, ENV, GIT_DIR, LD_PRELOAD, NODE_OPTIONS. Set such variables in the command that needs them.",
    ],
  });
  expect(at.run("echo $LD_PRELOAD$BASH_ENV$GIT_DIR$ENV$NODE_OPTIONS$FOO").output).toBe("1\n");
  expect(at.carried().notes).toEqual([]);
});

it("functions do not carry, exported or not", () => {
  at.run("ls() { echo evil; }; export -f ls; export FOO=1");
  expect(at.carried()).toEqual({ cwd: at.workspace, env: { FOO: "1" }, notes: [] });
});

it("a changed PATH carries when it has nothing but absolute folders with plain names", () => {
  const before = at.run("echo $PATH").output.trim();
  at.run("export PATH=$PWD/.venv/bin:$PATH");
  const changed = `${at.workspace}/.venv/bin:${before}`;
  expect(at.carried()).toEqual({ cwd: at.workspace, env: { PATH: changed }, notes: [] });
  expect(at.run("echo $PATH").output.trim()).toBe(changed);
  at.run(`export PATH=${before}`);
  expect(at.carried()).toEqual({ cwd: at.workspace, env: {}, notes: [] });
});

it.each([
  ...[
    "",
    ":/bin",
    "/bin:",
    "/bin::/usr/bin",
    ".",
    "./node_modules/.bin:/bin",
    "bin",
    "~/bin:/bin",
    "/ws/../../bin",
    "/ws/./x",
    "//bin",
    "/ws/x\n",
  ],
  ...["/ws/\u202ebin", "/ws/ü", "/ws/$(x)", "/ws/a;b", "/ws/ x", "/ws/x ", `/${"x".repeat(5000)}`],
])("a PATH of %j is set back, and that is told", (value) => {
  const { env, notes } = keepable(new Map([["PATH", value]]), GIVEN);
  expect(env).toEqual({});
  expect(notes).toEqual([expect.stringMatching(/^PATH was set back/)]);
});

it.each(["/bin", "/bin/:/usr/bin", "/ws/My Project/.venv/bin:/bin", "/opt/node-v24.1.0+x~1/bin", "/ws/.bin", "/ws/..x/y..z"])(
  "a PATH of %j is kept",
  (value) => {
    expect(keepable(new Map([["PATH", value]]), GIVEN)).toEqual({ env: { PATH: value }, notes: [] });
  },
);

it("no variable with a forbidden beginning gets through, whatever its name", () => {
  const start = fc.constantFrom(
    "LD_",
    "BASH_",
    "GIT_",
    "PYTHON",
    "PERL5",
    "NODE_O",
    "GLIBC_",
    "MALLOC_",
    "LESS",
    "RUBY",
    "SSL_CERT_",
    "XDG_",
    "HIST",
    "npm_",
  );
  const rest = fc.stringMatching(/^[A-Za-z0-9_]{0,20}$/);
  fc.assert(
    fc.property(fc.array(fc.tuple(start, rest, fc.string()), { minLength: 1 }), (all) => {
      const { env, notes } = keepable(new Map(all.map(([name, end, value]) => [name + end, value])), GIVEN);
      expect(env).toEqual({});
      expect(notes).toHaveLength(1);
    }),
  );
});

it("a value that is no text is not carried", () => {
  at.run("export FOO=$'\\xff' BAR=1");
  expect(at.carried()).toEqual({ cwd: at.workspace, env: { BAR: "1" }, notes: [expect.stringMatching(/command: FOO\./)] });
});

it("many dropped names are told shortly", () => {
  const many = new Map(Array.from({ length: 50 }, (_, index) => [`LD_${"x".repeat(500)}${index}`, ""]));
  const { notes } = keepable(many, GIVEN);
  expect(notes.join("").length).toBeLessThan(2000);
  expect(notes.join("")).toContain("and 30 more");
});
