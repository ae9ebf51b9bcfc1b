/** Tells whoever waits that something in a twin has changed. */
export class Changes {
  readonly #listeners = new Set<() => void>();

  tell(): void {
    for (const listener of [...this.#listeners]) listener();
  }

  /** Resolves with the first thing that `probe` gives; rejects after `ms`, or with what it throws. `show` tells what there is instead. */
  waitFor<T>(probe: () => T | undefined | false | null, ms: number, show: () => string): Promise<T> {
    return new Promise((resolve, reject) => {
      const end = (): void => {
        this.#listeners.delete(look);
        clearInterval(poll);
        clearTimeout(timer);
      };
      const look = (): void => {
        try {
          const found = probe();
          if (found === undefined || found === null || found === false) return;
          end();
          resolve(found);
        } catch (thrown) {
          end();
          reject(thrown as Error);
        }
      };
      this.#listeners.add(look);
      const poll = setInterval(look, 50);
      const timer = setTimeout(() => {
        end();
        reject(new Error(`nothing came within ${ms} ms; the threads show:\n${show()}`));
      }, ms);
      look();
    });
  }
}
