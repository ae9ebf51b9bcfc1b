import type { IncomingMessage, ServerResponse } from "node:http";

/** A planned misfortune: the next `times` calls of `method` (a Web API method, `upload`, `download`, `response`, or `*`). */
export interface Fault {
  method: string;
  /** Default 1. */
  times?: number;
  /** Answer `{ok: false, error}` without doing anything. */
  error?: string;
  /** HTTP status of that answer; alone it gives an answer that is no JSON. */
  status?: number;
  headers?: Record<string, string>;
  /** Wait first; alone the call then works as usual. */
  delayMs?: number;
  /** Cut the connection before the call is done, or after it is done and before the answer. */
  reset?: "before" | "after";
}

export class Faults {
  readonly #faults: (Fault & { times: number })[] = [];

  add(fault: Fault): void {
    this.#faults.push({ ...fault, times: fault.times ?? 1 });
  }

  /** Lets a call meet its fault. `go`: do it as usual; `reset`: do it, then cut the line; `answered`: it is over. */
  async meet(method: string, request: IncomingMessage, response: ServerResponse): Promise<"go" | "reset" | "answered"> {
    const fault = this.#faults.find((each) => each.times > 0 && (each.method === method || each.method === "*"));
    if (!fault) return "go";
    fault.times -= 1;
    if (fault.delayMs !== undefined) await new Promise((resolve) => setTimeout(resolve, fault.delayMs));
    if (fault.reset === "after") return "reset";
    if (fault.reset === "before") {
      request.socket.destroy();
      return "answered";
    }
    if (fault.error === undefined && fault.status === undefined) return "go";
    const body = fault.error === undefined ? `status ${fault.status}` : JSON.stringify({ ok: false, error: fault.error });
    const type = fault.error === undefined ? "text/plain" : "application/json; charset=utf-8";
    response.writeHead(fault.status ?? 200, { "content-type": type, ...fault.headers });
    response.end(body);
    return "answered";
  }
}
