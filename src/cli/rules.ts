import { parseArgs } from "node:util";
import { loadConfig } from "../config.ts";
import { minuteOf } from "../core/approval.ts";
import { DeckhandError } from "../core/errors.ts";
import { rulePattern } from "../core/offer.ts";
import { redacted, redactor } from "../core/redactor.ts";
import type { Hits, StandingRule } from "../core/rules.ts";
import { visible } from "../core/visible.ts";
import { redisLog } from "../redis/log.ts";
import { logTrace } from "../system.ts";

/** `deckhand rules`: those of the file and the learned ones; `revoke NAME` takes a learned one back. */
export async function rulesCommand(args: string[]): Promise<number> {
  const { values, positionals } = parseArgs({ args, allowPositionals: true, options: { json: { type: "boolean", default: false } } });
  const [act, name, ...rest] = positionals;
  const isRight = act === undefined || (act === "revoke" && name !== undefined && rest.length === 0);
  if (!isRight)
    throw new DeckhandError("BAD_INPUT", 'deckhand rules takes nothing, or revoke and one name in quotes: revoke "api: git push"');
  const config = await loadConfig();
  const log = redisLog({ url: config.redisUrl, trace: logTrace("error", config.secrets) });
  const redact = redactor(config.secrets);
  try {
    if (name !== undefined) {
      const revoked = await log.rules.revoke(name);
      if (!revoked) throw new DeckhandError("BAD_INPUT", notRevoked(name, config.rules));
      process.stdout.write(values.json ? `${JSON.stringify({ revoked: name })}\n` : `Revoked: ${visible(name)}\n`);
      return 0;
    }
    const hits = await log.rules.hits();
    const listed = [
      ...config.rules.map((rule) => ({ ...rule, from: "deckhand.yaml" as const, hits: hits.get(rule.name) })),
      ...(await log.rules.learned()).map((rule) => ({ ...rule, from: "always" as const, hits: hits.get(rule.name) })),
    ];
    const shown = redacted(listed, redact);
    const lines = shown.flatMap((rule) => linesOf(rule, Date.now()));
    const none = 'There are no rules. "Always …" on an approval and the list `rules` in deckhand.yaml make some.';
    process.stdout.write(values.json ? `${JSON.stringify({ rules: shown.map(plainly) }, null, 2)}\n` : `${lines.join("\n") || none}\n`);
    return 0;
  } finally {
    await log.close();
  }
}

interface Listed extends StandingRule {
  from: "deckhand.yaml" | "always";
  hits: Hits | undefined;
}

function notRevoked(name: string, base: readonly StandingRule[]): string {
  if (base.some((rule) => rule.name === name)) return `"${name}" stands in deckhand.yaml: take it out there`;
  return `there is no learned rule "${name}"; \`deckhand rules\` lists them`;
}

/** Times in ISO form; what a rule does not have is null. */
function plainly({ name, from, decision, pattern, reason, scope, expires, owner, since, grants, hits, match, not_match }: Listed): object {
  const time = (at: number | undefined): string | null => (at === undefined ? null : new Date(at).toISOString());
  const who = { owner: owner ?? null, since: time(since), expires: time(expires) };
  const used = { hits: hits?.count ?? 0, last: time(hits?.last) };
  return { name, from, decision, pattern, reason: reason ?? null, scope: scope ?? {}, grants, ...who, ...used, match, not_match };
}

function linesOf(rule: Listed, now: number): string[] {
  const { name, from, decision, reason, scope = {}, expires, owner, since, grants, hits } = rule;
  const where = Object.entries(scope).map(([kind, value]) => `${kind} ${value}`);
  const end = expires === undefined ? "for good" : `${now < expires ? "until" : "expired"} ${minuteOf(expires)}`;
  const by = owner === undefined ? `from ${from}` : `stored by ${owner}${since === undefined ? "" : ` on ${minuteOf(since)}`}`;
  const times = hits?.count === 1 ? "1 hit" : `${hits?.count ?? 0} hits`;
  const used = hits ? `${times}, last ${minuteOf(hits.last)}` : times;
  const parts = [where.join(", ") || "everywhere", by, end, ...(grants.length > 0 ? [`gives ${grants.join(", ")}`] : []), used];
  return [`${name}`, `  ${decision}: ${rulePattern(rule)}${reason ? ` (${reason})` : ""}`, `  ${parts.join(" · ")}`].map(visible);
}
