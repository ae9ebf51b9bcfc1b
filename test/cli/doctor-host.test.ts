import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { Redis } from "ioredis";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { type Claims, claimWorkspaces, hostId } from "../../src/redis/claim.ts";
import { keptTrace, type TestRedis, freePort, startRedis } from "../support/redis.ts";
import { type TestWorkspace, makeWorkspace } from "../support/workspace.ts";
import { deckhand, pathWith, pathWithout } from "./kit.ts";

/** What doctor says of the machine and of the workspaces' hosts; other requirements fail here and do not matter. */
let place: TestWorkspace;
let redis: TestRedis;
const claims: Claims[] = [];
beforeAll(async () => {
  place = makeWorkspace();
  redis = await startRedis();
});
afterAll(async () => {
  await Promise.all(claims.map((each) => each.close()));
  await redis.stop();
  place.cleanup();
});

async function lineOf(name: string, env: Record<string, string> = {}): Promise<string> {
  const { stdout } = await deckhand(["doctor"], {
    env: { REDIS_URL: redis.url, DECKHAND_WORKSPACES: `api=${place.path}`, DECKHAND_STATE: place.stateDir, ...env },
  });
  const lines = stdout.split("\n").filter((line) => line.slice(6).startsWith(`${name}: `));
  expect(lines).toHaveLength(1);
  return lines[0] ?? "";
}

async function claim(host: string): Promise<Claims> {
  const made = await claimWorkspaces({ url: redis.url, trace: keptTrace(), host, workspaces: ["api"], lost: () => {} });
  claims.push(made);
  return made;
}

describe("socat", () => {
  test("is there", async () => {
    expect(await lineOf("socat", { PATH: pathWith(place.root, "socat", "#!/bin/sh\n") })).toMatch(/^ok {4}socat: \/.*\/socat$/);
  });

  test("is missing: no failure, but what needs it and how to get it", async () => {
    expect(await lineOf("socat", { PATH: pathWithout(place.root) })).toMatch(/^ok .*network grants need it: `apt-get install socat`$/);
  });
});

test("whether a command is limited as a whole, and why not", async () => {
  expect(await lineOf("cgroup")).toMatch(
    /^ok {4}cgroup: (?:memory and processes of each command are limited as a whole|no limits for a command as a whole: .+)$/,
  );
});

describe("whose each workspace is", () => {
  test("nobody's yet", async () => {
    expect(await lineOf("claims")).toBe("ok    claims: api is free, nobody serves it now");
  });

  test("not known without Redis, which is told once", async () => {
    expect(await lineOf("claims", { REDIS_URL: `redis://127.0.0.1:${await freePort()}` })).toMatch(
      /^ok .*not known while Redis does not answer$/,
    );
  });

  test("ours, and how many workers serve it", async () => {
    const [first, second] = [await claim(hostId(place.stateDir)), await claim(hostId(place.stateDir))];
    expect(await lineOf("claims")).toMatch(/^ok {4}claims: api belongs to this host \(\S+\), nobody serves it now$/);
    await Promise.all([first.announce(), second.announce()]);
    expect(await lineOf("claims")).toMatch(/^ok {4}claims: api belongs to this host \(\S+\), 2 workers serve it now$/);
    await first.close();
    expect(await lineOf("claims")).toMatch(/^ok {4}claims: api belongs to this host \(\S+\), 1 worker serves it now$/);
  });

  test("another host's: WORKSPACE_CLAIMED with its name, since when, and how many workers serve it there", async () => {
    await Promise.all(claims.splice(0).map((each) => each.close()));
    const admin = new Redis(redis.url);
    await admin.flushall();
    await admin.quit();
    await (await claim("another-host")).announce();
    expect(await lineOf("claims")).toMatch(
      /^FAIL {2}claims: Another host has the workspace api: \S+, since \d{4}-.* UTC, 1 worker serves it now\. .*\(WORKSPACE_CLAIMED\)$/,
    );
  });

  test("our own id is damaged: STATE_UNUSABLE", async () => {
    writeFileSync(join(place.stateDir, "host-id"), "x");
    expect(await lineOf("claims")).toMatch(/^FAIL .*host-id is damaged; remove it.*\(STATE_UNUSABLE\)$/);
  });
});
