import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { StandingRule } from "../../src/core/rules.ts";
import { LIMITS } from "../../src/limits.ts";
import { ANNA, BEN, LOGS, type LogDoor, asked, takenOver } from "./log-doors.ts";

let approvals = 0;

function rule(name: string, more: Partial<StandingRule> = {}): StandingRule {
  approvals += 1;
  const words: Pick<StandingRule, "pattern" | "decision"> = { pattern: ["git", ["push", "fetch"]], decision: "auto" };
  return { name, ...words, match: ["git push"], not_match: [], grants: [], since: 1000 + approvals, ...more };
}

describe.each(LOGS)("rules in the log in %s", (_name, open) => {
  let door: LogDoor;
  beforeAll(async () => {
    door = await open();
  });
  afterAll(async () => {
    await door.close();
  });

  /** An approval that waits for its decision. */
  async function waiting(): Promise<string> {
    approvals += 1;
    const approval = `rule-approval-${approvals}`;
    const { conversation, epoch } = await takenOver(door);
    await door.log.append(conversation, epoch, "ask", 1100, [asked(approval)]);
    return approval;
  }

  async function store(each: StandingRule): Promise<void> {
    await door.log.decide(await waiting(), 1200, { decision: "approved", by: BEN, rule: each });
  }

  async function named(name: string): Promise<StandingRule | undefined> {
    return (await door.log.rules.learned()).find((each) => each.name === name);
  }

  it("a rule is stored by the decision that carries it, and the entry tells it", async () => {
    const approval = await waiting();
    const push = rule("w: git push", { owner: "Ben (slack:U2)", expires: 9_000, scope: { workspace: "w" }, grants: ["network=*"] });
    const decided = await door.log.decide(approval, 1200, { decision: "approved", by: BEN, rule: push });
    expect(decided).toMatchObject({ kind: "won", entry: { decision: "approved", by: BEN, rule: push } });
    expect(await named("w: git push")).toEqual(push);
  });

  it("a decision that comes too late stores nothing", async () => {
    const approval = await waiting();
    await door.log.decide(approval, 1200, { decision: "denied", by: ANNA });
    const late = await door.log.decide(approval, 1300, { decision: "approved", by: BEN, rule: rule("late") });
    expect(late).toMatchObject({ kind: "already", entry: { decision: "denied" } });
    expect(await door.log.decide("never heard of", 1300, { decision: "approved", by: BEN, rule: rule("late") })).toEqual({
      kind: "unknown",
    });
    expect(await named("late")).toBeUndefined();
  });

  it("of many at once one stores its rule", async () => {
    const approval = await waiting();
    const names = Array.from({ length: 10 }, (_, i) => `race ${i}`);
    await Promise.all(names.map((name) => door.log.decide(approval, 1200, { decision: "approved", by: BEN, rule: rule(name) })));
    expect((await door.log.rules.learned()).filter(({ name }) => name.startsWith("race"))).toHaveLength(1);
  });

  it("rules come oldest first; one that is stored anew is the youngest, without its old hits", async () => {
    for (const name of ["order a", "order b"]) await store(rule(name));
    await door.log.rules.note("w", [], ["order a"], 1300);
    await store(rule("order a", { expires: 5 }));
    const names = (await door.log.rules.learned()).map(({ name }) => name).filter((name) => name.startsWith("order"));
    expect(names).toEqual(["order b", "order a"]);
    expect(await named("order a")).toMatchObject({ expires: 5 });
    expect((await door.log.rules.hits()).get("order a")).toBeUndefined();
  });

  it("a rule is taken back once, with its hits", async () => {
    await store(rule("gone: a b"));
    await door.log.rules.note("w", [], ["gone: a b"], 1300);
    expect(await door.log.rules.revoke("gone: a b")).toBe(true);
    expect(await door.log.rules.revoke("gone: a b")).toBe(false);
    expect(await named("gone: a b")).toBeUndefined();
    expect((await door.log.rules.hits()).get("gone: a b")).toBeUndefined();
  });

  it("hits are counted by name, with the time of the last", async () => {
    await door.log.rules.note("w", [], ["hit: one", "hit two"], 1300);
    await door.log.rules.note("w", [], ["hit: one"], 1400);
    const hits = await door.log.rules.hits();
    expect([hits.get("hit: one"), hits.get("hit two")]).toEqual([
      { count: 2, last: 1400 },
      { count: 1, last: 1300 },
    ]);
  });

  it("the newest commands of a workspace are kept, newest first, and no more than are told", async () => {
    const { rules } = door.log;
    expect(await rules.recent("recent-1")).toEqual([]);
    const all = Array.from({ length: LIMITS.recentCommands + 5 }, (_, i) => ({ command: `echo "${i}"\n`, cwd: `/w/${i}` }));
    await rules.note("recent-1", all.slice(0, 2), [], 1000);
    await rules.note("recent-2", [{ command: "ls", cwd: "/" }], [], 1000);
    for (const one of all.slice(2)) await rules.note("recent-1", [one], [], 1000);
    expect(await rules.recent("recent-1")).toEqual(all.toReversed().slice(0, LIMITS.recentCommands));
    expect(await rules.recent("recent-2")).toEqual([{ command: "ls", cwd: "/" }]);
  });
});
