import { type Arg, kindArg, literalArg } from "./args.ts";
import { arithmeticWord, evaluated, judgeText } from "./arith.ts";
import { ask, deny, show, type Walk } from "./finding.ts";
import type { Assignment } from "./parse.ts";
import { judgePath } from "./judge-path.ts";
import { without } from "./scope.ts";
import { refusedArgument } from "./secrets.ts";

/** Variables that only say how a program words, counts or colours things, or which of the project's modes is meant. */
const HARMLESS =
  /^(?:CI|DEBUG|NODE_ENV|BABEL_ENV|APP_ENV|RAILS_ENV|RACK_ENV|FLASK_ENV|FLASK_DEBUG|MIX_ENV|ENVIRONMENT|FORCE_COLOR|NO_COLOR|CLICOLOR|CLICOLOR_FORCE|COLOR|TERM|LANG|LANGUAGE|LC_\w+|TZ|COLUMNS|LINES|VERBOSE|QUIET|LOG_LEVEL|LOGLEVEL|PORT|HOST|HOSTNAME|RUST_BACKTRACE|RUST_LOG|CARGO_TERM_COLOR|CARGO_INCREMENTAL|CARGO_BUILD_JOBS|PYTHONUNBUFFERED|PYTHONDONTWRITEBYTECODE|PYTHONHASHSEED|PYTHONIOENCODING|PYTHONUTF8|PY_COLORS|GIT_TERMINAL_PROMPT|GIT_(?:AUTHOR|COMMITTER)_(?:NAME|EMAIL|DATE)|GIT_OPTIONAL_LOCKS|NODE_NO_WARNINGS|NODE_DISABLE_COLORS|GOOS|GOARCH|CGO_ENABLED|GOMAXPROCS|GODEBUG|DEBIAN_FRONTEND|DOTNET_CLI_TELEMETRY_OPTOUT|DOTNET_NOLOGO|NEXT_TELEMETRY_DISABLED|HUSKY|SKIP|SEED|JOBS|MAKEFLAGS_JOBS|CMAKE_BUILD_PARALLEL_LEVEL|CMAKE_BUILD_TYPE|CTEST_OUTPUT_ON_FAILURE|BASH_SILENCE_DEPRECATION_WARNING)$/;
/** Variables that make some program run, load or look up something else. */
const POWERFUL_NAMES = new Set(
  "PATH IFS HOME PWD OLDPWD CDPATH ENV SHELL SHELLOPTS BASHOPTS GLOBIGNORE FIGNORE INPUTRC TMPDIR TEMP TMP COMSPEC TERMCAP CC CXX CPP LD AR AS FC NM RANLIB STRIP VISUAL BROWSER CLASSPATH PHPRC EXINIT VIMINIT NLSPATH LOCPATH TZDIR HOSTALIASES GETCONF_DIR WGETRC ZDOTDIR POSIXLY_CORRECT BASH_ENV".split(
    " ",
  ),
);
/** Families of them, and endings that such variables usually have. */
const POWERFUL =
  /^(?:BASH_|PS[0-4]$|PROMPT|HIST|TERMINFO|MALLOC|GCONV|SUDO|LD_|DYLD_|GIT|LESS|MAN[A-Z_]|NODE|NPM|YARN|PNPM|PYTHON|PIP|UV_|VIRTUAL|CONDA|PERL|RUBY|GEM|BUNDLE|JAVA|_JAVA|JDK|JVM|M2_|MAVEN|MVN|GRADLE|KOTLIN|SCALA|CARGO|RUST|GCC_|GO(?:[A-Z]{3,}$|_)|MAKE|GNUMAKE|MFLAGS|CMAKE|TAR_|ZIP|GREP|RIPGREP|FZF|SSH|RSYNC|CURL|WGET|DOCKER|BUILDKIT|COMPOSE|KUBE|HELM|TF_|AWS_|AZURE|GOOGLE_|CLOUDSDK|OPENSSL|SSL_|DOTNET|CORECLR|COMPLUS|MSBUILD|NUGET|PHP_|LUA|TCL|R_|JULIA|VIM|XDG_|GTK|QT_|GIO|GPG|GNUPG|DBUS|DISPLAY|XAUTH|PG[A-Z]|MYSQL|REDIS_|MONGO_|ELECTRON|CHROME|PUPPETEER|PLAYWRIGHT|DENO|BUN_|SYSTEMD|SVN_|HG|CVS|DEBUGINFOD|[ALMTU]B?SAN_|PKG_CONFIG)|(?:COMMAND|CMD|PAGER|EDITOR|OPTS?|OPTIONS|ARGS|FLAGS|WRAPPER|HOOKS?|EXEC|LAUNCHER|RUNNER|SHELL|PATH|LIB|RC|CONFIG|PROXY|ASKPASS|PLUGINS?|PRELOAD|SCRIPT|HANDLER|OPEN|CLOSE|PROGRAM|VIEWER|LOADER|AGENT|RSH)$|%/i;
/** The few in small letters; others are the line's own. */
const POWERFUL_SMALL = /^(?:npm|yarn|pnpm|pip|git|gem|ld|module)_|_?proxy$|^(?:cdpath|fpath)$/;
/** Compilers by their usual names, and flags that only say how to compile. */
const COMPILER = /^(?:CC|CXX|CPP|LD|AR)=(?:gcc|g\+\+|clang|clang\+\+|cc|c\+\+|ld|lld|ar)(?:-\d+)?$/;
const PLAIN_FLAGS =
  /^(?:C|CXX|CPP|LD)FLAGS=(?: ?-(?:O[0-3sgz]?|g\d?|W[a-z][\w=-]*|std=[\w+]+|D\w+(?:=\w+)?|fsanitize=[\w,]+|fno-[\w-]+|fPIC|pthread|m(?:arch|tune)=[\w-]+|l\w+))*$|^RUSTFLAGS=(?: ?-[DWA] ?[\w:-]+| ?-C ?(?:target-cpu=native|opt-level=\w|debuginfo=\d))*$/;
/** A word, number or list that is neither a path nor a line for a shell. */
const INERT = /^[\w.,:@+%-]*$/;
/** Variables whose value some program hands to a shell. */
const COMMAND =
  /PROMPT_COMMAND|PAGER$|EDITOR$|^VISUAL$|^BROWSER$|COMMAND$|^GIT_(?:SSH|EXTERNAL_DIFF|ASKPASS|PROXY_COMMAND)|^LESS(?:OPEN|CLOSE)$|WRAPPER$|^RSYNC_RSH$/;
const EXPANDED = /^PS[0-4]$/;

/** Judges that a variable gets a value, and remembers it. `forCommand`: for one command alone, whose environment it is. */
export function assign(node: Assignment, value: Arg, forCommand: boolean, walk: Walk): void {
  if (node.index !== undefined) {
    if (walk.scope.maps.has(node.name)) walk.word(node.index, walk);
    else arithmeticWord(node.index, walk);
    judgeInteger(node.name, value, walk);
    walk.scope.lists.delete(node.name);
    walk.scope.vars.set(node.name, null);
    return;
  }
  judgeVariable(node.name, value, forCommand, node.text, walk);
  remember(node.name, value, node.append === true, walk);
}

/** The same for `export NAME=value` and the like. */
export function remember(name: string, value: Arg, append: boolean, walk: Walk): void {
  const old = walk.scope.vars.get(name);
  judgeInteger(name, value, walk);
  const isHome = value.tilde && value.value === "~";
  if (walk.scope.integers.has(name)) walk.scope.vars.set(name, [kindArg("number", `$${name}`)]);
  else if (!append) walk.scope.vars.set(name, value.kind === "free" && !isHome ? null : [value]);
  else if (old?.length === 1 && old[0]?.literal === true && value.literal) {
    walk.scope.vars.set(name, [{ ...value, value: old[0].value + value.value, glob: -1 }]);
  } else walk.scope.vars.set(name, null);
}

export function assignArray(node: Assignment, elements: Arg[], walk: Walk): void {
  judgeVariable(node.name, literalArg(""), false, node.text, walk);
  setArray(node.name, elements, node.append === true, walk);
}

/** An array gets these elements: a subscript before one is calculated, unless the array is one of `declare -A`. */
export function setArray(name: string, elements: Arg[], append: boolean, walk: Walk): void {
  const isMap = walk.scope.maps.has(name);
  const indexed = elements.filter((element) => element.text.startsWith("["));
  for (const element of isMap ? [] : indexed) {
    if (/^\[\d+\]=/.test(element.text)) continue;
    ask(walk, "arith", `the subscript in ${show(element.text)} is calculated`);
    evaluated(element.value, walk);
  }
  for (const element of elements) if (element.glob >= 0) judgePath(element, "names", walk);
  for (const element of elements) judgeInteger(name, indexed.includes(element) ? kindArg("free", element.text) : element, walk);
  const old = walk.scope.lists.get(name);
  const known = !isMap && indexed.length === 0 && elements.every((one) => !one.loose) && (!append || old !== undefined);
  walk.scope.vars.set(name, null);
  if (known) walk.scope.lists.set(name, [...(append ? (old ?? []) : []), ...elements]);
  else walk.scope.lists.delete(name);
}

/** Bash calculates whatever such a variable is set to. */
function judgeInteger(name: string, value: Arg, walk: Walk): void {
  if (!walk.scope.integers.has(name) || value.kind === "number") return;
  if (value.kind === "literal") judgeText(value.value.trim(), walk);
  else ask(walk, "arith", `${show(`$${name}`)} is set to what is calculated, and its value is not known here`);
}

/** `unset`: the name stands for nothing any more. */
export function unsetVariable(name: string, walk: Walk): void {
  walk.scope.maps = without(walk.scope.maps, name);
  if (isPowerful(name)) ask(walk, "env", `the line changes ${show(name)}, and with it what its programs run`);
  walk.scope.vars.set(name, null);
  walk.scope.lists.delete(name);
}

/** Asks about variables that make programs run something else. */
export function judgeVariable(name: string, value: Arg, exported: boolean, text: string, walk: Walk): void {
  if (COMMAND.test(name)) walk.script(value.value, { ...walk, refusalsOnly: true });
  if (EXPANDED.test(name)) evaluated(value.value, { ...walk, refusalsOnly: true });
  const refusal = refusedArgument(value, walk.scope.cwds);
  if (refusal?.code === "escape") deny(walk, refusal.code, `${show(text)} ${refusal.text}`);
  if (name === "IFS") {
    if (!exported && !value.literal) ask(walk, "env", `${show(text)} changes how the line is split into words`);
    return;
  }
  if (/^(?:GIT_|MAN)?PAGER$/.test(name) && /^(?:cat|less|more|)$/.test(value.value) && value.literal) return;
  if (HARMLESS.test(name)) return;
  const whole = `${name}=${value.value}`;
  if (value.kind === "literal" && (COMPILER.test(whole) || PLAIN_FLAGS.test(whole))) return;
  if (isPowerful(name)) {
    ask(walk, "env", `${show(text)} may change what the programs of the line run`);
  } else if (exported && !(value.kind !== "free" && (value.kind !== "literal" || INERT.test(value.value) || isLocal(value.value)))) {
    ask(walk, "env", `the line sets ${show(text)} for what it runs`);
  }
}

/** Whether a variable makes programs run, load or look up something else. */
export function isPowerful(name: string): boolean {
  if (/^[a-z\d_]+$/.test(name)) return POWERFUL_SMALL.test(name);
  return !HARMLESS.test(name) && (POWERFUL_NAMES.has(name) || POWERFUL.test(name));
}

/** An address on this machine, as tests get them. */
function isLocal(value: string): boolean {
  return (
    /^(?:https?|postgres(?:ql)?|mysql|redis|mongodb|amqp):\/\/(?:[\w.-]+(?::[\w.-]*)?@)?(?:localhost|127\.0\.0\.1)(?::\d+)?(?:\/[\w./?=&-]*)?$/.test(
      value,
    ) || /^sqlite:(?:\/\/\/?)?:memory:$/.test(value)
  );
}

/** A variable that a command sets to something that is not known. */
export function forgetVariable(name: string, walk: Walk, kind: "free" | "name" | "number" = "free"): void {
  if (isPowerful(name) && name !== "IFS") ask(walk, "env", `the line changes ${show(name)}, and with it what its programs run`);
  judgeInteger(name, kindArg(kind, `$${name}`), walk);
  walk.scope.vars.set(name, kind === "free" ? null : [kindArg(kind, `$${name}`)]);
  walk.scope.lists.delete(name);
}
