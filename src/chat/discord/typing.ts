import { Routes } from "discord.js";
import type { Clock } from "../../core/ports.ts";
import type { Api } from "./api.ts";

/** Discord shows it for 10 s. */
const AGAIN_MS = 8_000;
/** Another gateway may have told the thread that the work is over: nothing is shown for ever. */
const LONGEST_MS = 5 * 60_000;

/** Shows in a thread that work goes on. A courtesy: where Discord will not have it, it ends. */
export class Typing {
  readonly #api: Api;
  readonly #clock: Clock;
  readonly #ending = new AbortController();
  readonly #until = new Map<string, number>();
  readonly #shown = new Set<string>();

  constructor(api: Api, clock: Clock) {
    this.#api = api;
    this.#clock = clock;
  }

  set(channel: string, isWorking: boolean): void {
    if (!isWorking) return void this.#until.delete(channel);
    this.#until.set(channel, this.#clock.now() + LONGEST_MS);
    if (!this.#shown.has(channel)) void this.#show(channel);
  }

  stop(): void {
    this.#ending.abort();
  }

  async #show(channel: string): Promise<void> {
    const { signal } = this.#ending;
    this.#shown.add(channel);
    try {
      while (!signal.aborted && (this.#until.get(channel) ?? 0) > this.#clock.now()) {
        await this.#api.write.post(Routes.channelTyping(channel));
        await this.#clock.sleep(AGAIN_MS, signal);
      }
    } catch {
      // Whatever is wrong with the thread, its posts say so.
    } finally {
      this.#shown.delete(channel);
      this.#until.delete(channel);
    }
  }
}
