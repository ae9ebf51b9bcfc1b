import { execFileSync } from "node:child_process";
import { chmodSync, chownSync, mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { bwrapSandbox } from "../../src/sandbox/bwrap.ts";
import { checkWorkspace, type WorkspaceOptions } from "../../src/sandbox/workspace.ts";
import { isRoot, makeWorkspace, RUN_UID, shellIn, type TestWorkspace } from "../support/workspace.ts";

let place: TestWorkspace;
beforeEach(() => {
  place = makeWorkspace();
});
afterEach(() => place.cleanup());

async function problem(path: string, options: Partial<WorkspaceOptions> = {}): Promise<string> {
  const checked = await checkWorkspace(path, { stateDir: place.stateDir, runAs: null, ...options });
  return checked.ok ? "fine" : checked.error.line();
}

describe("a folder that can be no workspace", () => {
  it.each(["/", "/usr", "/usr/local", "/etc", "/home", "/root", "/tmp", "/proc/self", "/var"])("%s: the system's", async (path) => {
    expect(await problem(path)).toMatch(/WORKSPACE_REFUSED/);
  });

  it("one that is not there", async () => {
    expect(await problem(join(place.root, "nowhere"))).toMatch(/nowhere is not there.*WORKSPACE_MISSING/);
  });

  it("a file", async () => {
    writeFileSync(join(place.root, "file"), "");
    expect(await problem(join(place.root, "file"))).toMatch(/not a folder.*WORKSPACE_REFUSED/);
  });

  it("a link, wherever it leads, and a path through one", async () => {
    symlinkSync("/", join(place.root, "link"));
    expect(await problem(join(place.root, "link"))).toMatch(/it leads to \/\).*WORKSPACE_REFUSED/);
    symlinkSync(place.root, join(place.root, "around"));
    expect(await problem(join(place.root, "around/ws"))).toMatch(/it leads to .*WORKSPACE_REFUSED/);
  });

  it("a path that is not written out", async () => {
    expect(await problem("ws")).toMatch(/not an absolute path/);
    expect(await problem(`${place.root}/state/../ws`)).toMatch(/write it as/);
  });

  it("one that contains or is in the state folder, or contains the configuration", async () => {
    expect(await problem(place.root)).toMatch(/state folder/);
    mkdirSync(join(place.stateDir, "inside"));
    expect(await problem(join(place.stateDir, "inside"))).toMatch(/state folder/);
    expect(await problem(place.path, { apart: [join(place.path, "deckhand.yaml")] })).toMatch(/contains .*deckhand\.yaml/);
  });

  it("one that is swapped for a link later is refused before the next command", async () => {
    const sandbox = bwrapSandbox({ stateDir: place.stateDir, runAs: null });
    const sh = shellIn(sandbox, place.path);
    expect(await sh("true")).toMatchObject({ how: "exited" });
    execFileSync("sh", ["-c", `mv ${place.path} ${place.path}.old && ln -s / ${place.path}`]);
    const result = await sh("true");
    expect(result).toMatchObject({ how: "refused" });
    expect(result.why).toMatch(/WORKSPACE_REFUSED/);
    await sandbox.close();
  });

  it("one directly below /tmp whose place in the conversation's own /tmp was taken by a link", async () => {
    const sandbox = bwrapSandbox({ stateDir: place.stateDir, runAs: null });
    const near = mkdtempSync(join(tmpdir(), "deckhand-near-"));
    place.give(near);
    await shellIn(sandbox, place.path)(`ln -s /home/agent ${near}`);
    const { why } = await shellIn(sandbox, near)("true");
    expect(why).toMatch(/in its way.*WORKSPACE_REFUSED/);
    rmSync(near, { recursive: true });
    await sandbox.close();
  });
});

describe.runIf(isRoot())("whom commands run as, when root starts Deckhand", () => {
  it("the folder's owner", async () => {
    expect(await checkWorkspace(place.path, { stateDir: place.stateDir, runAs: null })).toMatchObject({
      ok: true,
      uid: RUN_UID,
      gid: RUN_UID,
    });
  });

  it("nobody in a folder of root's: the exact command that mends it is given", async () => {
    chownSync(place.path, 0, 0);
    expect(await problem(place.path)).toMatch(new RegExp(`\`chown -R \\S+ ${place.path}\` mends it.*RUN_AS`));
  });

  it.each([
    ["a uid", "64007", 64007, 64007],
    ["a uid and a group", "64007:64008", 64007, 64008],
    ["a name", "nobody", 65534, 65534],
  ])("DECKHAND_RUN_AS: %s", async (_, runAs, uid, gid) => {
    chmodSync(place.path, 0o777);
    expect(await checkWorkspace(place.path, { stateDir: place.stateDir, runAs })).toMatchObject({ ok: true, uid, gid });
  });

  it.each([
    ["root", /is root.*RUN_AS/],
    ["0", /is root.*RUN_AS/],
    ["no-such-user", /no such user.*CONFIG/],
    ["a:b:c", /not a user.*CONFIG/],
  ])("DECKHAND_RUN_AS=%s is refused", async (runAs, words) => {
    expect(await problem(place.path, { runAs })).toMatch(words);
  });

  it("a user who may not write there is named, with the mend", async () => {
    expect(await problem(place.path, { runAs: "64007" })).toMatch(/uid 64007; `chown -R 64007:64007 .*WORKSPACE_UNUSABLE/);
  });

  it("a folder on the way that is closed to the user is named", async () => {
    chmodSync(place.root, 0o700);
    expect(await problem(place.path)).toMatch(new RegExp(`chmod o\\+x ${place.root}\`.*WORKSPACE_UNUSABLE`));
  });

  it("commands really run as that user, with its group alone", async () => {
    const sandbox = bwrapSandbox({ stateDir: place.stateDir, runAs: "64007:64008" });
    chmodSync(place.path, 0o777);
    const { output } = await shellIn(sandbox, place.path)("id -u; id -G; touch mine");
    expect(output.text).toBe("64007\n64008\n");
    expect(execFileSync("stat", ["-c", "%u:%g", join(place.path, "mine")], { encoding: "utf8" })).toBe("64007:64008\n");
    await sandbox.close();

    const second = bwrapSandbox({ stateDir: place.stateDir, runAs: "64009" });
    const other = join(place.root, "other");
    mkdirSync(other);
    chmodSync(other, 0o777);
    expect((await shellIn(second, other)("id -u")).output.text).toBe("64009\n");
    await second.close();
  });
});

it("a user other than ourselves is refused when we are not root", async () => {
  if (isRoot()) return;
  expect(await problem(place.path, { runAs: "nobody" })).toMatch(/CONFIG/);
});
