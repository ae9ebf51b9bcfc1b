import { chmodSync, mkdirSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { afterAll, describe, expect, test } from "vitest";
import { type TestWorkspace, makeWorkspace, processesWith } from "../support/workspace.ts";
import { DECKHAND, deckhand, onTerminal, pathWithout, start } from "./kit.ts";

const places: TestWorkspace[] = [];

afterAll(() => {
  for (const place of places) place.cleanup();
});

/** A temporary folder of the test's own. What the demo leaves: files in it, and processes that were started below it. */
function corner() {
  const place = makeWorkspace();
  places.push(place);
  const tmp = join(place.root, "tmp");
  mkdirSync(tmp);
  chmodSync(tmp, 0o755);
  const leftovers = () => [...readdirSync(tmp), ...processesWith(tmp)];
  return { root: place.root, leftovers, env: { TMPDIR: tmp, DECKHAND_STATE: place.stateDir } };
}

describe.concurrent("deckhand demo", () => {
  test("with nobody at the keyboard approves by itself, shows the thread, ends with 0 and leaves nothing", async () => {
    const { env, leftovers } = corner();
    const { code, stdout, stderr } = await deckhand(["demo"], { env });
    expect(stdout).toMatch(/\| \$ git branch --show-current\n {6}\| main\n/);
    expect(stdout).toMatch(/\| rm -rf test_output && mkdir test_output && touch [\s\S]*\[ Approve \] {2}\[ Deny \]/);
    expect(stdout).toMatch(/Approved by Ann · .* UTC/);
    expect(stdout).toMatch(/\| \$ rm -rf test_output && mkdir test_output && touch .*\n {4}\(no output\) · exit 0/);
    expect(stdout).toMatch(/\| -rw.* c\.txt\n/);
    expect(stdout).toMatch(/The branch is \*\*main\*\*, and `test_output` now holds 3 files/);
    expect({ code, stderr }).toEqual({ code: 0, stderr: "" });
    expect(leftovers()).toEqual([]);
  });

  test("asks at a terminal until it is told y or n; n runs nothing, and it ends with 0", async () => {
    const { env, leftovers } = corner();
    const running = start(onTerminal(DECKHAND, "demo"), { env });
    await running.says(/Approve\? \[y\/n\] /);
    running.type("maybe\n");
    await running.says(/Approve\? \[y\/n\] [\s\S]*Approve\? \[y\/n\] /);
    running.type("n\n");
    await running.says(/the thread in Discord[\s\S]*Approve\? \[y\/n\] /);
    running.type("n\n");
    const { code, stdout } = await running.ended;
    expect(stdout.match(/Denied by Ann/g)).toHaveLength(2);
    expect(stdout).toMatch(/I made no files, because you did not approve it\./);
    expect(stdout).not.toMatch(/\| \$ rm/);
    expect(code).toBe(0);
    expect(leftovers()).toEqual([]);
  });

  test("takes y at a terminal", async () => {
    const { env, leftovers } = corner();
    const running = start(onTerminal(DECKHAND, "demo"), { env });
    await running.says(/Approve\? \[y\/n\] /);
    running.type("y\n");
    await running.says(/the thread in Discord[\s\S]*Approve\? \[y\/n\] /);
    running.type("y\n");
    const { code, stdout } = await running.ended;
    expect(stdout).toMatch(/Approved by Ann[\s\S]*now holds 3 files[\s\S]*Approved by Ann[\s\S]*now holds 3 files/);
    expect(code).toBe(0);
    expect(leftovers()).toEqual([]);
  });

  test.each([
    ["Ctrl-C", "\x03"],
    ["Ctrl-C while it waits by itself", null],
  ])(
    "ended by %s, it leaves nothing and ends with 130",
    async (_name, key) => {
      const { env, leftovers } = corner();
      const running = start(key === null ? [DECKHAND, "demo"] : onTerminal(DECKHAND, "demo"), { env });
      await running.says(key === null ? /Ann presses Approve in/ : /Approve\? \[y\/n\] /);
      if (key === null) running.kill("SIGINT");
      else running.type(key);
      const { code, stdout } = await running.ended;
      expect(stdout).not.toMatch(/Approved by|Denied by|Something went wrong/);
      expect(code).toBe(130);
      expect(leftovers()).toEqual([]);
    },
    90_000,
  );

  test.each([
    ["bwrap", /bubblewrap is not installed.*\(SANDBOX_MISSING\)\n$/],
    ["redis-server", /redis-server is not installed.*\(REDIS_DOWN\)\n$/],
    ["git", /git is not installed.*\(PROGRAM_MISSING\)\n$/],
  ])("without %s says what is missing, ends with 3 and leaves nothing", async (program, line) => {
    const { env, leftovers, root } = corner();
    const { code, stderr } = await deckhand(["demo"], { env: { ...env, PATH: pathWithout(root, program) } });
    expect(stderr).toMatch(line);
    expect(stderr).not.toMatch(/^ +at /m);
    expect(code).toBe(3);
    expect(leftovers()).toEqual([]);
  });
});
