import { WebAPIPlatformError, type WebClient } from "@slack/web-api";
import type { Person } from "../../core/entry.ts";
import type { Clock, Trace } from "../../core/ports.ts";
import { messageOf } from "../../core/errors.ts";
import { remember } from "../../core/remember.ts";
import { codeOf } from "./refusals.ts";
import type { Names } from "./text.ts";

const KEPT_MS = 10 * 60_000;
const KEPT_PEOPLE = 1_000;
/** Slack's ways to say that a user is none of this workspace's. */
const UNKNOWN = new Set(["user_not_found", "user_not_visible", "users_not_found"]);

export interface People {
  /**
   * Rejects when Slack does not say who this is: then nobody may take them for a member. A user that Slack does
   * not know is `external`.
   */
  person(id: string): Promise<Person>;
  /** Never rejects: a name that cannot be looked up is left out. */
  names(ids: string[]): Promise<Names>;
}

/** People by users.info, remembered for ten minutes. `team` is the workspace that the app is installed in. */
export function slackPeople(options: { client: WebClient; team: string; clock: Clock; trace: Trace }): People {
  const person = remember({ clock: options.clock, ms: KEPT_MS, most: KEPT_PEOPLE }, (id) => lookUp(options.client, options.team, id));

  async function names(ids: string[]): Promise<Names> {
    const entries = await Promise.all(
      [...new Set(ids)].map(async (id): Promise<[string, string][]> => {
        try {
          return [[id, (await person(id)).name]];
        } catch (error) {
          options.trace.warn("slack.name-unknown", { user: id, error: messageOf(error) });
          return [];
        }
      }),
    );
    return new Map(entries.flat());
  }

  return { person, names };
}

async function lookUp(client: WebClient, team: string, id: string): Promise<Person> {
  const key = `slack:${id}`;
  try {
    const { user } = await client.users.info({ user: id });
    const name = user?.profile?.display_name || user?.real_name || user?.name || id;
    const ours = user?.team_id === team || (user?.enterprise_user?.teams ?? []).includes(team);
    const guest = user?.is_restricted === true || user?.is_ultra_restricted === true;
    if (user?.is_bot) return { key, name, kind: "bot", roles: [] };
    if (!ours || user?.is_stranger || user?.deleted) return { key, name, kind: "external", roles: [] };
    return { key, name, kind: guest ? "guest" : "member", roles: [] };
  } catch (error) {
    if (error instanceof WebAPIPlatformError && UNKNOWN.has(codeOf(error))) return { key, name: id, kind: "external", roles: [] };
    throw error;
  }
}
