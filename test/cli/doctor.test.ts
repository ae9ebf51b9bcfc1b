import { chmodSync, mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { SCOPES } from "../../src/chat/slack/manifest.ts";
import { say } from "../../src/model/script.ts";
import { type ScriptedModel, startScriptedModel } from "../../src/model/scripted.ts";
import { type SlackTwin, startSlackTwin } from "../../src/twin/slack/twin.ts";
import { type TestRedis, freePort, startRedis } from "../support/redis.ts";
import { type TestWorkspace, isRoot, makeWorkspace } from "../support/workspace.ts";
import { type Ended, deckhand, pathWith, pathWithout, startStub } from "./kit.ts";

const HOST = ["node", "git", "setpriv", "flock", "bwrap", "socat", "cgroup"];
const WELL = [...HOST, "configuration", "redis", "workspace api", "claims", "model", "limits", "access", "slack"];
let place: TestWorkspace;
let redis: TestRedis;
let model: ScriptedModel;
let twin: SlackTwin;
let env: Record<string, string | undefined>;

beforeAll(async () => {
  place = makeWorkspace();
  [redis, model, twin] = await Promise.all([
    startRedis(),
    startScriptedModel(() => say("yes")),
    startSlackTwin({ limits: false, appScopes: [...SCOPES] }),
  ]);
  env = {
    ...slackOf(twin),
    OPENAI_BASE_URL: model.baseUrl,
    OPENAI_MODEL: "scripted",
    REDIS_URL: redis.url,
    DECKHAND_WORKSPACES: `api=${place.path}`,
    DECKHAND_USERS: "slack:*",
    DECKHAND_APPROVERS: "slack:U1",
    DECKHAND_STATE: place.stateDir,
  };
});

afterAll(async () => {
  await Promise.all([redis.stop(), model.close(), twin.close()]);
  place.cleanup();
});

function slackOf({ botToken, appToken, apiUrl }: SlackTwin): Record<string, string> {
  return { SLACK_BOT_TOKEN: botToken, SLACK_APP_TOKEN: appToken, SLACK_API_URL: apiUrl };
}

/** What it said of each requirement: the lines of those that are well, and of those that fail. */
interface Report extends Ended {
  ok: string[];
  failed: string[];
}

async function doctor(more: Record<string, string | undefined> = {}): Promise<Report> {
  const ended = await deckhand(["doctor"], { env: { ...env, ...more } });
  const of = (word: string) => ended.stdout.split("\n").flatMap((line) => (line.startsWith(word) ? [line.slice(word.length).trim()] : []));
  expect(ended.stdout).not.toMatch(/\[object|^ +at |undefined/m);
  expect(ended.stderr).toBe("");
  return { ...ended, ok: of("ok "), failed: of("FAIL ") };
}

const name = (line: string) => line.slice(0, line.indexOf(":"));

/** Nothing but this fails. */
function onlyFails({ code, ok, failed, stdout }: Report, what: string, lines: RegExp[]): void {
  expect(failed).toEqual(lines.map((line) => expect.stringMatching(line) as string));
  expect(new Set(failed.map(name))).toEqual(new Set([what]));
  // Without any platform there is one check for all of them.
  expect(ok.map(name)).toEqual(WELL.filter((each) => each !== (what === "chat" ? "slack" : what)));
  expect(stdout).toMatch(/\n1 of \d+ checks failed\.\n$/);
  expect(code).toBe(1);
}

test("all in place: a line for each requirement, exit 0", async () => {
  const { code, ok, failed, stdout } = await doctor();
  expect(failed).toEqual([]);
  expect(ok.map(name)).toEqual(WELL);
  expect(stdout).toMatch(/workspace api: sandboxed: no network, workspace only\n/);
  expect(stdout).toMatch(/\nEverything is in place\.\n$/);
  expect(code).toBe(0);
});

test("a wrong configuration: every problem at once, with its setting", async () => {
  const { code, failed, ok } = await doctor({ SLACK_APP_TOKEN: "", REDIS_URL: "nonsense", DECKHAND_USERS: "ann" });
  expect(failed).toEqual([
    expect.stringMatching(/^configuration: .*REDIS_URL: must look like redis:.*\(CONFIG\)$/),
    expect.stringMatching(/^configuration: .*DECKHAND_USERS: ann cannot be read; .*\(CONFIG\)$/),
    expect.stringMatching(/^configuration: .*SLACK_APP_TOKEN: is missing.*\(CONFIG\)$/),
  ]);
  expect(ok.map(name)).toEqual(HOST);
  expect(code).toBe(1);
});

describe("programs", () => {
  test.each(["git"])("%s is missing: PROGRAM_MISSING", async (program) => {
    onlyFails(await doctor({ PATH: pathWithout(place.root, program) }), program, [
      /is not installed\. Run `script\/bootstrap`\. \(PROGRAM_MISSING\)$/,
    ]);
  });

  test.each(["setpriv", "flock"])("%s is missing: PROGRAM_MISSING, and the sandbox says that it needs it", async (program) => {
    const { code, failed } = await doctor({ PATH: pathWithout(place.root, program) });
    expect(failed).toEqual([
      expect.stringMatching(new RegExp(`^${program}: ${program} is not installed.*\\(PROGRAM_MISSING\\)$`)),
      expect.stringMatching(new RegExp(`^workspace api: ${program} is not installed.*util-linux.*\\(SANDBOX_TOOL\\)$`)),
    ]);
    expect(code).toBe(1);
  });

  test("bubblewrap is missing: SANDBOX_MISSING, for the program and for the workspace", async () => {
    const { code, failed } = await doctor({ PATH: pathWithout(place.root, "bwrap") });
    expect(failed.map(name)).toEqual(["bwrap", "workspace api"]);
    for (const line of failed) expect(line).toMatch(/bubblewrap is not installed\. .*apt-get install bubblewrap.*\(SANDBOX_MISSING\)$/);
    expect(code).toBe(1);
  });

  test("bubblewrap lies where only root may look: SANDBOX_MISSING for the workspace", async () => {
    const closed = pathWithout(place.root);
    chmodSync(closed, 0o700);
    const { failed } = await doctor({ PATH: closed });
    if (isRoot()) expect(failed).toEqual([expect.stringMatching(/^workspace api: .*\(SANDBOX_MISSING\)$/)]);
    else expect(failed).toEqual([]);
  });

  test("the kernel does not let it start: its word, and the code and mend for this very machine", async () => {
    const refusing = '#!/bin/sh\necho "bwrap: No permissions to create a new namespace" >&2\nexit 1\n';
    onlyFails(await doctor({ PATH: pathWith(place.root, "bwrap", refusing) }), "workspace api", [
      /No permissions to create a new namespace.*\(SANDBOX_(?:DENIED|USERNS|APPARMOR|CONTAINER)\)$/,
    ]);
  });
});

describe("Redis", () => {
  test("is not there: REDIS_DOWN", async () => {
    const REDIS_URL = `redis://127.0.0.1:${await freePort()}`;
    onlyFails(await doctor({ REDIS_URL }), "redis", [/does not answer: .*ECONNREFUSED.* Start it .*\(REDIS_DOWN\)$/]);
  });

  test.each([
    ["throws data away", ["--maxmemory-policy", "allkeys-lru"], [/allkeys-lru.*`maxmemory-policy noeviction`.*\(REDIS_UNSAFE\)$/]],
    ["keeps nothing on disk", ["--appendonly", "no"], [/`appendonly yes`.*\(REDIS_UNSAFE\)$/]],
    ["has too little memory", ["--maxmemory", "1200kb"], [/% of its memory is in use.*`maxmemory`.*\(REDIS_FULL\)$/]],
    ["is a replica", ["--replicaof", "127.0.0.1 1"], [/takes no writes.*master's address into REDIS_URL.*\(REDIS_UNSAFE\)$/]],
    [
      "does both",
      ["--appendonly", "no", "--maxmemory-policy", "volatile-ttl"],
      [/noeviction.*\(REDIS_UNSAFE\)$/, /appendonly yes.*\(REDIS_UNSAFE\)$/],
    ],
  ])("%s: its code, with what to set", async (_name, args, lines) => {
    const unsafe = await startRedis({ args });
    try {
      onlyFails(await doctor({ REDIS_URL: unsafe.url }), "redis", lines);
    } finally {
      await unsafe.stop();
    }
  });
});

describe("the workspace", () => {
  test("is not set: CONFIG with the form", async () => {
    const { code, failed } = await doctor({ DECKHAND_WORKSPACES: undefined });
    expect(failed).toEqual([expect.stringMatching(/^workspaces: .*set DECKHAND_WORKSPACES=name=\/path.*\(CONFIG\)$/)]);
    expect(code).toBe(1);
  });

  test("is not there: WORKSPACE_MISSING", async () => {
    onlyFails(await doctor({ DECKHAND_WORKSPACES: "api=/srv/nowhere-at-all" }), "workspace api", [
      /\/srv\/nowhere-at-all is not there.*\(WORKSPACE_MISSING\)$/,
    ]);
  });

  test("belongs to root (or is closed to us): RUN_AS (WORKSPACE_UNUSABLE) with the mend", async () => {
    const path = join(place.root, "closed");
    mkdirSync(path);
    chmodSync(path, 0o555);
    const line = isRoot() ? /`chown -R \S+ \S+\/closed`.*DECKHAND_RUN_AS=USER.*\(RUN_AS\)$/ : /`chmod u\+rwx \S+`.*\(WORKSPACE_UNUSABLE\)$/;
    onlyFails(await doctor({ DECKHAND_WORKSPACES: `api=${path}` }), "workspace api", [line]);
  });

  test("is one of several: only the bad one fails, under its name", async () => {
    const { failed, ok } = await doctor({ DECKHAND_WORKSPACES: `api=${place.path},web=/srv/nowhere-at-all` });
    expect(failed.map(name)).toEqual(["workspace web"]);
    expect(ok.map(name)).toContain("workspace api");
  });

  test("has no sandbox on purpose: said plainly, and Redis then needs a password", async () => {
    const { failed, ok } = await doctor({ DECKHAND_SANDBOX: "none" });
    expect(ok).toContain("sandbox: Commands here run WITHOUT a sandbox (DECKHAND_SANDBOX=none).");
    expect(ok).toContain("workspace api: NOT SANDBOXED");
    expect(failed).toEqual([expect.stringMatching(/^redis: .*`requirepass`.*\(REDIS_UNSAFE\)$/)]);
  });
});

describe("the model", () => {
  test.each([
    ["refuses the key", 401, '{"error":{"message":"bad"}}', /OPENAI_API_KEY.*\(MODEL_AUTH\)$/],
    ["refuses this key", 403, '{"error":{"message":"no"}}', /\(403\).*\(MODEL_FORBIDDEN\)$/],
    ["is not at that address", 404, "nothing here", /OPENAI_BASE_URL.*\(MODEL_URL\)$/],
    ["is a web page", 200, "<!doctype html><title>Hi</title>", /web page.*OPENAI_BASE_URL.*\(MODEL_HTML\)$/],
    ["is broken", 500, "oops", /does not answer: 500, oops.*\(MODEL_DOWN\)$/],
  ])("%s (%i): its code and the mend", async (_name, status, body, line) => {
    const stub = await startStub(status, body, "text/plain");
    try {
      onlyFails(await doctor({ OPENAI_BASE_URL: stub.baseUrl }), "model", [line]);
    } finally {
      await stub.close();
    }
  });

  test("is not there: MODEL_DOWN with the address", async () => {
    const address = `http://127.0.0.1:${await freePort()}/v1`;
    onlyFails(await doctor({ OPENAI_BASE_URL: address }), "model", [new RegExp(`nothing listens at ${address}.*\\(MODEL_DOWN\\)$`)]);
  });

  test("is one of several: each is asked for where it is, under its name", async () => {
    const file = join(place.root, "models.yaml");
    const port = await freePort();
    writeFileSync(file, `models: {mini: {}, spare: {base_url: "http://127.0.0.1:${port}/v1"}}\nfallback: spare\n`);
    const { ok, failed } = await doctor({ DECKHAND_CONFIG: file });
    expect(ok.filter((line) => line.startsWith("model"))).toEqual([
      expect.stringMatching(/^model: /),
      expect.stringMatching(/^model mini: /),
    ]);
    expect(failed).toEqual([expect.stringMatching(new RegExp(`^model spare: .*127\\.0\\.0\\.1:${port}.*MODEL_DOWN`))]);
  });

  test("does not list the name: well, with a word about it", async () => {
    const { code, ok } = await doctor({ OPENAI_MODEL: "other" });
    expect(ok.find((line) => name(line) === "model")).toMatch(/its list of models lacks other: check OPENAI_MODEL/);
    expect(code).toBe(0);
  });
});

describe("limits", () => {
  /** Where `deckhand.yaml` says so. */
  function saying(yaml: string): Record<string, string> {
    const file = join(place.root, "limits.yaml");
    writeFileSync(file, yaml);
    return { DECKHAND_CONFIG: file };
  }

  test("in money are told of when the model's price is unknown: PRICE_UNKNOWN", async () => {
    onlyFails(await doctor(saying("limits: {day: {usd: 20}}")), "limits", [
      /what the model costs: scripted\. Add its price.*\(PRICE_UNKNOWN\)$/,
    ]);
  });

  test("are told with the price that holds", async () => {
    const { ok } = await doctor(saying("limits: {day: {usd: 20}}\nprices: {scripted: {input: 1, output: 2}}"));
    expect(ok.find((line) => name(line) === "limits")).toMatch(
      /a day \$20\.00; price of scripted: \$1 in, \$2 out per million tokens \(deckhand\.yaml\)$/,
    );
  });
});

describe("people and Slack", () => {
  test("nobody may ask and nobody may approve: CONFIG for each", async () => {
    onlyFails(await doctor({ DECKHAND_USERS: undefined, DECKHAND_APPROVERS: undefined }), "access", [
      /nobody may ask: set DECKHAND_USERS.*\(CONFIG\)$/,
      /nobody may approve: set DECKHAND_APPROVERS.*\(CONFIG\)$/,
    ]);
  });

  test("no tokens: CONFIG with their names", async () => {
    const none = { SLACK_BOT_TOKEN: undefined, SLACK_APP_TOKEN: undefined };
    onlyFails(await doctor(none), "chat", [/set SLACK_BOT_TOKEN and SLACK_APP_TOKEN, or DISCORD_TOKEN.*\(CONFIG\)$/]);
  });

  test("wrong tokens: SLACK_AUTH for each", async () => {
    onlyFails(await doctor({ SLACK_BOT_TOKEN: "xoxb-wrong", SLACK_APP_TOKEN: "xapp-wrong" }), "slack", [
      /SLACK_BOT_TOKEN: invalid_auth.*\(SLACK_AUTH\)$/,
      /SLACK_APP_TOKEN: invalid_auth.*\(SLACK_AUTH\)$/,
    ]);
  });

  test("a scope is missing: SLACK_SCOPE that names it", async () => {
    const poor = await startSlackTwin({ limits: false, appScopes: SCOPES.filter((scope) => scope !== "files:write") });
    try {
      onlyFails(await doctor(slackOf(poor)), "slack", [/the scopes files:write\. .*`deckhand manifest slack`.*\(SLACK_SCOPE\)$/]);
    } finally {
      await poor.close();
    }
  });

  test("Slack does not answer: SLACK_DOWN", async () => {
    const SLACK_API_URL = `http://127.0.0.1:${await freePort()}/api/`;
    onlyFails(await doctor({ SLACK_API_URL }), "slack", [/connect ECONNREFUSED 127\.0\.0\.1.*\(SLACK_DOWN\)$/]);
  });
});
