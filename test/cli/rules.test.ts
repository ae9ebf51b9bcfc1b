import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { redisLog } from "../../src/redis/log.ts";
import { BEN, asked, takenOver } from "../contracts/log-doors.ts";
import { type TestRedis, keptTrace, startRedis } from "../support/redis.ts";
import { type Ended, deckhand } from "./kit.ts";

const YAML = `
workspaces: {api: {path: /srv/api}}
rules:
  - {name: no terraform, pattern: [terraform, [apply, destroy]], decision: deny, reason: only CI does, match: [terraform apply]}
`;
const LEARNED = {
  name: "api: git push",
  pattern: ["git", "push"],
  decision: "auto" as const,
  scope: { workspace: "api" },
  grants: ["network=*"],
  owner: "Ben (slack:U2)",
  since: Date.UTC(2026, 10, 30),
  expires: Date.UTC(2120, 0, 1),
  match: ["git push"],
  not_match: [],
};

let redis: TestRedis;
let folder: string;
const rules = (...args: string[]): Promise<Ended> =>
  deckhand(["rules", ...args], { env: { REDIS_URL: redis.url, DECKHAND_CONFIG: join(folder, "d.yaml") } });

beforeAll(async () => {
  redis = await startRedis();
  folder = mkdtempSync(join(tmpdir(), "deckhand-rules-"));
  writeFileSync(join(folder, "d.yaml"), YAML);
  const log = redisLog({ url: redis.url, trace: keptTrace() });
  const { conversation, epoch } = await takenOver({
    log,
    async heldLock() {
      await log.mark("lock", "token");
      return { key: "{dh}:mark:lock", token: "token" };
    },
    lostLock: () => Promise.reject(new Error("not used")),
    close: () => log.close(),
  });
  await log.append(conversation, epoch, "ask", 1100, [asked("one")]);
  await log.decide("one", 1200, { decision: "approved", by: BEN, rule: LEARNED });
  await log.rules.note("api", [], ["api: git push", "no terraform"], Date.UTC(2026, 11, 1, 9, 30));
  await log.rules.note("api", [], ["api: git push"], Date.UTC(2026, 11, 1, 9, 31));
  await log.close();
});
afterAll(async () => {
  await redis.stop();
  rmSync(folder, { recursive: true });
});

test("deckhand rules lists both kinds with words, scope, owner, end and hits", async () => {
  expect(await rules()).toEqual({
    code: 0,
    stderr: "",
    stdout: `no terraform
  deny: terraform (apply|destroy) (only CI does)
  everywhere · from deckhand.yaml · for good · 1 hit, last 2026-12-01 09:30 UTC
api: git push
  auto: git push
  workspace api · stored by Ben (slack:U2) on 2026-11-30 00:00 UTC · until 2120-01-01 00:00 UTC · gives network=* · 2 hits, last 2026-12-01 09:31 UTC
`,
  });
});

test("tells the same as JSON", async () => {
  const { code, stdout } = await rules("--json");
  expect([code, JSON.parse(stdout)]).toEqual([
    0,
    {
      rules: [
        {
          ...{ name: "no terraform", from: "deckhand.yaml", decision: "deny", pattern: ["terraform", ["apply", "destroy"]] },
          ...{ reason: "only CI does", scope: {}, grants: [], owner: null, since: null, expires: null, hits: 1 },
          ...{ last: "2026-12-01T09:30:00.000Z", match: ["terraform apply"], not_match: [] },
        },
        {
          ...LEARNED,
          ...{ from: "always", reason: null, hits: 2, last: "2026-12-01T09:31:00.000Z" },
          ...{ since: "2026-11-30T00:00:00.000Z", expires: "2120-01-01T00:00:00.000Z" },
        },
      ],
    },
  ]);
});

test.each([
  [["revoke", "no terraform"], /"no terraform" stands in deckhand\.yaml: take it out there/],
  [["revoke", "api: git pull"], /there is no learned rule "api: git pull"/],
  [["revoke"], /deckhand rules takes nothing, or revoke and one name/],
  [["revoke", "a", "b"], /deckhand rules takes nothing, or revoke and one name/],
  [["list"], /deckhand rules takes nothing, or revoke and one name/],
])("%j changes nothing: exit 2, and why", async (args, words) => {
  const { code, stdout, stderr } = await rules(...args);
  expect({ code, stdout }).toEqual({ code: 2, stdout: "" });
  expect(stderr).toMatch(words);
  expect(stderr).toContain("(BAD_INPUT)");
});

test("a learned rule is revoked once", async () => {
  expect(await rules("revoke", "api: git push")).toEqual({ code: 0, stdout: "Revoked: api: git push\n", stderr: "" });
  expect((await rules("revoke", "api: git push", "--json")).code).toBe(2);
  expect((await rules()).stdout).not.toContain("git push");
});

test("a bad rule keeps everything from starting, with line and column", async () => {
  writeFileSync(join(folder, "bad.yaml"), `${YAML}  - {name: b, pattern: [ls], decision: ask, match: [pwd]}\n`);
  const env = { REDIS_URL: redis.url, DECKHAND_CONFIG: join(folder, "bad.yaml") };
  const { code, stderr } = await deckhand(["start"], { env });
  expect(code).toBe(3);
  expect(stderr).toContain("bad.yaml: rules: 1: match: 0: does not decide its own example: pwd (line 5, column 53) (CONFIG)");
});
