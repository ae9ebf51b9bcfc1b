import type { Fact, Learned, Trace } from "../core/ports.ts";
import { messageOf } from "../core/errors.ts";
import { LIMITS } from "../limits.ts";
import type { InputManner } from "./input.ts";
import { LEAST_WINDOW } from "./overflow.ts";
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

/** What a refusal teaches: the endpoint wants requests in another form. */
export interface Lesson {
  name: string;
  value: string;
}

export interface Knowledge {
  /** Reads what earlier processes have learned, once; without it when it cannot be read. */
  load(): Promise<void>;
  /** With lessons that a request tries, if any: nothing else knows of them yet. */
  can(tried?: Lesson[]): Capabilities;
  /** Whether this was learned already: then it does not help. */
  has(lesson: Lesson): boolean;
  /** Keeps what an answer has proven, here and for others, and says so. Never rejects. */
  learn(lesson: Lesson, reason: string): Promise<void>;
  /** A window that an overflow told: it holds here, unless more was read before. */
  suspect(window: number, reason: string): void;
  /** A request was answered, of so many tokens if that is known: what was told of the window is kept for others, or forgotten. */
  answered(prompt: number | null): Promise<void>;
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
  let loading: Promise<void> | null = null;
  /** The most tokens that it has read, and the window that nothing has proven yet. */
  let most = 0;
  let told: { window: number; reason: string } | null = null;
  async function load(): Promise<void> {
    try {
      for (const { name, value } of await learned.read(of, Date.now())) if (name !== "api" || !api.settled) facts.set(name, value);
    } catch (thrown) {
      trace.warn("model-facts-unread", { of, error: messageOf(thrown) });
    }
  }
  async function learn({ name, value }: Lesson, reason: string): Promise<void> {
    // Back where requests go anyway.
    if (name === "api" && value === api.first) return await forget(name, reason);
    facts.set(name, value);
    const fact: Fact = { name, value, reason: reason.slice(0, LIMITS.learnedReason), at: Date.now() };
    trace.info("model-learned", { of, ...fact });
    await learned.note(of, fact).catch((thrown: unknown) => trace.warn("model-fact-lost", { of, name, error: messageOf(thrown) }));
  }
  async function forget(name: string, reason: string): Promise<void> {
    facts.delete(name);
    trace.info("model-forgot", { of, name, reason });
    await learned.forget(of, name).catch((thrown: unknown) => trace.warn("model-fact-lost", { of, name, error: messageOf(thrown) }));
  }
  const can = (tried: Lesson[] = []) =>
    capabilitiesFrom(new Map([...facts, ...tried.map(({ name, value }) => [name, value] as const)]), of, api.first);
  return {
    load: () => (loading ??= load()),
    can,
    has: ({ name, value }) => facts.get(name) === value || (name === "api" && api.settled),
    learn,
    suspect(window, reason) {
      if (window <= most || can().window === window) return;
      facts.set("window", String(window));
      told = { window, reason };
    },
    async answered(prompt) {
      most = Math.max(most, prompt ?? 0);
      const { window } = can();
      const proven = told;
      told = null;
      if (window !== null && window < most) await forget("window", `it read ${most} tokens`);
      else if (proven !== null) await learn({ name: "window", value: String(proven.window) }, proven.reason);
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
    window: window >= LEAST_WINDOW ? window : null,
  };
}
