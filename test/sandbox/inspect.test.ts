import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { runsByItself } from "../../src/core/autorun.ts";
import { changesThatRun, INSPECT, protectedPaths, readInspection, refusal } from "../../src/sandbox/inspect.ts";
import { REPOSITORY, room } from "./inspect-kit.ts";

describe("looking into a workspace", () => {
  it("finds what the list names, at any depth, and nothing else", async () => {
    const { look, told } = room();
    const names = [".github", "workflows", ".envrc", ".vscode", "a", "AGENTS.md", ".cargo", "config.toml", ".aider.x", "src"];
    const some = fc.sample(fc.array(fc.constantFrom(...names), { minLength: 2, maxLength: 4 }), { numRuns: 200, seed: 7 });
    const paths = some.map((parts) => parts.join("/"));
    await told(`for p in ${paths.join(" ")}; do mkdir -p "$p" 2>/dev/null; done; true`);
    const all = new Set(paths.flatMap((path) => path.split("/").map((_, index, parts) => parts.slice(0, index + 1).join("/"))));
    const expected = [...all].filter((path) => runsByItself(path) !== null);
    expect([...(await look()).found.keys()].toSorted()).toEqual(expected.toSorted());
  });

  it("goes through 20,000 files in one go", async () => {
    const { look, fill } = room();
    fill(20_000, (n) => `d${n % 400}/file-${n}`);
    fill(1, () => "d7/.envrc");
    const seen = await look();
    expect(seen.cut).toBe(false);
    expect([...seen.found.keys()]).toEqual(["d7/.envrc"]);
  });

  it("is whole although bash, as it happens now and then, does not know how a program of it has ended", async () => {
    const { look, told } = room();
    await told(REPOSITORY);
    const seen = await look(`wait() { return 255; }\n${INSPECT}`);
    expect(seen.cut).toBe(false);
    expect([...seen.config.keys()]).toEqual([".git/config"]);
  });

  it("says when there is more than it looks at; then nothing is writable for a command that nobody approved", async () => {
    const { look, fill } = room();
    const before = await look();
    fill(2_100, (n) => `d${n}/.envrc`);
    const seen = await look();
    expect(changesThatRun(before, seen)).toContain("not everything could be looked through for files that run by themselves");
    expect(protectedPaths(seen)).toEqual([{ path: ".", pin: false }]);
  });

  it("keeps git's own first where there is more than can be mounted", async () => {
    const { look, fill, told } = room();
    fill(300, (n) => `d${n}/.envrc`);
    await told(`mkdir -p x/y/z; cd x/y/z; ${REPOSITORY}`);
    const kept = protectedPaths(await look()).map(({ path }) => path);
    expect(kept).toEqual(expect.arrayContaining(["x/y/z/.git/hooks", "x/y/z/.git/config", "d1/.envrc"]));
    expect(kept.length).toBeLessThan(200);
  });

  it("needs no git: a configuration is then told by its content", async () => {
    const { look, told, run } = room();
    await told(REPOSITORY);
    await run('mkdir /tmp/bin; for p in find readlink sha256sum; do ln -s "/usr/bin/$p" /tmp/bin; done', { reach: "contained" });
    const script = INSPECT.replace("PATH=/usr/local/bin:/usr/bin:/bin", "PATH=/tmp/bin");
    expect(script).not.toBe(INSPECT);
    const before = await look(script);
    await told("git config core.pager evil");
    const after = await look(script);
    expect(after.cut).toBe(false);
    expect(changesThatRun(before, after)).toEqual([".git/config changed (git reads from it what to start)"]);
  });

  it("waits for no pipe that lies in the way", async () => {
    const { look, told } = room();
    await told("mkfifo AGENTS.md; mkdir -p .git sub; mkfifo .git/config .git/commondir sub/.git");
    expect((await look()).cut).toBe(false);
  });

  it("reads nothing that a link leads to outside, and runs nothing of what it finds", async () => {
    const { look, told, place } = room();
    writeFileSync(join(place.root, "secret"), "secret");
    mkdirSync(join(place.root, "ssh"));
    await told(`ln -s ${place.root}/secret AGENTS.md; ln -s /etc/shadow CLAUDE.md; ln -s ${place.root}/ssh .vscode; ln -s / .claude`);
    await told(
      `${REPOSITORY}; git config core.fsmonitor 'touch ran'; git config core.pager 'touch ran'; git config alias.config '!touch ran'`,
    );
    const seen = await look();
    expect(seen.links.size).toBe(0);
    expect(seen.found.get("CLAUDE.md")).toMatchObject({ kind: "link", target: "/etc/shadow", mark: "/etc/shadow" });
    expect([...seen.found.keys()].filter((path) => path.startsWith(".claude/"))).toEqual([]);
    expect((await told("ls")).concat(await told("! test -e ran"))).toEqual([]);
  });
});

describe("what was printed", () => {
  it("never throws, whatever it is; what is not whole counts as cut", () => {
    const bytes = fc.oneof(
      fc.uint8Array({ maxLength: 400 }),
      fc.string().map((text) => Buffer.from(text)),
    );
    fc.assert(
      fc.property(bytes, bytes, (one, other) => {
        const [before, after] = [readInspection(one), readInspection(other)];
        expect(after.cut).toBe(true);
        expect(protectedPaths(after)).toEqual([{ path: ".", pin: false }]);
        changesThatRun(before, after);
        refusal(after);
      }),
    );
  });

  const field = fc.constantFrom(
    ...["E", "F", "G", "C", "L", "K", "H", "Z", "whole", "./.git", "./.git/hooks", "./.git/hooks/x", "./a/.git", "./a/.git/config", "./b"],
    ...["f 755 1 2 3", "d 755 1 2 3", "l 777 1 2 3", "X 0 1 2 3", ">", ">/x", "=core.pager\nx", "=gitdir: ../x", ""],
  );
  const printed = fc.array(field, { maxLength: 60 }).map((fields) => readInspection(Buffer.from(`${fields.join("\0")}\0\0Z\0whole\0\0`)));

  it("gives mounts with parents first, none twice, and none below one that is read-only", () => {
    fc.assert(
      fc.property(printed, (seen) => {
        const mounts = protectedPaths(seen);
        const paths = mounts.map(({ path }) => path);
        expect(new Set(paths).size).toBe(paths.length);
        for (const [index, { path, pin }] of mounts.entries()) {
          const below = mounts.slice(0, index).filter((one) => path.startsWith(`${one.path}/`));
          expect(paths.slice(index + 1).some((one) => path.startsWith(`${one}/`))).toBe(false);
          expect(below.every((one) => one.pin)).toBe(true);
          expect(typeof pin).toBe("boolean");
        }
      }),
    );
  });

  it("tells nothing new of a workspace that has not changed, and single lines of any other", () => {
    fc.assert(
      fc.property(printed, printed, (one, other) => {
        expect(changesThatRun(one, one)).toEqual([]);
        for (const sentence of changesThatRun(one, other)) expect(sentence).toMatch(/^[^\n]{1,300}$/);
      }),
    );
  });
});
