import { describe, expect, it } from "vitest";
import { type Found, judgeAct, type RuledPlace } from "../../src/core/judging.ts";
import { offerAlways, rulePattern } from "../../src/core/offer.ts";
import { redactor } from "../../src/core/redactor.ts";
import type { JudgedCommand, StandingRule } from "../../src/core/rules.ts";
import { LIMITS } from "../../src/limits.ts";
import { tool } from "../../src/tools/bash.ts";

const PLACE: RuledPlace = { workspace: "/w", cwd: "/w", posture: "contained", rules: [] };

function run(command: string): Found {
  return { tool, act: { title: command, timeoutMs: 1000 } };
}

function offer(command: string, recent: JudgedCommand[] = [], redact = redactor([]), place = PLACE) {
  const { grants } = judgeAct(run(command), place);
  return offerAlways(run(command), { workspace: "api", place, grants, recent }, { redact });
}

describe("what Always offers", () => {
  it("is a rule for this workspace that gives what the card gave", () => {
    expect(offer("git push origin main")?.rule).toEqual({
      ...{ name: "api: git push", pattern: ["git", "push"], decision: "auto", scope: { workspace: "api" } },
      ...{ grants: ["network=*"], match: ["git push origin main"], not_match: [] },
    });
    expect(offer("rm -rf 'my dist'")?.rule).toMatchObject({ name: 'api: rm -rf "my dist"', pattern: ["rm", "-rf", "my dist"], grants: [] });
  });

  it.each([
    ["a command that the card cannot show whole", `rm -f ${"a".repeat(LIMITS.cardCommand)}`],
    ["words that the card cannot show whole", `rm -f ${"a".repeat(LIMITS.ruleWords)}`],
    ["what the gate proposes nothing for", "bash deploy.sh; rm *"],
    ["a secret in the words", "rm -f hunter2-hunter2"],
  ])("is nothing for %s", (_what, command) => {
    expect(offer(command, [], redactor(["hunter2-hunter2"]))).toBeNull();
  });

  it("tells other commands that it would have let through, each once", () => {
    const commands = ["rm -f a b", "rm -f a", "rm -f a b", "rm -f a c\nls", "rm -f b", "ls", 'rm -f a "$X"'];
    const recent = commands.map((command) => ({ command, cwd: "/w" }));
    expect(offer("rm -f a", recent)).toMatchObject({ looked: 7, through: 2, lines: ["rm -f a b", "rm -f a c ls"] });
  });

  it("does not count what it gives too little for", () => {
    const recent = [
      { command: "curl -s http://x.example/a -o b", cwd: "/w" },
      { command: "curl -s http://x.example/a http://y.example", cwd: "/w" },
    ];
    const found = offer("curl -s http://x.example/a", recent);
    expect(found?.rule.grants).toEqual(["network=x.example:80"]);
    expect(found?.lines.join()).not.toContain("y.example");
  });

  it("names only so many of them, without secrets", () => {
    const recent = Array.from({ length: 9 }, (_, i) => ({ command: `rm -f a hunter2-hunter2 ${i}`, cwd: "/w" }));
    const found = offer("rm -f a", recent, redactor(["hunter2-hunter2"]));
    expect([found?.through, found?.lines.length, found?.lines[0]]).toEqual([9, LIMITS.cardThrough, "rm -f a [secret] 0"]);
  });
});

describe("a rule's judgement", () => {
  const push: StandingRule = { name: "push", pattern: ["git", "push"], decision: "auto", grants: [], match: [], not_match: [] };

  it("lets through what it gives enough for, and asks for the rest with what is lacking", () => {
    const given = { ...PLACE, rules: [{ ...push, grants: ["network=*"] }] };
    expect(judgeAct(run("git push"), given)).toMatchObject({ verdict: "auto", rule: "push", grants: ["network=*"] });
    expect(judgeAct(run("git push https://x.example/a"), given)).toMatchObject({ verdict: "auto", grants: ["network=*"] });
    const bare = judgeAct(run("git push"), { ...PLACE, rules: [push] });
    expect(bare).toMatchObject({ verdict: "ask", grants: ["network=*"] });
    expect(bare.reasons).toContainEqual({ code: "rule", text: 'it needs network=*, which the rule "push" does not give' });
  });

  it("is not claimed by a rule that had nothing to do with it", () => {
    expect(judgeAct(run("ls"), { ...PLACE, rules: [push] })).toEqual({
      verdict: "auto",
      reasons: [],
      rule: "read-only",
      reads: true,
      grants: [],
    });
  });
});

describe("the words of a rule", () => {
  it("mean one pattern only", () => {
    const lines = [["a b"], ["a", "b"], ["a", ["b", "c"]], ["(b|c)"], ['"a"'], ["a\nb"], [""]].map((pattern) => rulePattern({ pattern }));
    expect(lines).toEqual(['"a b"', "a b", "a (b|c)", '"(b|c)"', String.raw`"\"a\""`, String.raw`"a\nb"`, '""']);
  });
});
