import type { Hits, JudgedCommand, Rules, StandingRule } from "./core/rules.ts";
import { LIMITS } from "./limits.ts";

/** The rules in this process's memory. `store` is for memory.ts: a rule is stored by a decision. */
export function memoryRules(): Rules & { store(rule: StandingRule): void } {
  const stored = new Map<string, StandingRule>();
  const hits = new Map<string, Hits>();
  const recent = new Map<string, JudgedCommand[]>();
  return {
    store(rule) {
      // To the end: stored anew, it is the youngest.
      stored.delete(rule.name);
      stored.set(rule.name, structuredClone(rule));
      hits.delete(rule.name);
    },
    learned: async () => structuredClone([...stored.values()]),
    async revoke(name) {
      if (!stored.delete(name)) return false;
      hits.delete(name);
      return true;
    },
    async note(workspace, judged, decided, at) {
      const all = [...judged.toReversed(), ...(recent.get(workspace) ?? [])];
      recent.set(workspace, structuredClone(all.slice(0, LIMITS.recentCommands)));
      for (const name of decided) hits.set(name, { count: (hits.get(name)?.count ?? 0) + 1, last: at });
    },
    recent: async (workspace) => structuredClone(recent.get(workspace) ?? []),
    hits: async () => structuredClone(hits),
  };
}
