import { linkSync, mkdirSync, symlinkSync, writeFileSync } from "node:fs";
import { createServer } from "node:net";
import { once } from "node:events";
import { spawnSync } from "node:child_process";
import { dirname, join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { checkPathGrant } from "../../src/sandbox/path-grants.ts";
import { homes } from "../../src/sandbox/user.ts";
import { makeWorkspace, type TestWorkspace } from "../support/workspace.ts";

let place: TestWorkspace;

beforeAll(() => {
  place = makeWorkspace();
  for (const folder of ["free/tool/bin", "home/ann/work", "home/ann/.local/bin", "code/src", "other", "state/c"])
    mkdirSync(join(place.root, folder), { recursive: true });
  writeFileSync(join(place.root, "free/file"), "x");
  for (const file of ["deckhand.yaml", "home/ann/.bashrc"]) writeFileSync(join(place.root, file), "x");
});
afterAll(() => place.cleanup());

function at(path: string): string {
  return path.startsWith("/") ? path : join(place.root, path);
}

function check(path: string): string {
  return checkPathGrant(at(path), {
    stateDir: place.stateDir,
    apart: [at("code"), at("deckhand.yaml")],
    workspaces: [at("other")],
    homes: [at("home/ann")],
  });
}

/** Makes a file, or a folder when its name ends in a slash. */
function make(path: string): string {
  mkdirSync(dirname(at(path)), { recursive: true });
  if (path.endsWith("/")) mkdirSync(at(path), { recursive: true });
  else writeFileSync(at(path), "x");
  return path.replace(/\/$/, "");
}

function refusal(path: string): string {
  try {
    return `given: ${check(path)}`;
  } catch (thrown) {
    expect(thrown).toMatchObject({ code: "GRANT_REFUSED" });
    return (thrown as Error).message;
  }
}

describe("a path that may be given", () => {
  it.each(["free/", "free/tool/bin/", "free/file", "home/ann/work/", "other-one/"])("%s", (path) => {
    const plain = make(path);
    expect(check(plain)).toBe(at(plain));
  });

  it.each(["free/.env.example", "free/environment.ts", "free/id_card", "free/keyboard", "free/pem"])(
    "%s, which only looks a little like keys",
    (path) => {
      expect(check(make(path))).toBe(at(path));
    },
  );
});

describe("refused is", () => {
  it.each([
    ...[
      "/",
      "/etc",
      "/etc/passwd",
      "/proc",
      "/proc/self",
      "/sys",
      "/dev",
      "/dev/null",
      "/boot",
      "/run",
      "/usr",
      "/usr/share",
      "/root",
      "/var/spool",
    ],
    ...["/home", "/var", "/var/lib", "/tmp", "/opt", "/srv", "/mnt"],
  ])("the system folder %s", (path) => {
    expect(refusal(path)).toMatch(/a system folder|it is not there|it leads to|neither a file/);
  });

  it.each([
    ["the state folder", "state", /state folder/],
    ["what is in it", "state/c", /state folder/],
    ["what is above it and all else", "", /state folder|Deckhand's own/],
    ["the program", "code", /Deckhand's own files/],
    ["what is in it", "code/src", /Deckhand's own files/],
    ["the configuration", "deckhand.yaml", /Deckhand's own files/],
    ["another workspace", "other", /another workspace/],
    ["a home", "home/ann", /a whole home folder/],
    ["a home's settings", "home/ann/.bashrc", /settings and keys/],
    ["what is in a hidden folder of a home", "home/ann/.local/bin", /settings and keys/],
    ["what is above a home", "home", /there are home folders in it/],
    ["what is not there", "free/none", /it is not there/],
    ["what is below a file", "free/file/x", /ENOTDIR/],
  ])("%s: %s", (_, path, words) => expect(refusal(path)).toMatch(words));

  it.each([
    ...[
      ".ssh/",
      ".ssh/known_hosts",
      ".gnupg/",
      ".aws/config",
      ".kube/config",
      ".docker/config.json",
      ".netrc",
      ".git-credentials",
      ".npmrc",
      ".pypirc",
    ],
    ...[
      ".config/gcloud/",
      ".config/gh/hosts.yml",
      ".env",
      ".env.local",
      ".ENV",
      "id_rsa",
      "id_ed25519.old",
      "tls/site.pem",
      "site.key",
      "credentials.json",
    ],
    ...[".ssh/deep/er/file", "app/.aws/"],
  ])("keys: %s", (path) => {
    expect(refusal(make(`home/ann/keys/${path}`))).toMatch(/holds keys/);
  });

  it("a folder with keys in it, which says which", () => {
    make("free/app/.env");
    make("free/cfg/.config/gcloud/");
    expect(refusal("free/app")).toMatch(/keys are in it: \.env/);
    expect(refusal("free/cfg/.config")).toMatch(/keys are in it: gcloud/);
  });

  it("a link, and what is reached through one, which says where it leads", () => {
    symlinkSync(at("free"), at("link"));
    expect(refusal("link")).toContain(`it leads to ${at("free")}`);
    expect(refusal("link/file")).toContain(`it leads to ${at("free/file")}`);
    symlinkSync("/nowhere", at("dangling"));
    expect(refusal("dangling")).toMatch(/GRANT_REFUSED/);
  });

  it.each(["free/", "free//file", "free/./file", "free/tool/../file"])("another spelling, which says the plain one: %s", (path) => {
    expect(refusal(`${place.root}/${path}`)).toMatch(/\(write it as \/|it leads to \//);
  });

  it("what is not absolute", () => {
    expect(() => checkPathGrant("free", { stateDir: place.stateDir, apart: [], workspaces: [] })).toThrow(/not an absolute path/);
  });

  it("a file with another name somewhere", () => {
    linkSync(at(make("free/one")), at("free/two"));
    expect(refusal("free/one")).toMatch(/more than one name/);
  });

  it("a pipe, a socket, and a folder with a socket in it", async () => {
    expect(spawnSync("mkfifo", [at("free/pipe")]).status).toBe(0);
    expect(refusal("free/pipe")).toMatch(/neither a file nor a folder/);
    make("free/s/");
    const server = createServer().listen(at("free/s/sock"));
    await once(server, "listening");
    expect(refusal("free/s/sock")).toMatch(/neither a file nor a folder/);
    expect(refusal("free/s")).toMatch(/a socket is in it: sock/);
    server.close();
  });

  it("each home of this machine's accounts, without being told", () => {
    const options = { stateDir: place.stateDir, apart: [], workspaces: [] };
    for (const { folder } of homes()) {
      expect(() => checkPathGrant(folder, options)).toThrow(expect.objectContaining({ code: "GRANT_REFUSED" }));
    }
  });
});
