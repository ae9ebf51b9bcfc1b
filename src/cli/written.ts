import type { Entry } from "../core/entry.ts";
import type { Hands } from "../core/hands.ts";
import { waitText } from "../core/live.ts";
import type { Wait } from "../core/log.ts";
import { visible } from "../core/visible.ts";

/** What ends so soon after its first words is shown when it is there. */
const SOON_MS = 300;

interface Parts {
  /** Shows text after all that was shown before. */
  put: (text: string) => void;
  /** Tells a line apart from the work itself. */
  tell: (line: string) => void;
  /** Whether answers are shown while they are written; else only that the service asks us to wait is told. */
  live: boolean;
}

/** Shows answers at a terminal while they are written, and knows which of them need not be shown again. */
export class Written {
  private readonly parts: Parts;
  /** What was shown of the newest answer, and of which request. */
  private read = -1;
  private text = "";
  /** Of an answer that was shown whole: its words. */
  private whole: string | null = null;
  private isLineOpen = false;

  constructor(parts: Parts) {
    this.parts = parts;
  }

  readonly ear: Hands["writing"] = ({ read }) => {
    let early: string | null = "";
    let timer: NodeJS.Timeout | undefined;
    const print = (text: string): void => {
      this.read = read;
      this.text += text;
      this.isLineOpen = true;
      this.parts.put(visible(text));
    };
    const begin = (): void => {
      if (early) print(`\n${early}`);
      early = null;
    };
    const again = (wait?: Wait): void => {
      clearTimeout(timer);
      timer = undefined;
      early = "";
      const shown = this.read === read && this.text !== "";
      this.endLine();
      if (wait) this.parts.tell(`  [${visible(waitText(wait))}]`);
      else if (shown) this.parts.tell("  [that answer does not count: the model is asked again]");
      this.text = "";
    };
    return {
      hear: (text) => {
        if (!this.parts.live) return;
        if (early === null) return print(text);
        early += text;
        timer ??= setTimeout(begin, SOON_MS);
      },
      again,
      end: () => clearTimeout(timer),
    };
  };

  /** Whether the text of this entry was shown while it was written. */
  has(entry: Entry): boolean {
    if (entry.type === "final") return this.whole !== null && this.whole === entry.text.trim();
    if (entry.type !== "model") return false;
    this.endLine();
    this.whole = this.read === entry.read && this.text.trim() === entry.text.trim() ? entry.text.trim() : null;
    this.text = "";
    return this.whole !== null;
  }

  endLine(): void {
    if (this.isLineOpen) this.parts.put("\n");
    this.isLineOpen = false;
  }
}
