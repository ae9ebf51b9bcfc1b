import { describe, expect, test } from "vitest";
import { type Config, readConfig } from "../../src/config.ts";

const ENV = { WEB_TOKEN: "ghp-not-for-anybody", DB: "'postgres://u:p@db/x y'" };

function read(extras: string, env: Record<string, string> = ENV): ReturnType<typeof readConfig> {
  return readConfig(env, () => `workspaces: {web: {path: /srv/web, ${extras}}}`);
}

async function config(extras: string): Promise<Config> {
  const found = await read(extras);
  if ("problems" in found) throw new Error(found.problems.join("\n"));
  return found.config;
}

async function problems(extras: string, env?: Record<string, string>): Promise<string[]> {
  const found = await read(extras, env);
  return "problems" in found ? found.problems : [];
}

describe("a workspace of deckhand.yaml", () => {
  test("may name folders to read, hosts to connect to, and credentials with their values", async () => {
    const credentials = "{github: {from: WEB_TOKEN, env: GITHUB_TOKEN, host: GitHub.com}, db: {from: DB, env: DATABASE_URL}}";
    const { workspaces, secrets } = await config(
      `read: [/opt/node, /opt/x/../y/], network: ['Registry.npmjs.org:443', '[2606:4700::1111]:80'], credentials: ${credentials}`,
    );
    expect(workspaces[0]).toMatchObject({
      read: ["/opt/node", "/opt/y"],
      network: [
        { host: "registry.npmjs.org", port: 443 },
        { host: "[2606:4700::1111]", port: 80 },
      ],
      credentials: {
        github: { from: "WEB_TOKEN", env: "GITHUB_TOKEN", host: "github.com", value: ENV.WEB_TOKEN },
        db: { from: "DB", env: "DATABASE_URL", host: null, value: "postgres://u:p@db/x y" },
      },
    });
    expect(secrets).toEqual(["postgres://u:p@db/x y", ENV.WEB_TOKEN]);
  });

  test("has none of it when nothing is said", async () => {
    expect((await config("channels: []")).workspaces[0]).toMatchObject({ read: [], network: [], credentials: {} });
  });

  test.each([
    ["a relative path to read", "read: [opt/node]", "web: read: 0: must be an absolute path"],
    ["a host without a port", "network: [example.com]", "web: network: 0: is written HOST:PORT"],
    ["every host", "network: ['*']", "web: network: 0: is written HOST:PORT"],
    ["every host at a port", "network: ['*:443']", "web: network: 0: is written HOST:PORT"],
    ["a number as a host", "network: ['2130706433:80']", "web: network: 0: is written HOST:PORT"],
    ["a credential's odd name", "credentials: {'a b': {from: WEB_TOKEN, env: T}}", "a credential's name has only"],
    [
      "a value where its variable's name belongs",
      "credentials: {a: {from: ghp_Secret1, env: T}}",
      "credentials: a: from: must be the name",
    ],
    ["no variable", "credentials: {a: {from: WEB_TOKEN}}", "credentials: a: env:"],
    ["a variable that is none", "credentials: {a: {from: WEB_TOKEN, env: A-B}}", "credentials: a: env: must be the name"],
    [
      "an address as the host",
      "credentials: {a: {from: WEB_TOKEN, env: T, host: 'https://x.y'}}",
      "credentials: a: host: must be the name",
    ],
    ["an unknown key", "credentials: {a: {from: WEB_TOKEN, env: T, user: x}}", 'credentials: a: Unrecognized key: "user"'],
    ["a variable that is not set", "credentials: {a: {from: NONE, env: T}}", "credentials: a: from: NONE is not set"],
    ["a token of Deckhand's own", "credentials: {a: {from: SLACK_BOT_TOKEN, env: T}}", "a: from: SLACK_BOT_TOKEN is Deckhand's own"],
    [
      "two credentials in one variable",
      "credentials: {a: {from: WEB_TOKEN, env: T}, b: {from: DB, env: T}}",
      "b: another credential is for T, too",
    ],
    [
      "two credentials for one host",
      "credentials: {a: {from: WEB_TOKEN, env: A, host: x.y}, b: {from: DB, env: B, host: X.Y}}",
      "b: another credential is for host x.y, too",
    ],
  ])("%s is a problem that names its place", async (_, extras, words) => {
    const found = await problems(extras);
    expect(found).toEqual([expect.stringContaining(words)]);
    expect(found[0]).toMatch(/deckhand\.yaml: workspaces: web: /);
    expect(found[0]).not.toContain("ghp");
  });

  test.each([
    ["tiny-1", "too short to be kept out of outputs"],
    ["two\nlines and more", "one line of plain ASCII"],
  ])("a value that could not be hidden is a problem that does not show it", async (value, words) => {
    const [found] = await problems("credentials: {a: {from: WEB_TOKEN, env: T}}", { WEB_TOKEN: value });
    expect(found).toContain(words);
    expect(found).not.toContain(value);
  });

  test.each([
    ...["LD_PRELOAD", "PATH", "BASH_ENV", "NODE_OPTIONS", "GIT_SSH_COMMAND", "GIT_CONFIG_COUNT", "PYTHONPATH", "PERL5OPT", "RUBYOPT"],
    ...[
      "HOME",
      "IFS",
      "ENV",
      "PAGER",
      "EDITOR",
      "https_proxy",
      "npm_config_script_shell",
      "JAVA_TOOL_OPTIONS",
      "SSH_ASKPASS",
      "PS4",
      "RUSTC_WRAPPER",
    ],
  ])("a credential cannot be given as %s, which changes what programs do", async (name) => {
    expect(await problems(`credentials: {a: {from: WEB_TOKEN, env: ${name}}}`)).toEqual([
      expect.stringContaining("changes what programs do"),
    ]);
  });

  test.each([
    "GITHUB_TOKEN",
    "GIT_TOKEN",
    "GH_TOKEN",
    "NPM_TOKEN",
    "NODE_AUTH_TOKEN",
    "CARGO_REGISTRY_TOKEN",
    "AWS_SECRET_ACCESS_KEY",
    "DATABASE_URL",
    "API_KEY",
  ])("a credential can be given as %s", async (name) =>
    expect((await config(`credentials: {a: {from: WEB_TOKEN, env: ${name}}}`)).workspaces[0]?.credentials["a"]?.env).toBe(name),
  );
});
