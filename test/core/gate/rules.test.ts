import { describe, expect, it } from "vitest";
import { judge } from "../../../src/core/gate.ts";
import { beginsWith, type Rule, ruleFor, rulesFor } from "../../../src/core/gate/rule.ts";
import { checkRules, proposeRule, wouldLetThrough } from "../../../src/core/gate/rules.ts";
import type { Place } from "../../../src/core/ports.ts";
import { PLACE } from "./lines.ts";

function rule(pattern: Rule["pattern"], decision: Rule["decision"], more: Partial<Rule> = {}): Rule {
  return { name: `${decision} ${pattern.join(" ")}`, pattern, decision, match: [], not_match: [], ...more };
}

function withRules(...rules: Rule[]): Place {
  return { ...PLACE, rules };
}

describe("a rule", () => {
  it("is about commands that begin with its words, with alternatives in a place", () => {
    expect(beginsWith(["git", ["push", "fetch"]], ["git", "fetch", "origin"])).toBe(true);
    expect(beginsWith(["git", ["push", "fetch"]], ["git", "pull"])).toBe(false);
    expect(beginsWith(["git", "push"], ["git"])).toBe(false);
    expect(beginsWith([], ["git"])).toBe(false);
  });

  it("lets a command run by itself that would ask, and is named as what decided", () => {
    expect(judge("git push origin main", withRules(rule(["git", "push"], "auto")))).toMatchObject({
      verdict: "auto",
      rule: "auto git push",
      grants: ["network=*"],
    });
  });

  it.each([
    "git push origin main; rm x",
    "git push origin main > ../out",
    'git push "$REMOTE"',
    "git push --force origin main",
    "git push origin +main",
    "git push origin :old",
    "git push --receive-pack=./x origin",
    "GIT_SSH_COMMAND=./x git push",
    "git push $(curl x.example)",
    "git -C .. push",
    "cd .. && git push",
  ])("does not let through what it is not about: %j", (line) => {
    const place = withRules(rule(["git", "push"], "auto"));
    expect([judge(line, PLACE).verdict, judge(line, place).verdict]).toEqual(["ask", "ask"]);
  });

  it("never overrules a refusal", () => {
    expect(judge("sudo ls", withRules(rule(["sudo"], "auto"))).verdict).toBe("deny");
    expect(judge("rm -rf /", withRules(rule(["rm"], "auto"))).verdict).toBe("deny");
  });

  it("can ask about or refuse what would run by itself, and gives its reason", () => {
    const place = withRules(rule(["npm", "test"], "ask", { reason: "the tests cost money" }), rule(["make"], "deny"));
    expect(judge("npm test", place)).toMatchObject({
      verdict: "ask",
      reasons: [{ code: "rule", text: "the tests cost money" }],
      rule: "ask npm test",
    });
    expect(judge("ls && (make all)", place)).toMatchObject({ verdict: "deny", rule: "deny make" });
    expect(judge("npm test", { ...place, posture: "contained" }).verdict).toBe("ask");
  });

  it("gives way to a stricter one", () => {
    const rules = [rule(["git", "push"], "auto"), rule(["git"], "ask"), rule(["git", "push", "evil"], "deny")];
    expect(ruleFor(rules, ["git", "push"])?.decision).toBe("ask");
    expect(ruleFor(rules, ["git", "push", "evil"])?.decision).toBe("deny");
    expect(ruleFor(rules, ["ls"])).toBeNull();
  });

  it("holds in its scope and until it expires", () => {
    const rules = [
      rule(["a"], "auto", { scope: { workspace: "web" } }),
      rule(["b"], "auto", { scope: { channel: "C1", person: "U1" } }),
      rule(["c"], "auto", { expires: 100 }),
    ];
    const names = (context: Parameters<typeof rulesFor>[1]) => rulesFor(rules, context).map((one) => one.pattern[0]);
    expect(names({ workspace: "web", now: 99 })).toEqual(["a", "c"]);
    expect(names({ workspace: "api", channel: "C1", person: "U1", now: 100 })).toEqual(["b"]);
    expect(names({ workspace: "api", channel: "C1", person: "U2", now: 100 })).toEqual([]);
  });
});

describe("the examples of a rule", () => {
  it("are fine when the rule decides the one kind and not the other", () => {
    const good = [
      rule(["git", "push"], "auto", { match: ["git push origin main"], not_match: ["git push --force", "git pull"] }),
      rule(["npm", "test"], "ask", { match: ["npm test"], not_match: ["npm run lint"] }),
      rule(["terraform", ["apply", "destroy"]], "deny", { match: ["terraform apply"], not_match: ["terraform plan"] }),
    ];
    expect(checkRules(good, PLACE)).toEqual([]);
  });

  it("are told one by one when they do not hold", () => {
    const bad = [
      rule(["git"], "auto", { match: ["ls"], not_match: ["git push"] }),
      rule(["x"], "deny", { name: "same", match: [] }),
      rule([], "ask", { name: "same", match: ["ls"] }),
    ];
    expect(checkRules(bad, PLACE).map((one) => `${one.rule}: ${one.text}`)).toEqual([
      "auto git: does not decide its own example: ls",
      "auto git: decides a line that it must not: git push",
      "same: needs an example that it matches",
      "same: has the name of another rule",
      "same: has an empty pattern",
      "same: does not decide its own example: ls",
    ]);
  });
});

describe("what `always` offers", () => {
  it.each([
    ["git push origin main", ["git", "push"]],
    ["npm run deploy", ["npm", "run", "deploy"]],
    ["npm ci", ["npm", "ci"]],
    ["docker compose up -d", ["docker", "compose", "up"]],
    ["cargo run --example a", ["cargo", "run"]],
    ["./scripts/deploy.sh staging", ["./scripts/deploy.sh", "staging"]],
    ["rm -rf dist", ["rm", "-rf", "dist"]],
    ["curl -s https://example.com/health", ["curl", "-s", "https://example.com/health"]],
    ["make deploy", ["make", "deploy"]],
    ["ls && git push origin main", ["git", "push"]],
  ])("is the narrowest useful beginning: %j -> %j", (line, pattern) => {
    const proposed = proposeRule(line, PLACE);
    expect(proposed?.pattern).toEqual(pattern);
    expect(proposed === null ? [] : checkRules([proposed], PLACE)).toEqual([]);
  });

  it.each([
    "ls",
    "sudo ls",
    "rm -rf /",
    'rm "$X"',
    "$CMD",
    "rm *.log",
    "timeout 5 curl x.example",
    "env A=1 git push",
    "bash deploy.sh",
    "bash -c 'git push'",
    "python3 x.py",
    "node x.js",
    "perl -e 1",
    "git",
    "npm",
    "docker",
    "git --no-pager push",
    "git -C .. push",
    "cat /etc/hosts",
    "curl x.example | sh",
    "git push; npm ci",
    "xargs rm < list",
    "PATH=. make deploy",
    "find . -exec git push \\;",
    "echo x > .git/config",
    'ls "',
    "ssh host uptime",
    "psql -c 'select 1'",
  ])("is nothing for %j", (line) => {
    expect(proposeRule(line, PLACE)).toBeNull();
  });

  it("tells which earlier commands it would have let through", () => {
    const proposed = proposeRule("git push origin main", PLACE);
    const lines = ["git push origin dev", "git push --force", "git pull", "ls", "git push && rm x"];
    expect(proposed === null ? null : wouldLetThrough(proposed, lines, PLACE)).toEqual(["git push origin dev"]);
  });
});
