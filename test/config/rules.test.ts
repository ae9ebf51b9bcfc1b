import { describe, expect, test } from "vitest";
import { type Config, readConfig } from "../../src/config.ts";

const HEAD = "workspaces:\n  web: {path: /srv/web}\nrules:\n";

function read(rules: string): ReturnType<typeof readConfig> {
  return readConfig({}, () => HEAD + rules);
}

async function config(rules: string): Promise<Config> {
  const found = await read(rules);
  if ("problems" in found) throw new Error(found.problems.join("\n"));
  return found.config;
}

async function problems(rules: string): Promise<string[]> {
  const found = await read(rules);
  return "problems" in found ? found.problems : [];
}

describe("the rules of deckhand.yaml", () => {
  test("have words with alternatives, a decision, a reason, a scope, an end, grants and examples", async () => {
    const text = `
  - name: push
    pattern: [git, [push, fetch]]
    decision: auto
    scope: {workspace: web, channel: slack:C1, person: slack:U1}
    expires: 2026-12-31
    grants: [network=*]
    match: [git push origin main, git fetch]
    not_match: [git push --force, git pull]
  - {name: no terraform, pattern: [terraform, [apply, destroy]], decision: deny, reason: only CI does, match: [terraform apply]}
`;
    expect((await config(text)).rules).toEqual([
      {
        name: "push",
        pattern: ["git", ["push", "fetch"]],
        decision: "auto",
        scope: { workspace: "web", channel: "slack:C1", person: "slack:U1" },
        expires: Date.UTC(2026, 11, 31),
        grants: ["network=*"],
        match: ["git push origin main", "git fetch"],
        not_match: ["git push --force", "git pull"],
      },
      {
        name: "no terraform",
        pattern: ["terraform", ["apply", "destroy"]],
        decision: "deny",
        reason: "only CI does",
        grants: [],
        match: ["terraform apply"],
        not_match: [],
      },
    ]);
  });

  test("are none when there is no list, and one that has ended is no problem", async () => {
    const none = await readConfig({}, () => "workspaces: {}");
    expect("config" in none && none.config.rules).toEqual([]);
    expect(await problems("  - {name: old, pattern: [ls], decision: ask, expires: 2020-01-01, match: [ls]}")).toEqual([]);
  });

  const rule = (more: string, match = "match: [ls -l]"): string => `  - {name: a, pattern: [ls], decision: ask, ${match}, ${more}}`;

  test.each([
    ["a number as a word", "  - {name: a, pattern: [sleep, 5], decision: ask, match: [sleep 5]}", "rules: 0: pattern: 1: is one word", 32],
    ["no words", "  - {name: a, pattern: [], decision: ask, match: [ls]}", "rules: 0: pattern: is the list of words", 24],
    ["a place without an alternative", "  - {name: a, pattern: [ls, []], decision: ask, match: [ls]}", "rules: 0: pattern: 1: ", 29],
    ["a learned rule's name", "  - {name: 'api: ls', pattern: [ls], decision: ask, match: [ls]}", "rules: 0: name: a rule's name has", 12],
    [
      "a name of the gate's own",
      "  - {name: read-only, pattern: [ls], decision: ask, match: [ls]}",
      "rules: 0: name: a rule's name has",
      12,
    ],
    [
      "another decision",
      "  - {name: a, pattern: [ls], decision: maybe, match: [ls]}",
      'rules: 0: decision: Invalid option: expected one of "auto"',
      40,
    ],
    ["no example", rule("reason: x", "match: []"), "rules: 0: match: needs an example that it matches", 52],
    ["no examples at all", "  - {name: a, pattern: [ls], decision: ask}", "rules: 0: match: needs an example that it matches", 5],
    ["a day that there is not", rule("expires: 2026-13-01"), "rules: 0: expires: is a day or a time of UTC", 70],
    ["everybody as a person", rule("scope: {person: 'slack:*'}"), "rules: 0: scope: person: a person is written", 77],
    ["a workspace that there is not", rule("scope: {workspace: api}"), 'rules: 0: scope: workspace: there is no workspace "api"', 80],
    ["a key that there is not", rule("when: now"), 'rules: 0: Unrecognized key: "when"', 5],
    ["grants of a rule that asks", rule("grants: [network=*]"), "rules: 0: grants: only an auto rule gives grants", 69],
    ["an example that it does not decide", rule("reason: x", "match: [ls, echo]"), "match: 1: does not decide its own example: echo", 57],
    ["an example that it must not decide", rule("not_match: [pwd, ls]"), "not_match: 1: decides a line that it must not: ls", 78],
    [
      "a rule for what is never run",
      "  - {name: a, pattern: [sudo], decision: auto, match: [sudo ls]}",
      "match: 0: does not decide its own example: sudo ls",
      56,
    ],
    [
      "a rule that does not give what its example needs",
      "  - {name: a, pattern: [git, push], decision: auto, match: [git push]}",
      "match: 0: would still ask: it needs grants: [network=*]",
      61,
    ],
    [
      "a grant that is none",
      "  - {name: a, pattern: [git, push], decision: auto, grants: [internet], match: [git push]}",
      'rules: 0: grants: 0: "internet" is no grant',
      62,
    ],
  ])("%s is a problem with its line and column", async (_, text, words, column) => {
    const found = await problems(text);
    expect(found).toEqual([expect.stringContaining(words)]);
    expect(found[0]).toMatch(/deckhand\.yaml: rules: 0: /);
    expect(found[0]).toMatch(new RegExp(`\\(line 4, column ${column}\\)$`));
  });

  test("may not have one name twice", async () => {
    const one = "  - {name: a, pattern: [ls], decision: ask, match: [ls]}\n";
    expect(await problems(one + one)).toEqual([
      expect.stringMatching(/rules: 1: name: there is already a rule "a" \(line 5, column 12\)$/),
    ]);
  });
});
