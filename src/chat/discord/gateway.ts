import { type Client, GatewayIntentBits } from "discord.js";
import { DeckhandError } from "../../core/errors.ts";
import { backoff } from "../../core/patience.ts";
import { type Connection, type ConnectionOptions, connect, type Ending, refusalError } from "./connection.ts";
import { type LeadOptions, leading } from "./lead.ts";

export interface GatewayOptions extends Omit<ConnectionOptions, "intents">, LeadOptions {}

export const INTENTS = [
  GatewayIntentBits.Guilds,
  GatewayIntentBits.GuildMessages,
  GatewayIntentBits.DirectMessages,
  GatewayIntentBits.MessageContent,
] as const;

const DISALLOWED_INTENTS = 4014;
const BACKOFF_MS = 500;
const BACKOFF_MAX_MS = 60_000;
/** A connection that lived this long was a good one. */
const GOOD_MS = 10_000;

/** Keeps one session with Discord open while this process is the one that hears. */
export class Gateway {
  readonly #options: GatewayOptions;
  readonly #ending = new AbortController();
  #running: Promise<void> | undefined;
  #connection: Connection | undefined;
  #readsAll = true;
  #wasUp = false;

  constructor(options: GatewayOptions) {
    this.#options = options;
  }

  /** False when the application may read only what mentions it. */
  get readsAll(): boolean {
    return this.#readsAll;
  }

  get client(): Client | undefined {
    return this.#connection?.client;
  }

  /**
   * Resolves once connected, or when another process hears, or when stopped. Rejects with DISCORD_AUTH, DISCORD_INTENTS
   * or DISCORD_DOWN when Discord refuses the first connection for good; a later one is tried again.
   */
  start(): Promise<void> {
    return new Promise((resolve, reject) => {
      const { signal } = this.#ending;
      const refuse = (error: DeckhandError): void => {
        reject(error);
        this.#ending.abort();
      };
      const hear = (term: AbortSignal): Promise<void> => this.#stayConnected(term, resolve, refuse);
      this.#running = leading(this.#options, signal, resolve, hear).finally(resolve);
    });
  }

  async stop(): Promise<void> {
    this.#ending.abort();
    await this.#running;
  }

  async #stayConnected(term: AbortSignal, onUp: () => void, onRefused: (error: DeckhandError) => void): Promise<void> {
    const { clock, trace } = this.#options;
    let failures = 0;
    while (!term.aborted) {
      const began = clock.now();
      const ending = await this.#oneConnection(term, onUp);
      failures = clock.now() - began > GOOD_MS ? 1 : failures + 1;
      if (ending.kind === "stopped") return;
      if (ending.kind === "refused" && ending.code === DISALLOWED_INTENTS && this.#readsAll) {
        this.#readsAll = false;
        trace.warn("discord.no-content", { problem: contentMissing().line() });
        continue;
      }
      if (ending.kind === "lost") trace.warn("discord.down", { why: ending.why, failures });
      else {
        const problem = refusalError(ending.code);
        trace.error("discord.refused", { problem: problem.line() });
        if (!this.#wasUp) return onRefused(problem);
      }
      await clock.sleep(backoff(failures, BACKOFF_MS, BACKOFF_MAX_MS, Math.random()), term);
    }
  }

  async #oneConnection(term: AbortSignal, onUp: () => void): Promise<Ending> {
    const intents = INTENTS.filter((intent) => this.#readsAll || intent !== GatewayIntentBits.MessageContent);
    this.#connection = connect(
      {
        ...this.#options,
        intents: intents.reduce((bits, intent) => bits | intent, 0),
        onUp: (resumed) => {
          this.#wasUp = true;
          this.#options.onUp(resumed);
          onUp();
        },
      },
      term,
    );
    return await this.#connection.over;
  }
}

export function contentMissing(): DeckhandError {
  return new DeckhandError("DISCORD_INTENTS", "the Message Content intent; until then it must be mentioned in every message");
}
