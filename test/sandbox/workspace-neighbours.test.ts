import { execFileSync, spawnSync } from "node:child_process";
import { mkdirSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { userInfo } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { checkWorkspace, type WorkspaceOptions } from "../../src/sandbox/workspace.ts";
import { isRoot, makeWorkspace, type TestWorkspace } from "../support/workspace.ts";

let place: TestWorkspace;
beforeEach(() => {
  place = makeWorkspace();
});
afterEach(() => place.cleanup());

async function problem(path: string, options: Partial<WorkspaceOptions> = {}): Promise<string> {
  const checked = await checkWorkspace(path, { stateDir: place.stateDir, runAs: null, ...options });
  return checked.ok ? "fine" : checked.error.line();
}

/** A folder that commands could use, with those above it. */
function folder(path: string): string {
  const full = join(place.root, path);
  mkdirSync(full, { recursive: true });
  place.give(full);
  return full;
}

/** The same folder in a second place; only root can do that, and not everywhere. */
const mounts = isRoot() && spawnSync("sh", ["-c", "unshare -m true"]).status === 0;
async function mounted(from: string, to: string, check: () => Promise<void>): Promise<void> {
  mkdirSync(to, { recursive: true });
  execFileSync("sh", ["-c", 'mount --bind "$0" "$1"', from, to]);
  try {
    await check();
  } finally {
    execFileSync("sh", ["-c", 'umount -l "$0"', to]);
  }
}

describe("Deckhand's own files", () => {
  it("neither in a workspace nor around one", async () => {
    const code = folder("deckhand");
    expect(await problem(place.root, { apart: [code], stateDir: "/nowhere/at/all" })).toMatch(
      /it contains .*\/deckhand\).*WORKSPACE_REFUSED/,
    );
    expect(await problem(folder("deckhand/ws"), { apart: [code] })).toMatch(
      /it lies in .*\/deckhand, which is Deckhand's own.*WORKSPACE_REFUSED/,
    );
    expect(await problem(code, { apart: [code] })).toMatch(/WORKSPACE_REFUSED/);
    expect(await problem(folder("deckhand-ws"), { apart: [code] })).toBe("fine");
  });

  it("also when they are reached through a link", async () => {
    symlinkSync(place.path, join(place.root, "link"));
    writeFileSync(join(place.path, "deckhand.yaml"), "");
    expect(await problem(place.path, { apart: [join(place.root, "link/deckhand.yaml")] })).toMatch(/it contains/);
    expect(await problem(place.path, { stateDir: join(place.root, "link/state") })).toMatch(/state folder/);
  });

  it("a state folder that is not there yet refuses only what it would lie in", async () => {
    expect(await problem(place.path, { stateDir: join(place.root, "new/state") })).toBe("fine");
    expect(await problem(place.path, { stateDir: join(place.path, "new/state") })).toMatch(/state folder/);
  });
});

describe("two workspaces", () => {
  it("side by side are fine, and a workspace is no stranger to itself", async () => {
    expect(await problem(place.path, { others: [place.path, folder("ws2"), join(place.root, "nowhere")] })).toBe("fine");
  });

  it("one in the other: both are refused, and each names the other", async () => {
    const inner = folder("ws/packages/web");
    expect(await problem(place.path, { others: [inner] })).toMatch(`it contains the workspace ${inner})`);
    expect(await problem(inner, { others: [place.path] })).toMatch(`it lies in the workspace ${place.path})`);
  });

  it("one in the other by way of a link", async () => {
    const inner = folder("ws/packages/web");
    symlinkSync(inner, join(place.root, "web"));
    expect(await problem(place.path, { others: [join(place.root, "web")] })).toMatch(/it contains the workspace .*\/web\)/);
  });

  it.runIf(mounts)("that are one folder, mounted in two places", async () => {
    const second = join(place.root, "second");
    await mounted(place.path, second, async () => {
      expect(await problem(second, { others: [place.path] })).toMatch(`it is the workspace ${place.path})`);
    });
  });

  it.runIf(mounts)("one in the other by way of a folder that is mounted in two places", async () => {
    const inner = folder("ws/packages/web");
    const second = join(place.root, "second");
    await mounted(place.path, second, async () => {
      expect(await problem(join(second, "packages/web"), { others: [place.path] })).toMatch(/it lies in the workspace/);
      expect(await problem(second, { others: [inner] })).toMatch(/it contains the workspace/);
    });
  });
});

describe("people's homes", () => {
  let options: Partial<WorkspaceOptions>;
  beforeEach(() => {
    const passwd = join(place.root, "passwd");
    const accounts = {
      root: 0,
      daemon: 1,
      ann: 1000,
      gone: 1001,
      nobody: 65_534,
    };
    const homes: Record<string, string> = { ann: folder("homes/ann"), root: folder("roots"), daemon: folder("daemon"), nobody: "/" };
    const lines = Object.entries(accounts).map(([name, uid]) => `${name}:x:${uid}:${uid}::${homes[name] ?? `/nowhere/${name}`}:/bin/sh`);
    writeFileSync(passwd, `${lines.join("\n")}\n# a comment\nshort:line\n`);
    options = { passwd };
  });

  it("a home itself is refused, and its owner is named", async () => {
    expect(await problem(folder("homes/ann"), options)).toMatch(/it is the home of ann; choose a folder below it.*WORKSPACE_REFUSED/);
    expect(await problem(folder("roots"), options)).toMatch(/the home of root/);
  });

  it("a folder above one is refused", async () => {
    expect(await problem(folder("homes"), options)).toMatch(/it contains .*\/homes\/ann, the home of ann.*WORKSPACE_REFUSED/);
  });

  it.each([".ssh", ".config/deckhand", ".local/share/a/b"])("%s below one is refused: keys and settings live there", async (name) => {
    expect(await problem(folder(`homes/ann/${name}`), options)).toMatch(
      /\/homes\/ann\/\.\w+ is for the settings and keys of ann.*WORKSPACE_REFUSED/,
    );
  });

  it.each(["api", "work/api", "work/.worktrees/api"])("%s below one is fine: that is where repositories are", async (name) => {
    expect(await problem(folder(`homes/ann/${name}`), options)).toBe("fine");
  });

  it("the home of a service is no person's, and one that is not there is in nobody's way", async () => {
    expect(await problem(folder("daemon"), options)).toBe("fine");
    expect(await problem(place.path, options)).toBe("fine");
  });

  it("a home that is a link counts where it leads", async () => {
    const real = folder("disk/ann");
    rmSync(join(place.root, "homes/ann"), { recursive: true });
    symlinkSync(real, join(place.root, "homes/ann"));
    expect(await problem(real, options)).toMatch(/the home of ann/);
    expect(await problem(folder("disk/ann/.ssh"), options)).toMatch(/settings and keys/);
  });

  it("this machine's own accounts are asked when nothing else is said", async () => {
    const { homedir } = userInfo();
    expect(await problem(homedir)).toMatch(isRoot() ? /a system folder/ : /it is the home of/);
  });
});
