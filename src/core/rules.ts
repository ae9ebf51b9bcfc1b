import type { Rule } from "./gate/rule.ts";

/** A rule of `deckhand.yaml` or a learned one. What it lets through gets these grants and asks for any other. */
export interface StandingRule extends Rule {
  grants: string[];
}

/** How often a rule has decided, and when it last did (milliseconds since 1970). */
export interface Hits {
  count: number;
  last: number;
}

/** A command that was judged, and the folder that it was judged for. */
export interface JudgedCommand {
  command: string;
  cwd: string;
}

/**
 * The rules that people stored by "always", and what is known of all rules. A rule is stored by the decision that
 * carries it, in one act: see `Log.decide`. May throw REDIS_DOWN.
 */
export interface Rules {
  /** Oldest first, those among them that have expired. */
  learned(): Promise<StandingRule[]>;
  /** Takes a learned rule back, with its hits. False when there is none of that name. */
  revoke(name: string): Promise<boolean>;
  /** Keeps what was judged in a workspace and counts the rules that decided. Done twice, it counts twice. */
  note(workspace: string, judged: JudgedCommand[], decided: string[], at: number): Promise<void>;
  /** The newest commands that were judged in a workspace, newest first; see LIMITS.recentCommands. */
  recent(workspace: string): Promise<JudgedCommand[]>;
  /** By the rule's name. */
  hits(): Promise<Map<string, Hits>>;
}
