import { Buffer } from "node:buffer";
import type { Carried } from "../core/sandbox.ts";

/** Of bash's own: made anew for each command. */
const BASH_OWN = new Set(["PWD", "OLDPWD", "SHLVL", "_"]);

/**
 * Variables that make a program start another one, or load code or settings, that neither a later command's line nor
 * the workspace names; that are the sandbox's to say; or that change how bash and the supervisor read. Not among them:
 * CC, CXX, JAVA_HOME, GOPATH and the like, which only come into play where the workspace's own code runs anyway;
 * VIRTUAL_ENV and NODE_ENV, which are daily work; TMPDIR, from which nothing is started.
 */
const NEVER = new RegExp(
  `^(?:${[
    // The loader and the C library: code and settings for every program.
    ...["LD_.*", "GLIBC_.*", "GCONV_PATH", "GETCONF_DIR", "LOCPATH", "NLSPATH", "MALLOC_.*", "HOSTALIASES", "LOCALDOMAIN", "RES_OPTIONS"],
    ...["RESOLV_.*", "TZDIR"],
    // Shells.
    ...["BASH.*", "ENV", "SHELLOPTS", "PS[0-9]", "PROMPT_.*", "IFS", "CDPATH", "GLOBIGNORE", "GLOBSORT", "EXECIGNORE", "FIGNORE"],
    ...["POSIXLY_CORRECT", "TMOUT", "FUNCNEST", "HIST.*", "INPUTRC", "ZDOTDIR", "FPATH", "E?UID", "PPID"],
    // Who one is, and where settings are looked for.
    ...["HOME", "USER", "LOGNAME", "SHELL", "XDG_.*", "TERMINFO.*", "TERMCAP"],
    // Programs that others start: pagers, editors, askers, remote shells.
    ...[".*PAGER", ".*EDITOR", "VISUAL", "BROWSER", "FCEDIT", "LESS.*", "MANOPT", "MANROFFOPT", ".*ASKPASS", "(?:.*_)?RSH", "SVN_SSH"],
    ...["SSH_.*", "GNUPGHOME", "VIMINIT", "EXINIT", "MYVIMRC", "VIMRUNTIME"],
    // Options from outside of the line, some of which start programs.
    ...["GIT_.*", "HGRCPATH", "TAR_OPTIONS", "RIPGREP_CONFIG_PATH", "FZF_.*", "BAT_.*", "WGETRC", "CURL_HOME", "RSYNC_.*", "SUDO_.*"],
    // Interpreters: code before the program's own, and other places for its parts.
    ...["NODE_(?!ENV$).*", "(?:npm|NPM|YARN|PNPM|COREPACK|BUN|DENO|TS_NODE)_.*", "PYTHON.*", "(?:PIP|UV|PYTEST|TOX)_.*", "PERL.*"],
    ...["RUBY.*", "(?:GEM|BUNDLE)_.*", "PHPRC", "PHP_INI_SCAN_DIR", "LUA_.*", "AWK(?:LIB)?PATH", "_?JAVA_(?:TOOL_)?OPT(?:ION)?S"],
    ...["JDK_JAVA_OPTIONS", "CLASSPATH", "(?:MAVEN|GRADLE|SBT|ANT)_(?:.*_)?(?:OPTS|ARGS)"],
    // Builds: flags and wrappers.
    ...["(?:GNU)?MAKE(?:FLAGS|FILES)", "MFLAGS", "(?:.*_)?(?:WRAPPER|LAUNCHER)", "CARGO_(?!TARGET_DIR$|TERM_COLOR$).*", "RUSTC", "RUSTDOC"],
    ...["(?:RUST|RUSTDOC)FLAGS", "GO(?:FLAGS|ENV|ROOT|TOOLCHAIN|TOOLDIR|PROXY|SUMDB|VCS|INSECURE)", "GCC_EXEC_PREFIX", "COMPILER_PATH"],
    // The network, and whom to believe there.
    ...[".*_(?:PROXY|proxy)", "OPENSSL_.*", "SSL_CERT_.*", "SSLKEYLOGFILE", ".*_CA_BUNDLE", "KRB5.*", "SASL_PATH"],
    // Modules of desktop libraries.
    ...["GTK_.*", "GIO_.*", "GST_.*", "QT_.*", "DBUS_.*"],
  ].join("|")})$`,
);

/** One line of `export -p`, in bash's own form or POSIX's, a byte a character: flags, name, value in one quoting or the other. */
const EXPORT =
  /(?:declare|export)(?: -(\w+))? ([A-Za-z_]\w*)(?:=(?:"([^"\\]*(?:\\[^][^"\\]*)*)"|\$'([^'\\]*(?:\\[^][^'\\]*)*)'|\(.*\)))?\n/y;

const ESCAPES: Record<string, string> = { a: "\x07", b: "\b", e: "\x1b", E: "\x1b", f: "\f", n: "\n", r: "\r", t: "\t", v: "\v" };

/**
 * The variables in what `export -p` prints; null: not what it prints. A value is null when no program could get it as
 * text: no UTF-8, or with a NUL. What has no value or holds more than one (arrays, references) is left out, as bash does.
 */
export function readExports(body: string): Map<string, string | null> | null {
  const found = new Map<string, string | null>();
  for (EXPORT.lastIndex = 0; EXPORT.lastIndex < body.length; ) {
    const match = EXPORT.exec(body);
    if (match === null) return null;
    const [, flags = "", name = "", plain, escaped] = match;
    const value = plain?.replace(/\\([$`"\\])/g, "$1") ?? escaped?.replace(/\\(?:([0-7]{1,3})|([^]))/g, unescaped);
    if (value !== undefined && !flags.includes("n")) found.set(name, text(value));
  }
  return found;
}

function unescaped(_: string, octal: string | undefined, sign = ""): string {
  return octal === undefined ? (ESCAPES[sign] ?? sign) : String.fromCharCode(Number.parseInt(octal, 8) & 0xff);
}

function text(bytes: string): string | null {
  const value = Buffer.from(bytes, "latin1");
  const decoded = value.toString("utf8");
  return value.equals(Buffer.from(decoded)) && !value.includes(0) ? decoded : null;
}

/** What of a command's variables the next one gets, and what is said of the others; their values never are. */
export function keepable(
  exported: ReadonlyMap<string, string | null>,
  given: Readonly<Record<string, string>>,
): Pick<Carried, "env" | "notes"> {
  const news = [...exported].filter(([name, value]) => !BASH_OWN.has(name) && value !== given[name]);
  const kept = news.flatMap(([name, value]): [string, string][] => (value !== null && may(name, value) ? [[name, value]] : []));
  const env = Object.fromEntries(kept);
  // How many settings Git is given differs from run to run.
  const ours = (name: string): boolean => name === "PATH" || name.startsWith("GIT_CONFIG_");
  const dropped = news.flatMap(([name]) => (ours(name) || Object.hasOwn(env, name) ? [] : [name]));
  const notes: string[] = [];
  if (dropped.length > 0)
    notes.push(`Not kept for the next command: ${listed(dropped)}. Set such variables in the command that needs them.`);
  if (news.some(([name]) => name === "PATH") && !Object.hasOwn(env, "PATH"))
    notes.push("PATH was set back: it is kept when it has nothing but absolute folders with plain names.");
  return { env, notes };
}

function may(name: string, value: string): boolean {
  return name === "PATH" ? isPlainPath(value) : !NEVER.test(name);
}

/** People read it on a card before they approve: nothing that hides, and nothing that depends on the folder. */
function isPlainPath(value: string): boolean {
  const entries = value.split(":");
  return value.length <= 4096 && entries.every((entry) => /^(?:\/(?!\.{1,2}(?:\/|$))[\w.+@=~,%-]+(?: [\w.+@=~,%-]+)*)+\/?$/.test(entry));
}

function listed(names: string[]): string {
  const shown = names.slice(0, 20).map((name) => (name.length > 60 ? `${name.slice(0, 60)}…` : name));
  return shown.join(", ") + (names.length > 20 ? ` and ${names.length - 20} more` : "");
}
