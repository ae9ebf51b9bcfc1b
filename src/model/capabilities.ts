import type { Fact, Learned, Trace } from "../core/ports.ts";
import { messageOf } from "../core/errors.ts";
import { LIMITS } from "../limits.ts";
import type { InputManner } from "./input.ts";
import type { ChatManner } from "./wire.ts";

export type Api = "chat" | "responses";

/** What an endpoint and model can take, as far as it is known. */
export interface Capabilities {
  api: Api;
  streamOptions: boolean;
  toolChoice: boolean;
  /** Fields that only Responses has. */
  store: boolean;
  manner: ChatManner & InputManner;
  /** Its window in tokens, as an overflow told. */
  window: number | null;
}

/** What a refusal teaches: from now on the endpoint gets requests in another form. */
export interface Lesson {
  name: string;
  value: string;
}

export interface Knowledge {
  /** Reads what earlier processes have learned, once; without it when it cannot be read. */
  load(): Promise<void>;
  can(): Capabilities;
  /** Whether this was learned already: then it did not help. */
  has(lesson: Lesson): boolean;
  /** Keeps it, here and for others, and says so. Never rejects. */
  learn(lesson: Lesson, reason: string): Promise<void>;
}

export interface KnowledgeOptions {
  /** Names endpoint and model; see `Learned`. */
  of: string;
  learned: Learned;
  trace: Trace;
  /** Where requests go before anything is learned; null when it is settled. */
  api: { first: Api; settled: boolean };
}

export function knowledge({ of, learned, trace, api }: KnowledgeOptions): Knowledge {
  const facts = new Map<string, string>();
  const tried = new Set<string>();
  let loading: Promise<void> | null = null;
  async function load(): Promise<void> {
    try {
      for (const { name, value } of await learned.read(of, Date.now())) keep({ name, value });
    } catch (thrown) {
      trace.warn("model-facts-unread", { of, error: messageOf(thrown) });
    }
  }
  function keep({ name, value }: Lesson): void {
    if (name === "api" && api.settled) return;
    facts.set(name, value);
    tried.add(`${name}=${value}`);
  }
  return {
    load: () => (loading ??= load()),
    can: () => capabilitiesFrom(facts, of, api.first),
    // A switch of the API is made once, and not back.
    has: ({ name, value }) => tried.has(`${name}=${value}`) || (name === "api" && (api.settled || facts.has("api"))),
    async learn({ name, value }, reason) {
      keep({ name, value });
      const fact: Fact = { name, value, reason: reason.slice(0, LIMITS.learnedReason), at: Date.now() };
      trace.info("model-learned", { of, ...fact });
      await learned.note(of, fact).catch((thrown: unknown) => trace.warn("model-fact-lost", { of, name, error: messageOf(thrown) }));
    },
  };
}

/** Each name and what its values mean; the names and values are what `doctor` shows. */
function capabilitiesFrom(facts: Map<string, string>, by: string, first: Api): Capabilities {
  const is = (name: string, value: string) => facts.get(name) === value;
  const api = facts.get("api");
  const content = facts.get("content");
  const window = Number(facts.get("window") ?? Number.NaN);
  return {
    api: api === "chat" || api === "responses" ? api : first,
    streamOptions: !is("stream_options", "left out"),
    toolChoice: !is("tool_choice", "left out"),
    store: !is("store", "left out"),
    manner: {
      by,
      images: !is("images", "left out"),
      bridge: is("a message after a result", "needs an answer between"),
      single: is("calls in one message", "one"),
      content: content === "empty" ? "" : content === "blank" ? " " : null,
      reasoning: is("reasoning_content", "left out") ? "never" : is("reasoning_content", "always") ? "always" : "echo",
      encrypted: !is("encrypted reasoning", "left out"),
    },
    window: Number.isFinite(window) ? window : null,
  };
}
