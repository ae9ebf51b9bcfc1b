import { execFileSync } from "node:child_process";
import { existsSync, mkdirSync, readFileSync, rmdirSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import fc from "fast-check";
import { afterEach, beforeEach, expect, it } from "vitest";
import { readCarried } from "../../src/sandbox/carry.ts";
import { readExports } from "../../src/sandbox/variables.ts";
import { GIVEN, type Talk, talk } from "./carry-kit.ts";

let at: Talk;

beforeEach(() => {
  at = talk();
});
afterEach(() => at.end());

/** Writes a record as a command would. */
function leave(kind: "cwd" | "env", body: string | Uint8Array): void {
  rmSync(join(at.sess, `${kind}-1`), { force: true, recursive: true });
  writeFileSync(join(at.sess, `${kind}-0`), Buffer.concat([Buffer.from("1\0"), Buffer.from(body), Buffer.from("\0=1\0")]));
}

it.each([
  ["links to a file of the host's", "ln -s /etc/passwd"],
  ["links to nowhere", "ln -s /nowhere"],
  ["FIFOs", "mkfifo"],
  ["folders", "mkdir"],
  ["a device", "ln -s /dev/zero"],
])("%s instead of the state are not read, not waited for and not written, and that is said", (_, make) => {
  at.run("cd sub; export FOO=bar");
  at.run(`for f in cwd-0 cwd-1 env-0 env-1; do rm -f /run/sess/$f; ${make} /run/sess/$f; done`);
  const lost = {
    cwd: at.workspace,
    env: {},
    notes: [expect.stringMatching(/could not be read/), expect.stringMatching(/could not be read/)],
  };
  expect(at.carried()).toEqual(lost);
  expect(at.run("cd sub; export FOO=bar; pwd")).toEqual({ exit: 0, output: `${at.workspace}/sub\n` });
  expect(at.carried()).toEqual(lost);
});

it("with one of two files spoilt the other one does", () => {
  at.run("rm -f /run/sess/*; mkfifo /run/sess/cwd-1 /run/sess/env-1");
  for (const name of ["a", "b", "c", "d"]) {
    at.run(`mkdir ../${name} ${name}; cd ${name}; export FOO=${name}`);
    expect(at.carried()).toMatchObject({ cwd: expect.stringMatching(new RegExp(`/${name}$`)), env: { FOO: name } });
  }
});

it("a link planted by one command is not what the next one writes to", () => {
  const precious = join(at.workspace, "precious");
  writeFileSync(precious, "as it was");
  at.run(`trap true EXIT; for f in cwd-0 cwd-1 env-0 env-1; do ln -sf ${precious} /run/sess/$f; done`);
  at.run("cd sub; export FOO=bar");
  expect(readFileSync(precious, "utf8")).toBe("as it was");
});

it("a folder that is gone is told of, and commands start in the workspace again", () => {
  at.run("mkdir -p x/y; cd x/y");
  rmdirSync(join(at.workspace, "x/y"));
  const note = "The folder that you were in (x/y) is gone; commands start in the workspace again.";
  expect(at.carried()).toEqual({ cwd: at.workspace, env: {}, notes: [note] });
  at.run("mkdir -p x/y; cd x/y; rmdir ../y");
  expect(at.carried()).toEqual({ cwd: at.workspace, env: {}, notes: [note] });
});

it("a folder that was moved while a command was in it is the one that counts", () => {
  at.run("mkdir x; cd x; mv ../x ../z");
  expect(at.carried()).toEqual({ cwd: join(at.workspace, "z"), env: {}, notes: [] });
});

it("a folder outside of the workspace is told of, and commands start in the workspace again", () => {
  at.run("ln -s /tmp out; cd out");
  expect(at.carried()).toEqual({
    cwd: at.workspace,
    env: {},
    notes: ["The folder that you were in (/tmp) is not in the workspace; commands start in the workspace again."],
  });
});

it("a folder that has become a link, or lies behind one, is not followed", () => {
  symlinkSync("/etc", join(at.workspace, "etc"));
  for (const path of ["etc", "etc/ssl", "sub/../etc"]) {
    leave("cwd", `${at.workspace}/${path}\n`);
    expect(at.carried()).toMatchObject({ cwd: at.workspace, notes: [expect.stringMatching(/has become a link/)] });
  }
});

it.each([
  ["no path", "", /not in the workspace/],
  ["a relative one", "sub\n", /not in the workspace/],
  ["one with a way up", "WS/sub/../..\n", /not in the workspace/],
  ["a neighbour with a similar name", "WS2\n", /not in the workspace/],
  ["signs that are not seen", "WS/sub\u202e\n", /name that cannot be kept/],
  ["two lines", "WS/sub\nrm -rf\n", /name that cannot be kept/],
  ["too long", `WS/${"x".repeat(4096)}\n`, /could not be read/],
  ["a file", "WS/file\n", /no folder any more/],
  ["a folder in a file", "WS/file/sub\n", /is gone/],
  ["a name longer than any", `WS/${"x".repeat(300)}\n`, /cannot be reached/],
])("%s is no folder to start in", (_, body, note) => {
  writeFileSync(join(at.workspace, "file"), "");
  mkdirSync(`${at.workspace}2`);
  leave("cwd", body.replace("WS", at.workspace));
  expect(at.carried()).toMatchObject({ cwd: at.workspace, notes: [expect.stringMatching(note)] });
});

it("a folder whose name is no UTF-8 is no folder to start in", () => {
  leave("cwd", Buffer.concat([Buffer.from(`${at.workspace}/`), Buffer.from([0xff, 0x0a])]));
  expect(at.carried()).toMatchObject({ cwd: at.workspace, notes: [expect.stringMatching(/name that cannot be kept/)] });
});

it.each([
  ["too many variables", "for i in {1..201}; do export V$i=1; done"],
  ["too much in them", "export V=$(printf %70000s x)"],
])("%s: those from before stay, and that is said", (_, command) => {
  at.run("export FOO=bar");
  at.run(command);
  expect(at.carried()).toEqual({ cwd: at.workspace, env: { FOO: "bar" }, notes: [expect.stringMatching(/too much to keep/)] });
  at.run("true");
  expect(at.carried()).toEqual({ cwd: at.workspace, env: { FOO: "bar" }, notes: [] });
});

it.each([
  ["lacks its end", '1\0declare -x FOO="other"\n'],
  ["has another round's end", '1\0declare -x FOO="other"\n\0=2\0'],
  ["is not what bash prints", "1\0FOO=other\n\0=1\0"],
  ["holds a NUL", '1\0declare -x FOO="a\0b"\n\0=1\0'],
])("a record that %s does not count: the one before does, and that is said", (_, content) => {
  at.run("export FOO=bar");
  const unused = ["env-0", "env-1"].filter((file) => !existsSync(join(at.sess, file)));
  expect(unused).toHaveLength(1);
  writeFileSync(join(at.sess, unused[0] ?? ""), content);
  expect(at.carried()).toEqual({ cwd: at.workspace, env: { FOO: "bar" }, notes: [expect.stringMatching(/could not be read/)] });
});

it("almost too much is carried", () => {
  at.run('for i in {1..150}; do export "V$i=$(printf %400s x)"; done');
  at.run("true");
  expect(Object.keys(at.carried().env).length).toBe(150);
  expect(at.run("echo ${#V150}").output).toBe("400\n");
});

it("any bytes in any file: nothing is thrown, and nothing comes of them but what may", () => {
  const piece = fc.oneof(
    fc.uint8Array({ maxLength: 40 }).map((bytes) => Buffer.from(bytes)),
    fc
      .constantFrom("0\0", "1\0", "2\0", "\0=0\0", "\0=1\0", "\0=2\0", "declare -x ", 'A="1"\n', 'LD_PRELOAD="x"\n', "\\", '"', "$'")
      .map(Buffer.from),
    fc.constantFrom("/", `${at.workspace}/sub`, "..", "\n", '\\000"', "__proto__").map(Buffer.from),
  );
  const content = fc.array(piece, { maxLength: 12 }).map((pieces) => Buffer.concat(pieces));
  fc.assert(
    fc.property(fc.tuple(content, content, content, content), (contents) => {
      for (const [index, name] of ["cwd-0", "cwd-1", "env-0", "env-1"].entries())
        writeFileSync(join(at.sess, name), contents[index] ?? Buffer.alloc(0));
      const { cwd, env, notes } = readCarried(at.sess, at.workspace, GIVEN);
      expect([at.workspace, join(at.workspace, "sub")]).toContain(cwd);
      for (const [name, value] of Object.entries(env)) {
        expect(name).toMatch(/^[A-Za-z_][A-Za-z0-9_]*$/);
        expect(name).not.toMatch(/^(LD_|GIT_|BASH)/);
        expect(value).not.toContain("\0");
      }
      expect(notes.join("")).not.toMatch(/[\0-\x1f\x7f]/);
    }),
    { numRuns: 1000 },
  );
});

it("whatever bash prints of its variables is read as they are", () => {
  const value = fc
    .oneof(fc.string({ unit: "binary" }), fc.string(), fc.stringMatching(/^[\\"'$`n0\n]*$/))
    .map((text) => text.replaceAll("\0", ""));
  fc.assert(
    fc.property(
      fc.array(value, { minLength: 5, maxLength: 30 }),
      fc.constantFrom("C", "C.UTF-8"),
      fc.boolean(),
      (values, LC_ALL, posix) => {
        const env = Object.fromEntries(values.map((text, index) => [`V${index}`, Buffer.from(text).toString()]));
        const words = ["--norc", "--noprofile", ...(posix ? ["--posix"] : []), "-c", "export -p"];
        const printed = execFileSync("/bin/bash", words, { env: { ...env, LC_ALL }, encoding: "latin1" });
        const read = readExports(printed);
        for (const [name, text] of Object.entries(env)) expect(read?.get(name)).toBe(text);
      },
    ),
    { numRuns: 60 },
  );
});

it("long and wicked quoting takes no time", () => {
  for (const unit of ["\\", '\\"', "(", ")", '"', "$'", "\\0", "declare -x A=(", "x"])
    expect(() => readExports(`declare -x A="${unit.repeat(70_000)}`)).not.toThrow();
});
