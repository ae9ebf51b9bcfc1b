import type { App, Receiver } from "@slack/bolt";
import { messageOf } from "../../core/errors.ts";
import type { Trace } from "../../core/ports.ts";
import { type Envelope, Supervisor, type SupervisorOptions } from "./supervisor.ts";

/** What a listener leaves for the receiver to do once Slack has been told. */
export interface Delivery {
  /** Runs after the acknowledgement. */
  after?: () => Promise<void>;
  /** Runs when a press could not be kept: Slack does not send it again. */
  onLost?: () => Promise<void>;
}

export interface ReceiverOptions extends Omit<SupervisorOptions, "onEnvelope"> {
  /** The event in this envelope was not kept; Slack has not been told, and sends it again a few times. */
  onUnacked: (body: Record<string, unknown>) => void;
}

/** Slack gives a press 3 s and never sends it again; until then keeping it comes first. */
const PRESS_MS = 2_500;

/**
 * Bolt's receiver in our order: Bolt acknowledges an event before its listeners run, so it gets an empty `ack`,
 * and Slack is told only when the listeners are done. What fails stays unacknowledged.
 */
export class SlackReceiver implements Receiver {
  readonly #trace: Trace;
  readonly #onUnacked: ReceiverOptions["onUnacked"];
  readonly #supervisor: Supervisor;
  readonly #underWay = new Set<Promise<void>>();
  #app: App | undefined;
  #stopping = false;

  constructor(options: ReceiverOptions) {
    this.#trace = options.trace;
    this.#onUnacked = options.onUnacked;
    this.#supervisor = new Supervisor({ ...options, onEnvelope: (envelope) => this.#take(envelope) });
  }

  init(app: App): void {
    this.#app = app;
  }

  async start(): Promise<void> {
    await this.#supervisor.start();
  }

  /** Finishes what is under way and what comes meanwhile (its acknowledgements go out), then closes: a press is not sent again. */
  async stop(): Promise<void> {
    while (this.#underWay.size > 0) await Promise.all(this.#underWay);
    this.#stopping = true;
    await this.#supervisor.stop();
  }

  #take(envelope: Envelope): void {
    if (this.#stopping) return;
    const work = this.#deliver(envelope).finally(() => this.#underWay.delete(work));
    this.#underWay.add(work);
  }

  /** Never rejects. */
  async #deliver(envelope: Envelope): Promise<void> {
    const delivery: Delivery = {};
    const handled = this.#process(envelope, delivery).then(() => "kept" as const);
    try {
      const slow = envelope.type === "interactive" ? [after(PRESS_MS, handled)] : [];
      const soon = await Promise.race([handled, ...slow]);
      await this.#acknowledge(envelope);
      if (soon === "slow") await handled;
    } catch (error) {
      this.#trace.warn("slack.not-kept", { type: envelope.type, retry: envelope.retry_num ?? 0, error: rootMessage(error) });
      if (envelope.type === "events_api") this.#onUnacked(envelope.body);
      else await this.#attempt("slack.lost-press", delivery.onLost);
      return;
    }
    await this.#attempt("slack.after", delivery.after);
  }

  async #process(envelope: Envelope, delivery: Delivery): Promise<void> {
    const { body, retry_num, retry_reason } = envelope;
    await this.#app?.processEvent({
      body,
      ack: async () => undefined,
      ...(retry_num !== undefined && { retryNum: retry_num }),
      ...(retry_reason !== undefined && { retryReason: retry_reason }),
      customProperties: { delivery },
    });
  }

  /** A lost acknowledgement is harmless: Slack sends the event again and it is known. */
  async #acknowledge(envelope: Envelope): Promise<void> {
    try {
      await envelope.ack();
    } catch (error) {
      this.#trace.warn("slack.ack-failed", { type: envelope.type, error: messageOf(error) });
    }
  }

  async #attempt(what: string, act: (() => Promise<void>) | undefined): Promise<void> {
    try {
      await act?.();
    } catch (error) {
      this.#trace.warn(what, { error: messageOf(error) });
    }
  }
}

function after(ms: number, work: Promise<unknown>): Promise<"slow"> {
  return new Promise((resolve) => {
    const timer = setTimeout(() => resolve("slow"), ms);
    const done = (): void => clearTimeout(timer);
    work.then(done, done);
  });
}

/** Bolt wraps what a listener throws. */
function rootMessage(error: unknown): string {
  const original = error instanceof Error && "original" in error ? error.original : undefined;
  return messageOf(original ?? error);
}
