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

export function hits(pattern: string, route: string): boolean {
  if (pattern === "*") return true;
  const source = pattern
    .split(/(\*\*|\*)/)
    .map((part) => (part === "**" ? ".*" : part === "*" ? "[^/]+" : part.replace(/[.+?^${}()|[\]\\]/g, "\\$&")))
    .join("");
  return new RegExp(`^${source}$`).test(route);
}

export function discordFaults(): Faults<Fault> {
  return new Faults<Fault>(
    (fault, route) => hits(fault.route, route),
    ({ status, body }) => {
      if (status === undefined) return undefined;
      if (typeof body === "string") return { status, type: "text/plain", body };
      return { status, type: "application/json", body: JSON.stringify(body ?? { message: `${status}: fault`, code: 0 }) };
    },
  );
}
