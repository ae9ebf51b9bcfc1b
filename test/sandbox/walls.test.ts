import { afterAll, beforeAll, expect, it } from "vitest";
import type { Sandbox } from "../../src/core/sandbox.ts";
import { bwrapSandbox } from "../../src/sandbox/bwrap.ts";
import { makeWorkspace, type Shell, shellIn, type TestWorkspace } from "../support/workspace.ts";

let place: TestWorkspace;
let sandbox: Sandbox;
let sh: Shell;

beforeAll(() => {
  place = makeWorkspace();
  sandbox = bwrapSandbox({ stateDir: place.stateDir, runAs: null });
  sh = shellIn(sandbox, place.path);
});
afterAll(async () => {
  await sandbox.close();
  place.cleanup();
});

it("the workspace is writable at its own path, and files belong to the run user on the host", async () => {
  const { output } = await sh(`echo made >${place.path}/made && stat -c %U made && rm made`);
  expect(output.text).toBe("agent\n");
});

it("/tmp and home last for the conversation and are hidden from others", async () => {
  await sh("echo mine | tee /tmp/note ~/note");
  expect((await sh("cat /tmp/note ~/note")).output.text).toBe("mine\nmine\n");
  expect((await sh("cat /tmp/note ~/note", { conversation: "slack:T1:C1:2.2" })).output.text).toMatch(/No such file or directory/);
});

it("ordinary programs work: threads, pipes, git, sort, local sockets", async () => {
  const socket = `perl -MSocket -e 'socketpair(A, B, AF_UNIX, SOCK_STREAM, 0) && socket(C, AF_INET, SOCK_STREAM, 0) && print 1 + 1'`;
  const { output } = await sh(`git init -q repo && git -C repo status --short --branch && seq 3 | sort -r --parallel=2 && ${socket}`);
  expect(output.text).toMatch(/^## No commits yet on \w+\n3\n2\n1\n2$/);
});
