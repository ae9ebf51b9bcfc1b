import type { Fact, Learned } from "../core/ports.ts";
import { LIMITS } from "../limits.ts";

/** What was learned, for as long as this process lives. */
export function memoryLearned(): Learned {
  const facts = new Map<string, Map<string, Fact>>();
  return {
    async read(of, now) {
      return [...(facts.get(of)?.values() ?? [])].filter((fact) => now - fact.at <= LIMITS.learnedTime);
    },
    async note(of, fact) {
      facts.set(of, (facts.get(of) ?? new Map<string, Fact>()).set(fact.name, fact));
    },
    async forget(of, name) {
      facts.get(of)?.delete(name);
    },
  };
}
