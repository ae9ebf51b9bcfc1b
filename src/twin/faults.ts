import type { IncomingMessage, ServerResponse } from "node:http";

/** A planned misfortune of the next `times` calls (1 by default) that a twin's own kind of fault names. */
export interface Misfortune {
  times?: number;
  /** Only of calls with this text in their body. */
  within?: string;
  headers?: Record<string, string>;
  /** Wait first; alone the call then works as usual. */
  delayMs?: number;
  /** Cut the connection before the call is done, or after it is done and before the answer. */
  reset?: "before" | "after";
}

interface Answer {
  status: number;
  type: string;
  body: string;
}

/** `hits`: whether a fault is for this call; `answer`: what is answered instead of doing it, if anything. */
export class Faults<F extends Misfortune> {
  readonly #faults: (F & { times: number })[] = [];
  readonly #hits: (fault: F, name: string) => boolean;
  readonly #answer: (fault: F) => Answer | undefined;

  constructor(hits: (fault: F, name: string) => boolean, answer: (fault: F) => Answer | undefined) {
    this.#hits = hits;
    this.#answer = answer;
  }

  add(fault: F): void {
    this.#faults.push({ ...fault, times: fault.times ?? 1 });
  }

  /** Lets a call meet its fault. `go`: do it as usual; `reset`: do it, then cut the line; `answered`: it is over. */
  async meet(name: string, request: IncomingMessage, body: Buffer, response: ServerResponse): Promise<"go" | "reset" | "answered"> {
    const fault = this.#faults.find((each) => each.times > 0 && this.#hits(each, name) && body.includes(each.within ?? ""));
    if (!fault) return "go";
    fault.times -= 1;
    if (fault.delayMs !== undefined) await new Promise((resolve) => setTimeout(resolve, fault.delayMs));
    if (fault.reset === "after") return "reset";
    if (fault.reset === "before") {
      request.socket.destroy();
      return "answered";
    }
    const answer = this.#answer(fault);
    if (!answer) return "go";
    response.writeHead(answer.status, { "content-type": answer.type, ...fault.headers });
    response.end(answer.body);
    return "answered";
  }
}
