import type { WireMessage, WireTool } from "./wire.ts";

/** What the scripted model does with one request. Without any field it says nothing at all. */
export interface Step {
  text?: string;
  /** `args` as a string goes out as it is, broken or not. */
  calls?: { name: string; args: object | string; id?: string }[];
  /** The finish reason; by itself `tool_calls` or `stop`. */
  finish?: string;
  /** Milliseconds before anything of the answer is sent. */
  delayMs?: number;
  /** An HTTP error instead of an answer, with these headers and this body. */
  status?: number;
  headers?: Record<string, string>;
  body?: string;
  /** A web page of status 200. */
  html?: boolean;
  /** A stream whose chunks have no choices. */
  empty?: boolean;
  /** The connection ends after so many chunks. */
  cutAfter?: number;
  /** One empty chunk, then silence until the client goes. */
  hang?: boolean;
}

/** One request as the script sees it; `n` counts the accepted ones: 0, 1, 2 ... */
export interface ScriptRequest {
  messages: WireMessage[];
  tools: WireTool[];
  n: number;
}

/** What the model answers; the same for the same request. */
export type Script = (request: ScriptRequest) => Step;

/** A step that only says something. */
export function say(text: string): Step {
  return { text };
}

/** A step that runs a command, with or without a word before it. */
export function bash(command: string, text?: string): Step {
  return { calls: [{ name: "bash", args: { command } }], ...(text === undefined ? {} : { text }) };
}

export interface Rule {
  /** Tried on the last words of a person. */
  when: RegExp;
  /** One for each answer since those words; the last one should only say something. */
  steps: ((heard: { lastResult: string; results: string[] }) => Step)[];
}

/** Plays the first rule that fits what a person said last, step by step; says so when there is nothing to play. */
export function conversationScript(rules: Rule[]): Script {
  return ({ messages }) => {
    const asked = messages.findLastIndex((message) => message.role === "user");
    const since = messages.slice(asked + 1);
    const results = since.flatMap((message) => (message.role === "tool" ? [message.content] : []));
    const at = since.filter((message) => message.role === "assistant").length;
    const rule = rules.find(({ when }) => when.test(wordsOf(messages[asked])));
    const step = rule?.steps[at];
    return step ? step({ lastResult: results.at(-1) ?? "", results }) : say("My script says nothing about that.");
  };
}

/** What a message says in words; of parts their text. */
function wordsOf(message: WireMessage | undefined): string {
  const content = message?.content ?? "";
  return typeof content === "string" ? content : content.map((part) => ("text" in part ? part.text : "")).join("");
}
