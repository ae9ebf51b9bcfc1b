import { z } from "zod";
import { messageOf } from "../core/errors.ts";
import { judge } from "../core/gate.ts";
import type { Rule } from "../core/gate/rule.ts";
import { checkRules } from "../core/gate/rules.ts";
import { enough, parseGrant, widens } from "../core/grants.ts";
import type { Place } from "../core/ports.ts";
import type { StandingRule } from "../core/rules.ts";
import { CHANNEL, SAY, WORKSPACE } from "./values.ts";

/** The list `rules` of `deckhand.yaml`: its form, and whether its examples hold. */

/** Not a colon, which learned rules have; and no word of the gate's own. */
const NAME = /^(?!(?:read-only|workspace)$)[A-Za-z0-9][\w .-]{0,59}$/;
const RULE = {
  name: "a rule's name has letters, digits, blanks, _, . and -, begins with a letter or digit, and is not read-only or workspace",
  word: "is one word of a command; write numbers in quotes",
  pattern: "is the list of words that the command begins with, such as [git, [push, fetch]]",
  person: "a person is written slack:U1 or discord:42 (the id, not the name)",
  expires: "is a day or a time of UTC, such as 2026-12-31 or 2026-12-31T18:00:00Z",
  match: "needs an example that it matches",
  only: "only an auto rule gives grants",
};

const WORD = z.string({ error: RULE.word }).min(1, RULE.word);
const GRANT = z.string().superRefine((text, context) => {
  try {
    parseGrant(text);
  } catch (thrown) {
    context.addIssue({ code: "custom", message: messageOf(thrown).replace(/^BAD_INPUT: /, "") });
  }
});

const FORM = z
  .strictObject({
    name: z.string().regex(NAME, RULE.name),
    pattern: z
      .array(z.union([WORD, z.array(WORD).min(1, RULE.pattern)], { error: RULE.word }), { error: RULE.pattern })
      .min(1, RULE.pattern),
    decision: z.enum(["auto", "ask", "deny"]),
    reason: z.string().min(1).optional(),
    scope: z
      .strictObject({
        workspace: z.string().regex(WORKSPACE, SAY.workspace).optional(),
        channel: z.string().regex(CHANNEL, SAY.channel).optional(),
        person: z
          .string()
          .regex(/^(?:slack:[A-Z0-9]+|discord:\d+)$/, RULE.person)
          .optional(),
      })
      .optional(),
    expires: z
      .string()
      .regex(/^\d{4}-\d\d-\d\d(?:T\d\d:\d\d:\d\dZ)?$/, RULE.expires)
      .refine((text) => !Number.isNaN(Date.parse(text)), RULE.expires)
      .optional(),
    grants: z.array(GRANT).optional(),
    match: z.array(z.string(), { error: RULE.match }).min(1, RULE.match),
    not_match: z.array(z.string()).optional(),
  })
  .refine(({ decision, grants }) => decision === "auto" || grants === undefined, { error: RULE.only, path: ["grants"] });

export const RULES = z.array(FORM);

type Written = z.infer<typeof FORM>;
/** A path in the file, and what is wrong there. */
type Report = (path: (string | number)[], problem: string) => void;

/** The rules, after all their examples were tried where they hold. */
export function readRules(written: Written[], workspaces: { name: string; path: string }[], report: Report): StandingRule[] {
  const rules = written.map(ruleOf);
  for (const [at, rule] of rules.entries()) {
    if (rules.findIndex(({ name }) => name === rule.name) < at) report(["rules", at, "name"], `there is already a rule "${rule.name}"`);
    const { workspace } = rule.scope ?? {};
    const place = workspaces.find(({ name }) => name === workspace) ?? workspaces[0];
    if (workspace !== undefined && place?.name !== workspace) {
      report(["rules", at, "scope", "workspace"], `there is no workspace "${workspace}"`);
    }
    tryExamples(rule, place?.path ?? "/workspace", (path, problem) => report(["rules", at, ...path], problem));
  }
  return rules;
}

function ruleOf(written: Written): StandingRule {
  const { name, pattern, decision, reason, scope = {}, expires, grants = [], match, not_match = [] } = written;
  const given = Object.fromEntries(Object.entries(scope).filter(([, value]) => value !== undefined)) as NonNullable<Rule["scope"]>;
  return {
    ...{ name, pattern, decision, grants, match, not_match },
    ...(reason === undefined ? {} : { reason }),
    ...(Object.keys(given).length === 0 ? {} : { scope: given }),
    ...(expires === undefined ? {} : { expires: Date.parse(expires) }),
  };
}

function tryExamples(rule: StandingRule, path: string, report: Report): void {
  const place: Place = { workspace: path, cwd: path, posture: "careful" };
  for (const { text } of checkRules([rule], place)) {
    const kind = text.startsWith("decides ") ? "not_match" : "match";
    const example = rule[kind].findIndex((line) => text.endsWith(`: ${line}`));
    report(example < 0 ? [] : [kind, example], text);
  }
  if (rule.decision !== "auto") return;
  for (const [example, line] of rule.match.entries()) {
    const { verdict, grants = [] } = judge(line, { ...place, rules: [rule] });
    const missing = verdict === "auto" ? grants.filter((grant) => widens(grant) && enough(grant, rule.grants) === null) : [];
    if (missing.length > 0) report(["match", example], `would still ask: it needs grants: [${missing.join(", ")}]`);
  }
}
