import type { Misfortune } from "../faults.ts";
import { Faults } from "../faults.ts";

/** A planned misfortune of the next calls of `method` (a Web API method, `upload`, `download`, `response`, or `*`). */
export interface Fault extends Misfortune {
  method: string;
  /** Answer `{ok: false, error}` without doing anything. */
  error?: string;
  /** HTTP status of that answer; alone it gives an answer that is no JSON. */
  status?: number;
}

export function slackFaults(): Faults<Fault> {
  return new Faults<Fault>(
    (fault, method) => fault.method === method || fault.method === "*",
    ({ error, status }) => {
      if (error === undefined && status === undefined) return undefined;
      if (error === undefined) return { status: status ?? 200, type: "text/plain", body: `status ${status}` };
      return { status: status ?? 200, type: "application/json; charset=utf-8", body: JSON.stringify({ ok: false, error }) };
    },
  );
}
