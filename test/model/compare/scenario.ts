import { readFileSync } from "node:fs";
import type { Answer, Frame } from "../fault-server.ts";

/** A stream or an answer, and what has to come of it. */
export interface Scenario {
  name: string;
  frames?: Frame[];
  response?: { status?: number; json?: unknown; html?: string };
  expect: {
    stop?: "tools" | "stop" | "length" | "filtered";
    text?: string;
    think?: string;
    calls?: { name: string; args?: object; bad?: string }[];
    error?: string;
  };
}

export const scenarios = JSON.parse(readFileSync(new URL("../scenarios.json", import.meta.url), "utf8")) as Scenario[];

export function answerOf({ frames, response }: Scenario): Answer {
  if (frames) return { frames };
  const status = response?.status ?? 200;
  return response?.json === undefined
    ? { status, type: "text/html", body: response?.html ?? "" }
    : { status, body: JSON.stringify(response.json) };
}

/** What a client made of one: calls that would be run, with the ids that go into the history. */
export interface Outcome {
  text: string;
  calls: { id: string; name: string; args: unknown }[];
  end: "fine" | "length" | "filtered" | "error";
  /** For people. */
  note: string;
}

/** Null when the outcome is right, else what is wrong with it, in a few words. */
export function wrongWith({ expect }: Scenario, outcome: Outcome): string | null {
  const { text, calls, end, note } = outcome;
  const failed = `error: ${note}`;
  if (expect.error !== undefined) {
    if (calls.length > 0) return "calls of a broken message";
    return end === "error" ? null : text === "" ? "no error: an empty answer" : "no error: half an answer as a whole one";
  }
  if (end === "error" && expect.stop !== "filtered") return failed;
  switch (expect.stop) {
    case "length":
      if (calls.length > 0) return "a call of a cut message";
      return end === "length" ? null : "does not say that it was cut";
    case "filtered":
      return end === "filtered" || (end === "error" && /filter/i.test(note)) ? null : "does not say that it was filtered";
    case "tools":
      return callsWrong(expect.calls ?? [], calls);
    default:
      if (calls.length > 0) return "calls that nobody made";
      return text === (expect.text ?? "") ? null : `text: ${JSON.stringify(text)}`;
  }
}

function callsWrong(wanted: { name: string; args?: object }[], calls: Outcome["calls"]): string | null {
  const said = (all: { name: string; args?: unknown }[]) => JSON.stringify(all.map(({ name, args }) => ({ name, args })));
  if (calls.length !== wanted.length) return `${calls.length} calls of ${wanted.length}`;
  if (said(calls) !== said(wanted)) return `another call: ${said(calls)}`;
  if (calls.some(({ id }) => id === "")) return "a call without id";
  return new Set(calls.map(({ id }) => id)).size < calls.length ? "two calls with one id" : null;
}
