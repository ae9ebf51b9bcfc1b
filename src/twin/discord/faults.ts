import type { Misfortune } from "../faults.ts";
import { Faults } from "../faults.ts";

/**
 * A planned misfortune of the calls of a route: `POST /channels/*\/messages` (a `*` is one part of the path, `**` any),
 * `GET /cdn/**`, or `*` for all.
 */
export interface Fault extends Misfortune {
  route: string;
  /** Answer this status with `body` as JSON (text as it is), without doing anything. */
  status?: number;
  body?: unknown;
}

/** Whether a route is one of a pattern's. */
export function routesOf(pattern: string): (route: string) => boolean {
  if (pattern === "*") return () => true;
  const source = pattern
    .split(/(\*\*|\*)/)
    .map((part) => (part === "**" ? ".*" : part === "*" ? "[^/]+" : part.replace(/[.+?^${}()|[\]\\]/g, "\\$&")))
    .join("");
  const form = new RegExp(`^${source}$`);
  return (route) => form.test(route);
}

export function discordFaults(): Faults<Fault> {
  return new Faults<Fault>(
    (fault, route) => routesOf(fault.route)(route),
    ({ status, body }) => {
      if (status === undefined) return undefined;
      if (typeof body === "string") return { status, type: "text/plain", body };
      return { status, type: "application/json", body: JSON.stringify(body ?? { message: `${status}: fault`, code: 0 }) };
    },
  );
}
