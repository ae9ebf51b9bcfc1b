import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { bash, say } from "../../src/model/script.ts";
import { type Corridor, openCorridor } from "../support/corridor.ts";
import { type TestRedis, freePort, startRedis } from "../support/redis.ts";
import { type TestWorkspace, makeWorkspace } from "../support/workspace.ts";
import { DECKHAND, type Running, deckhand, pathWithout, start } from "./kit.ts";

let deck: Corridor;
let place: TestWorkspace;
let running: Running[];
let redises: TestRedis[];

beforeEach(async () => {
  place = makeWorkspace();
  running = [];
  redises = [];
  deck = await openCorridor({
    rules: [{ when: /list/, steps: [() => bash("ls -A"), ({ lastResult }) => say(`Result: ${lastResult}`)] }],
    start: false,
  });
});

afterEach(async () => {
  for (const each of running) each.kill("SIGKILL");
  await Promise.all(running.map((each) => each.ended));
  await Promise.all(redises.map((redis) => redis.stop()));
  await deck.close();
  place.cleanup();
});

type Env = Record<string, string | undefined>;
const NO_SLACK = { SLACK_BOT_TOKEN: undefined, SLACK_APP_TOKEN: undefined, SLACK_API_URL: undefined };

function begin(role: string, more: Env = {}): Running {
  const child = start([DECKHAND, "start", "--role", role], { env: { ...deck.env, ...more } });
  running.push(child);
  return child;
}

const refused = (role: string, more: Env) => deckhand(["start", "--role", role], { env: { ...deck.env, ...more } });

async function own(...args: string[]): Promise<TestRedis> {
  const redis = await startRedis({ args });
  redises.push(redis);
  return redis;
}

describe("deckhand start", () => {
  test("says that it is ready, works, and ends with 0 at SIGTERM", async () => {
    const all = start([DECKHAND, "start"], { env: deck.env });
    running.push(all);
    await all.says(/^deckhand is ready \(all\)$/m);
    await (await deck.mention("list the files")).shows(/Result: /);
    all.kill("SIGTERM");
    expect(await all.ended).toMatchObject({ code: 0, stdout: "deckhand is ready (all)\n", stderr: "" });
  });

  test("works as two roles: a gateway that knows no folder and no sandbox, a worker that knows no token", async () => {
    const gateway = begin("gateway", {
      DECKHAND_WORKSPACES: "api=/srv/is/on/another/machine",
      OPENAI_BASE_URL: undefined,
      PATH: pathWithout(place.root, "bwrap", "setpriv", "flock"),
    });
    const worker = begin("worker", NO_SLACK);
    await gateway.says(/^deckhand is ready \(gateway\)$/m);
    await worker.says(/^deckhand is ready \(worker\)$/m);
    await (await deck.mention("list the files")).shows(/Result: /);
    for (const each of [gateway, worker]) each.kill("SIGTERM");
    expect([(await gateway.ended).code, (await worker.ended).code]).toEqual([0, 0]);
  });

  test("goes on when nobody reads what it prints", async () => {
    const all = start(["bash", "-c", 'exec "$0" start > >(true)', DECKHAND], { env: deck.env });
    running.push(all);
    await deck.twin.waitFor(() => deck.twin.sockets() > 0, 60_000);
    const said = await deck.mention("list the files");
    await said.shows(/Result: /);
    all.kill("SIGTERM");
    expect(await all.ended).toMatchObject({ code: 0, stderr: "" });
  });

  test("shows in every thread that there is no sandbox, when there is none", async () => {
    const redis = await own("--requirepass", "secret123");
    const REDIS_URL = redis.url.replace("://", "://:secret123@");
    const all = begin("all", { DECKHAND_SANDBOX: "none", REDIS_URL });
    await all.says(/is ready/);
    const said = await deck.mention("list the files");
    await said.shows(/Result: /);
    await said.shows(/Commands here run WITHOUT a sandbox \(DECKHAND_SANDBOX=none\)\./);
    await (await deck.mention("hello", { channel: "C2" })).shows(/Commands here run WITHOUT a sandbox/);
    expect(all.said()).not.toContain("secret123");
  });

  test("ends with 0 at SIGTERM also while it still waits for Slack", async () => {
    const waiting = begin("all", { SLACK_API_URL: `http://127.0.0.1:${await freePort()}/api/`, DECKHAND_LOG: "warn" });
    await waiting.says(/slack\.down/);
    waiting.kill("SIGTERM");
    const { code, stdout } = await waiting.ended;
    expect({ code, stdout }).toEqual({ code: 0, stdout: "" });
  });
});

describe("what keeps it from starting", () => {
  test("is told all at once: Redis, no tokens, no sandbox; exit 3", async () => {
    const redis = await own("--appendonly", "no", "--maxmemory-policy", "allkeys-lru");
    const { code, stdout, stderr } = await refused("all", {
      ...NO_SLACK,
      REDIS_URL: redis.url,
      PATH: pathWithout(place.root, "bwrap"),
    });
    expect(stderr.trimEnd().split("\n")).toEqual([
      expect.stringMatching(/`maxmemory-policy noeviction`.*\(REDIS_UNSAFE\)$/),
      expect.stringMatching(/`appendonly yes`.*\(REDIS_UNSAFE\)$/),
      expect.stringMatching(/set SLACK_BOT_TOKEN and SLACK_APP_TOKEN.*\(CONFIG\)$/),
      expect.stringMatching(/^bubblewrap is not installed.*\(SANDBOX_MISSING\)$/),
    ]);
    expect({ code, stdout }).toEqual({ code: 3, stdout: "" });
  });

  test("no workspace and no Redis: exit 3, a line for each", async () => {
    const { code, stdout, stderr } = await refused("worker", {
      ...NO_SLACK,
      DECKHAND_WORKSPACES: undefined,
      REDIS_URL: `redis://127.0.0.1:${await freePort()}`,
    });
    expect(stderr.trimEnd().split("\n")).toEqual([
      expect.stringMatching(/\(REDIS_DOWN\)$/),
      expect.stringMatching(/set DECKHAND_WORKSPACES=name=\/path.*\(CONFIG\)$/),
    ]);
    expect({ code, stdout }).toEqual({ code: 3, stdout: "" });
  });

  test("a wrong workspace among good ones: exit 3, and nothing is started", async () => {
    const { code, stderr } = await refused("worker", { DECKHAND_WORKSPACES: `api=${deck.workspace},web=/srv/nowhere-at-all` });
    expect(stderr).toMatch(/^The workspace \/srv\/nowhere-at-all is not there.*\(WORKSPACE_MISSING\)\n$/);
    expect(code).toBe(3);
  });

  test("a token that Slack refuses: exit 3, at once and with the setting", async () => {
    const [bot, app] = await Promise.all([
      refused("gateway", { SLACK_BOT_TOKEN: "xoxb-wrong" }),
      refused("gateway", { SLACK_APP_TOKEN: "xapp-wrong" }),
    ]);
    expect(bot.stderr).toMatch(/SLACK_BOT_TOKEN: invalid_auth.*\(SLACK_AUTH\)\n$/);
    expect(app.stderr).toMatch(/invalid_auth.*SLACK_APP_TOKEN.*\(SLACK_AUTH\)\n$/);
    expect([bot.code, app.code]).toEqual([3, 3]);
  });

  test("a Redis without a password where commands have no sandbox: exit 3", async () => {
    const { code, stderr } = await refused("worker", { DECKHAND_SANDBOX: "none" });
    expect(stderr).toMatch(/`requirepass`.*\(REDIS_UNSAFE\)\n$/);
    expect(code).toBe(3);
  });

  test("a role that there is not: exit 2", async () => {
    expect(await refused("captain", {})).toMatchObject({
      code: 2,
      stderr: expect.stringMatching(/--role takes all, gateway, worker, not "captain"/) as string,
    });
  });
});
