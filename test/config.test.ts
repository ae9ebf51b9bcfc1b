import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { homedir, tmpdir } from "node:os";
import { join } from "node:path";
import { assert, asyncProperty, constantFrom, dictionary, oneof, string } from "fast-check";
import { describe, expect, onTestFinished, test } from "vitest";
import { type Config, loadConfig, readConfig, SETTINGS } from "../src/config.ts";
import { NotStarted } from "../src/core/errors.ts";
import { SHIPPED } from "../src/core/spending.ts";

const ROOT = join(import.meta.dirname, "..");
/** What a workspace has that says nothing of it. */
const NO_EXTRAS = { read: [], network: [], credentials: {} };

async function config(env: Record<string, string>, yaml: string | null = null): Promise<Config> {
  const read = await readConfig(env, () => yaml);
  if ("problems" in read) throw new Error(read.problems.join("\n"));
  return read.config;
}

async function problems(env: Record<string, string>, yaml: string | null = null): Promise<string[]> {
  const read = await readConfig(env, () => yaml);
  return "problems" in read ? read.problems : [];
}

/** As when deckhand.yaml says nothing of models. */
function onlyModel(name: string): Config["models"] {
  const all = [{ name, model: name, baseUrl: null, apiKey: null, api: null, window: null }];
  return { all, open: [name], workspaces: {}, channels: {}, fallback: null };
}

describe("the configuration", () => {
  test("with nothing set lets nobody do anything and has every default", async () => {
    expect(await config({})).toEqual({
      slack: null,
      discord: null,
      model: { apiKey: null, baseUrl: null, model: "gpt-5", api: "auto" },
      redisUrl: "redis://127.0.0.1:6379",
      workspaces: [],
      rules: [],
      limits: SHIPPED,
      prices: {},
      models: onlyModel("gpt-5"),
      users: [],
      approvers: [],
      sandbox: "bwrap",
      runAs: null,
      apart: [ROOT, join(ROOT, "deckhand.yaml")],
      posture: "contained",
      stateDir: process.getuid?.() === 0 ? "/var/lib/deckhand" : join(homedir(), ".local/state/deckhand"),
      logLevel: "info",
      approvalMs: 24 * 3_600_000,
      lockMs: 10_000,
      stalledMs: 3_000,
      graceMs: 20_000,
      killAt: null,
      path: [],
      floodBytes: 64_000_000,
      secrets: [],
    });
  });

  test("takes every setting from the environment", async () => {
    const env = {
      SLACK_BOT_TOKEN: "xoxb-1-abc",
      SLACK_APP_TOKEN: "xapp-1-abc",
      SLACK_API_URL: "http://127.0.0.1:4000/api/",
      DISCORD_TOKEN: "discord-token",
      DISCORD_API_URL: "http://127.0.0.1:4001/api",
      OPENAI_API_KEY: "sk-secret",
      OPENAI_BASE_URL: "http://127.0.0.1:5000/v1",
      OPENAI_MODEL: "local/model:7b",
      REDIS_URL: "redis://:p%40ssword@10.0.0.1:6380/2",
      DECKHAND_WORKSPACES: "web=/srv/web/,api=/srv/api",
      DECKHAND_CHANNELS: "slack:C1=web,slack:C2=api",
      DECKHAND_USERS: "slack:*,discord:42",
      DECKHAND_APPROVERS: "slack:U1,discord:role:7",
      DECKHAND_SANDBOX: "none",
      DECKHAND_RUN_AS: "deck",
      DECKHAND_POSTURE: "contained",
      DECKHAND_STATE: "/var/lib/deckhand",
      DECKHAND_LOG: "debug",
      DECKHAND_OUTPUT_MAX_MB: "2.5",
      DECKHAND_APPROVAL_HOURS: "0.5",
      DECKHAND_LOCK_MS: "2000",
      DECKHAND_STALLED_MS: "500",
      DECKHAND_GRACE_MS: "5000",
      DECKHAND_KILL_AT: "kept:2",
      PATH: "/usr/bin:relative::/opt/bin",
    };
    expect(await config(env)).toEqual({
      slack: { botToken: "xoxb-1-abc", appToken: "xapp-1-abc", apiUrl: "http://127.0.0.1:4000/api/" },
      discord: { token: "discord-token", apiUrl: "http://127.0.0.1:4001/api" },
      model: { apiKey: "sk-secret", baseUrl: "http://127.0.0.1:5000/v1", model: "local/model:7b", api: "auto" },
      redisUrl: "redis://:p%40ssword@10.0.0.1:6380/2",
      workspaces: [
        { name: "web", path: "/srv/web", channels: ["slack:C1"], users: null, approvers: null, ...NO_EXTRAS },
        { name: "api", path: "/srv/api", channels: ["slack:C2"], users: null, approvers: null, ...NO_EXTRAS },
      ],
      rules: [],
      limits: SHIPPED,
      prices: {},
      models: onlyModel("local/model:7b"),
      users: ["slack:*", "discord:42"],
      approvers: ["slack:U1", "discord:role:7"],
      sandbox: "none",
      runAs: "deck",
      apart: [ROOT, join(ROOT, "deckhand.yaml")],
      posture: "contained",
      stateDir: "/var/lib/deckhand",
      logLevel: "debug",
      approvalMs: 1_800_000,
      lockMs: 2000,
      stalledMs: 500,
      graceMs: 5000,
      killAt: "kept:2",
      path: ["/usr/bin", "/opt/bin"],
      floodBytes: 2_500_000,
      secrets: ["redis://:p%40ssword@10.0.0.1:6380/2", "discord-token", "xoxb-1-abc", "xapp-1-abc", "p%40ssword", "sk-secret", "p@ssword"],
    });
  });

  test("cannot be changed afterwards", async () => {
    const frozen = await config({ DECKHAND_WORKSPACES: "web=/srv/web" });
    expect(() => Object.assign(frozen, { sandbox: "none" })).toThrow(TypeError);
    expect(() => frozen.users.push("slack:*")).toThrow(TypeError);
    expect(() => frozen.workspaces[0]?.channels.push("slack:C1")).toThrow(TypeError);
  });

  test("drops blanks and the quotes that documents put around a value", async () => {
    const env = { SLACK_BOT_TOKEN: " “xoxb-1” ", SLACK_APP_TOKEN: "'xapp-1'\u00a0", OPENAI_MODEL: "\u200B«m»\n", DECKHAND_RUN_AS: ' "" ' };
    expect(await config(env)).toMatchObject({ slack: { botToken: "xoxb-1", appToken: "xapp-1" }, model: { model: "m" }, runAs: null });
  });

  test("takes what is relative from its own folder, not from the current one", async () => {
    const asked: string[] = [];
    const read = await readConfig({ DECKHAND_STATE: "state" }, (path) => {
      asked.push(path);
      return null;
    });
    expect(asked).toEqual([join(ROOT, "deckhand.yaml")]);
    expect(read).toMatchObject({ config: { stateDir: join(ROOT, "state") } });
  });
});

describe("a problem", () => {
  test("is reported together with all the others, each with its setting", async () => {
    const env = {
      SLACK_BOT_TOKEN: "xapp-1-mixed-up",
      REDIS_URL: "127.0.0.1:6379",
      DECKHAND_WORKSPACES: "Web=/srv/web",
      DECKHAND_CHANNELS: "slack:C1=web",
      DECKHAND_LOG: "loud",
      DECKHAND_LOCK_MS: "soon",
    };
    const names = (await problems(env, "workspaces: [")).map((problem) => problem.split(":")[0]);
    expect(new Set(names)).toEqual(new Set([...Object.keys(env), "SLACK_APP_TOKEN", join(ROOT, "deckhand.yaml")]));
  });

  test.each<[string, Record<string, string>, string]>([
    ["a bot token of another kind", { SLACK_BOT_TOKEN: "xoxp-1", SLACK_APP_TOKEN: "xapp-1" }, "SLACK_BOT_TOKEN: must begin with xoxb-"],
    ["one Slack token without the other", { SLACK_BOT_TOKEN: "xoxb-1" }, "SLACK_APP_TOKEN: is missing"],
    ["a model address without http", { OPENAI_BASE_URL: "localhost:8080/v1" }, "OPENAI_BASE_URL: must be an address"],
    ["a key with a blank", { OPENAI_API_KEY: "sk 1" }, "OPENAI_API_KEY: must be one word"],
    ["a Redis password that is not encoded", { REDIS_URL: "redis://:a%zz@localhost" }, "REDIS_URL: must look like"],
    [
      "a workspace with a relative path",
      { DECKHAND_WORKSPACES: "web=web" },
      'DECKHAND_WORKSPACES: "web" cannot be used; a workspace\'s path must be absolute',
    ],
    ["a workspace without a path", { DECKHAND_WORKSPACES: "web" }, 'DECKHAND_WORKSPACES: "web" cannot be read; write name=/path'],
    ["a name given twice", { DECKHAND_WORKSPACES: "web=/a,web=/b" }, 'DECKHAND_WORKSPACES: "web" is there twice'],
    ["a workspace inside another", { DECKHAND_WORKSPACES: "a=/srv,b=/srv/b" }, 'DECKHAND_WORKSPACES: "b" lies inside "a"'],
    ["a folder given twice", { DECKHAND_WORKSPACES: "a=/srv,b=/srv/" }, 'DECKHAND_WORKSPACES: "b" lies inside "a"'],
    ["a workspace that holds Deckhand itself", { DECKHAND_WORKSPACES: `a=${ROOT}` }, `lies inside the workspace "a"`],
    [
      "a channel's name for its id",
      { DECKHAND_CHANNELS: "#general=web" },
      'DECKHAND_CHANNELS: "#general" cannot be read; a channel is written slack:C1',
    ],
    ["a channel of no workspace", { DECKHAND_CHANNELS: "slack:C1=web" }, 'DECKHAND_CHANNELS: slack:C1=web: there is no workspace "web"'],
    [
      "a person's name for their id",
      { DECKHAND_USERS: "@ann,slack:U1" },
      "DECKHAND_USERS: @ann cannot be read; a person is written slack:U1",
    ],
    ["an unknown word", { DECKHAND_SANDBOX: "docker" }, 'DECKHAND_SANDBOX: must be one of bwrap, none, not "docker"'],
    ["commands as root", { DECKHAND_RUN_AS: "root" }, "DECKHAND_RUN_AS: must not be root"],
    ["commands as 0", { DECKHAND_RUN_AS: "0" }, "DECKHAND_RUN_AS: must not be root"],
    ["no hours at all", { DECKHAND_APPROVAL_HOURS: "0" }, "DECKHAND_APPROVAL_HOURS: must be a number above 0 to 2160"],
    [
      "hours that are no number",
      { DECKHAND_APPROVAL_HOURS: "NaN" },
      'DECKHAND_APPROVAL_HOURS: must be a number above 0 to 2160, not "NaN"',
    ],
    ["a lock that is too short", { DECKHAND_LOCK_MS: "100" }, "DECKHAND_LOCK_MS: must be a number from 500"],
    [
      "looks rarer than the lock",
      { DECKHAND_LOCK_MS: "2000", DECKHAND_STALLED_MS: "2000" },
      "DECKHAND_STALLED_MS: must be less than DECKHAND_LOCK_MS",
    ],
    [
      "a configuration file that is not there",
      { DECKHAND_CONFIG: "/etc/deckhand.yaml" },
      "DECKHAND_CONFIG: /etc/deckhand.yaml is not there",
    ],
  ])("%s says how to mend it", async (_, env, problem) => {
    expect(await problems(env)).toEqual([expect.stringContaining(problem)]);
  });

  test("never shows a secret", async () => {
    const env = {
      SLACK_BOT_TOKEN: "hunter2-bot",
      SLACK_APP_TOKEN: "hunter2-app",
      OPENAI_API_KEY: "hunter2 key",
      REDIS_URL: "hunter2.redis",
    };
    expect(await problems(env)).toHaveLength(4);
    expect((await problems(env)).join("\n")).not.toContain("hunter2");
  });

  test("keeps `loadConfig` from giving a configuration, with a line and the code for each", async () => {
    const load = (): Promise<Config> => loadConfig({ DECKHAND_LOG: "loud", DECKHAND_SANDBOX: "docker" });
    await expect(load).rejects.toThrow(NotStarted);
    await expect(load).rejects.toThrow(/^DECKHAND_SANDBOX: .* \(CONFIG\)\nDECKHAND_LOG: .* \(CONFIG\)$/);
  });

  test("is all that any text can lead to: never an exception, never NaN", async () => {
    const names = SETTINGS.map((s) => s.name as string);
    const text = oneof(string(), constantFrom("a=/b,c=/d", "slack:C1=a", "slack:*", "redis://:%41@h", "1e9", "%", ",", "=", "~/x"));
    await assert(
      asyncProperty(dictionary(constantFrom(...names), text), string(), async (env, yaml) => {
        const read = await readConfig(env, () => yaml);
        if ("problems" in read) return read.problems.length > 0;
        return [read.config.approvalMs, read.config.lockMs, read.config.stalledMs].every(Number.isFinite);
      }),
      { numRuns: 300 },
    );
  });
});

describe("workspaces and channels", () => {
  const TWO = "a=/srv/a,b=/srv/b";
  const namesOf = (c: Config): string[] => c.workspaces.map((w) => w.name);

  test("a single workspace without channels serves every channel", async () => {
    expect((await config({ DECKHAND_WORKSPACES: "a=/srv/a" })).workspaces).toMatchObject([{ name: "a", channels: [] }]);
  });

  test("the first workspace named for a channel comes first", async () => {
    const read = await config({ DECKHAND_WORKSPACES: TWO, DECKHAND_CHANNELS: "slack:C1=b,slack:C1=a,slack:C1=a" });
    expect(namesOf(read)).toEqual(["b", "a"]);
    expect(read.workspaces).toMatchObject([{ channels: ["slack:C1"] }, { channels: ["slack:C1"] }]);
  });

  test("two channels with opposite orders are a problem", async () => {
    const env = { DECKHAND_WORKSPACES: TWO, DECKHAND_CHANNELS: "slack:C1=a,slack:C1=b,slack:C2=b,slack:C2=a" };
    expect(await problems(env)).toEqual([
      "DECKHAND_CHANNELS: slack:C2 names b before a, another channel the other way round; keep one order",
    ]);
  });

  test("a path with ~ is the home folder of whoever starts Deckhand", async () => {
    expect((await config({ DECKHAND_WORKSPACES: "a=~/a" })).workspaces).toMatchObject([{ path: join(homedir(), "a") }]);
  });
});

describe("deckhand.yaml", () => {
  const YAML = "workspaces:\n  web:\n    path: /srv/web\n    channels: [slack:C1]\n    users: ['slack:U1']\n    approvers: []\n";

  test("gives workspaces their own channels and people", async () => {
    expect((await config({ DECKHAND_WORKSPACES: "api=/srv/api" }, YAML)).workspaces).toEqual([
      { name: "api", path: "/srv/api", channels: [], users: null, approvers: null, ...NO_EXTRAS },
      { name: "web", path: "/srv/web", channels: ["slack:C1"], users: ["slack:U1"], approvers: [], ...NO_EXTRAS },
    ]);
  });

  test("and the environment must not name the same workspace", async () => {
    expect(await problems({ DECKHAND_WORKSPACES: "web=/srv/other" }, YAML)).toEqual([expect.stringContaining('"web" is there twice')]);
  });

  test.each([
    ["an unknown key", "workspace: {}", 'Unrecognized key: "workspace"'],
    ["an unknown key in a workspace", "workspaces: {web: {path: /srv/web, user: []}}", 'workspaces: web: Unrecognized key: "user"'],
    ["a relative path", "workspaces: {web: {path: web}}", "workspaces: web: path: a workspace's path must be absolute"],
    ["a channel's name", "workspaces: {web: {path: /w, channels: ['#a']}}", "workspaces: web: channels: 0: a channel is written slack:C1"],
    ["what is not YAML", "workspaces: [", "at line 1"],
    ["a list", "- 1", "expected object"],
  ])("%s is a problem that names its place", async (_, yaml, problem) => {
    expect(await problems({}, yaml)).toEqual([expect.stringContaining(problem)]);
    expect((await problems({}, yaml))[0]).toMatch(/^\/.*deckhand\.yaml: /);
  });

  test("is read from the file that DECKHAND_CONFIG names", async () => {
    const folder = mkdtempSync(join(tmpdir(), "deckhand-config-"));
    onTestFinished(() => rmSync(folder, { recursive: true }));
    writeFileSync(join(folder, "d.yaml"), YAML);
    expect((await loadConfig({ DECKHAND_CONFIG: join(folder, "d.yaml") })).workspaces).toMatchObject([{ name: "web" }]);
    await expect(loadConfig({ DECKHAND_CONFIG: folder })).rejects.toThrow("cannot be read");
  });
});
