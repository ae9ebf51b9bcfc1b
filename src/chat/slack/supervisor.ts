import { type Logger, WebAPIPlatformError, WebAPIRateLimitedError } from "@slack/web-api";
import { DeckhandError, messageOf } from "../../core/errors.ts";
import { backoff } from "../../core/patience.ts";
import type { Clock, Trace } from "../../core/ports.ts";
import { CalmClient } from "./calm-client.ts";
import { codeOf } from "./refusals.ts";

/** One envelope as socket-mode hands it on. */
export interface Envelope {
  type: string;
  body: Record<string, unknown>;
  ack: (response?: Record<string, unknown>) => Promise<void>;
  retry_num?: number;
  retry_reason?: string;
}

export interface SupervisorOptions {
  appToken: string;
  apiUrl: string | null;
  sockets: number;
  logger: Logger;
  trace: Trace;
  clock: Clock;
  onEnvelope: (envelope: Envelope) => void;
  /** A socket is open and none was before (also the first one): events may have been missed. */
  onUp: () => void;
  /** Slack left events out because there were too many. */
  onMissed: () => void;
}

const HELLO_MS = 20_000;
const CLOSE_MS = 1_000;
const BACKOFF_MS = 250;
const BACKOFF_MAX_MS = 30_000;
/** A connection that lived this long was a good one: the next one is tried at once. */
const GOOD_MS = 10_000;
const REFUSED = new Set(["invalid_auth", "not_authed", "account_inactive", "token_revoked", "not_allowed_token_type", "missing_scope"]);

/**
 * Keeps sockets open, with a new client for every connection: the client's own reconnecting waits five seconds
 * each time, and where it fails it ends the process. With two sockets one is open while the other changes.
 */
export class Supervisor {
  readonly #options: SupervisorOptions;
  readonly #ending = new AbortController();
  #slots: Promise<void>[] = [];
  #open = 0;
  #everOpen = false;

  constructor(options: SupervisorOptions) {
    this.#options = options;
  }

  /** Resolves with the first open socket, or when stopped. Rejects with SLACK_AUTH when Slack refuses the app token at once. */
  start(): Promise<void> {
    return new Promise((resolve, reject) => {
      this.#ending.signal.addEventListener("abort", () => resolve());
      const refuse = (error: DeckhandError): void => {
        reject(error);
        this.#ending.abort();
      };
      this.#slots = Array.from({ length: this.#options.sockets }, (_, slot) => this.#keepSlot(slot, resolve, refuse));
    });
  }

  async stop(): Promise<void> {
    this.#ending.abort();
    await Promise.all(this.#slots);
  }

  async #keepSlot(slot: number, onOpen: () => void, onRefused: (error: DeckhandError) => void): Promise<void> {
    const { trace, clock } = this.#options;
    const { signal } = this.#ending;
    let failures = 0;
    while (!signal.aborted) {
      const began = clock.now();
      let waitMs = 0;
      try {
        const reason = await this.#oneConnection(onOpen);
        failures = clock.now() - began > GOOD_MS ? 0 : failures + 1;
        trace.info("slack.socket-closed", { slot, reason, open: this.#open });
      } catch (error) {
        failures += 1;
        const code = error instanceof WebAPIPlatformError ? codeOf(error) : messageOf(error);
        trace.warn("slack.socket-failed", { slot, error: code, failures });
        if (!this.#everOpen && REFUSED.has(code)) onRefused(new DeckhandError("SLACK_AUTH", `${code} (SLACK_APP_TOKEN)`, { cause: error }));
        if (error instanceof WebAPIRateLimitedError) waitMs = error.retryAfter * 1000;
      }
      if (failures > 0) await clock.sleep(Math.max(waitMs, backoff(failures, BACKOFF_MS, BACKOFF_MAX_MS, Math.random())), signal);
    }
  }

  /** Resolves with the reason when the connection has ended; rejects when there never was one. */
  async #oneConnection(onOpen: () => void): Promise<string> {
    const { onEnvelope, onUp, trace } = this.#options;
    const { signal } = this.#ending;
    const over = Promise.withResolvers<string>();
    const client = new CalmClient({ ...this.#options, onGoodbye: over.resolve });
    client.on("slack_event", onEnvelope);
    client.once("disconnected", () => over.resolve("connection lost"));
    const onAbort = (): void => over.resolve("stopped");
    signal.addEventListener("abort", onAbort);
    const started = client.start();
    try {
      const early = await Promise.race([started.then(() => null), over.promise, noHello(HELLO_MS, over.promise)]);
      if (signal.aborted) return "stopped";
      if (early !== null) throw new Error(early);
      this.#open += 1;
      this.#everOpen = true;
      trace.info("slack.socket-open", { open: this.#open });
      if (this.#open === 1) onUp();
      onOpen();
      return await over.promise.finally(() => {
        this.#open -= 1;
      });
    } finally {
      signal.removeEventListener("abort", onAbort);
      client.removeListener("slack_event", onEnvelope);
      await client.end(CLOSE_MS);
      // A client that was still fetching its address connects after all; its failure was told above.
      void started.then(() => client.end(CLOSE_MS)).catch(() => undefined);
    }
  }
}

/** Gives up after `ms`; its timer is gone once the connection is over. */
function noHello(ms: number, over: Promise<string>): Promise<string> {
  return new Promise((resolve) => {
    const timer = setTimeout(() => resolve("no hello from Slack"), ms);
    void over.then(() => clearTimeout(timer));
  });
}
