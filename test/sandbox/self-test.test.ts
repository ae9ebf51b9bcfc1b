import { chmodSync, mkdirSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, beforeEach, expect, it } from "vitest";
import { bwrapSandbox } from "../../src/sandbox/bwrap.ts";
import { isRoot, makeWorkspace, processesWith, shellIn, type TestWorkspace, uniqueSleep, until } from "../support/workspace.ts";

let place: TestWorkspace;
beforeEach(() => {
  place = makeWorkspace();
});
afterEach(() => place.cleanup());

/** A folder of programs in which these are scripts instead, or missing when null. */
function programs(changed: Record<string, string | null>): string {
  const folder = join(place.root, "bin");
  mkdirSync(folder);
  for (const name of ["bwrap", "setpriv", "flock", "mkfifo", "env"]) {
    const script = changed[name];
    if (script === undefined) symlinkSync(`/usr/bin/${name}`, join(folder, name));
    else if (script !== null) {
      writeFileSync(join(folder, name), script);
      chmodSync(join(folder, name), 0o755);
    }
  }
  return folder;
}

async function tested(changed: Record<string, string | null>) {
  const sandbox = bwrapSandbox({ stateDir: place.stateDir, runAs: null, path: programs(changed) });
  const report = await sandbox.selfTest(place.path);
  const result = await shellIn(sandbox, place.path)("echo ran >ran");
  await sandbox.close();
  return { report, result };
}

it("without bubblewrap it says what to install, and nothing runs", async () => {
  const { report, result } = await tested({ bwrap: null });
  expect(report).toMatchObject({ ok: false, problems: [expect.stringMatching(/bubblewrap is not installed.*SANDBOX_MISSING/)] });
  expect(result).toMatchObject({ how: "refused", why: report.problems[0] });
});

it("without flock it names it", async () => {
  expect((await tested({ flock: null })).report.problems).toEqual([expect.stringMatching(/^flock is not installed.*SANDBOX_TOOL/)]);
});

it("where bubblewrap may not start, its words are passed on and nothing runs", async () => {
  const words = "bwrap: setting up uid map: Permission denied";
  const { report, result } = await tested({ bwrap: `#!/bin/sh\necho "${words}" >&2\nexit 1\n` });
  expect(report).toMatchObject({ ok: false, problems: [expect.stringContaining(words)] });
  expect(report.problems[0]).toMatch(/\(SANDBOX_(?:DENIED|CONTAINER|USERNS|APPARMOR)\)$/); // by what this machine is
  expect(result).toMatchObject({ how: "refused", exit: null, why: report.problems[0] });
});

it("a wall that is missing is named, one line each, and the badge is not earned", async () => {
  const { report } = await tested({
    bwrap: '#!/bin/bash\nargs=()\nfor a; do [ "$a" = --unshare-net ] || args+=("$a"); done\nexec /usr/bin/bwrap "${args[@]}"\n',
  });
  expect(report.ok).toBe(false);
  expect(report.badge).not.toContain("no network");
  expect(report.problems.join("\n")).toMatch(/reaches a port of the host.*SANDBOX_LEAKS/);
  expect(report.problems.join("\n")).toMatch(/sees the host's sockets/);
});

it("a folder that leaks into the sandbox is found", async () => {
  const { report } = await tested({
    bwrap: `#!/bin/bash\nargs=("$@")\nfor i in "\${!args[@]}"; do [ "\${args[i]}" = --chdir ] && break; done\nexec /usr/bin/bwrap "\${args[@]:0:i}" --bind ${place.root} ${place.root} "\${args[@]:i}"\n`,
  });
  expect(report.problems).toEqual([expect.stringMatching(/reads a file outside.*SANDBOX_LEAKS/)]);
});

it.runIf(isRoot())("a state folder that the run user cannot reach is named", async () => {
  const closed = join(place.root, "closed");
  mkdirSync(closed, { mode: 0o700 });
  const sandbox = bwrapSandbox({ stateDir: join(closed, "state"), runAs: null });
  expect((await sandbox.selfTest(place.path)).problems).toEqual([expect.stringMatching(/closed is closed to uid \d+.*STATE_UNUSABLE/)]);
  await sandbox.close();
});

it("a test that does not finish says so, and blames no wall", async () => {
  const mark = uniqueSleep();
  const sandbox = bwrapSandbox({ stateDir: place.stateDir, runAs: null, path: programs({ bwrap: `#!/bin/sh\nexec /usr/bin/${mark}\n` }) });
  const testing = sandbox.selfTest(place.path);
  await until("it hangs", () => processesWith(mark).length > 0);
  await sandbox.close();
  expect((await testing).problems).toEqual([expect.stringMatching(/the test did not finish \(cancelled\).*SANDBOX_RUNNER/)]);
});

it("an unusable workspace is a problem, not a crash", async () => {
  const sandbox = bwrapSandbox({ stateDir: place.stateDir, runAs: null });
  expect(await sandbox.selfTest(join(place.root, "nowhere"))).toMatchObject({
    ok: false,
    problems: [expect.stringContaining("WORKSPACE_MISSING")],
  });
  await sandbox.close();
});
