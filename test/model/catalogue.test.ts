import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { scenarios } from "./compare/scenario.ts";

const [QUIRKS, ERRORS, TRANSPORT, WIRE] = ["quirks.test.ts", "errors.test.ts", "transport.test.ts", "wire.test.ts"];
const [LESSONS, WINDOW, SSE, INPUT] = ["lessons.test.ts", "window.test.ts", "sse.test.ts", "input.test.ts"];
const [CORRIDOR, CONVERSATION] = ["../corridor/model.test.ts", "../core/conversation.test.ts"];

/**
 * The hundred known quirks of endpoints by their number in the catalogue that this project was built from, each with the
 * test that holds us to the right behaviour: a file and words of it, or a scenario.
 */
const CATALOGUE: Record<number, [file: string, words: string] | [scenario: string]> = {
  // A. How a turn ends
  1: ["stop_with_tools"],
  2: [QUIRKS, "[DONE] is enough"],
  3: ["cut_clean"],
  4: [QUIRKS, "a connection that is reset in the middle cuts the answer"],
  5: ["length_mid_call"],
  6: [QUIRKS, "the limit under the name of tool_calls"],
  7: [CONVERSATION, "a cut message runs none of its calls"],
  8: ["content_filter"],
  9: [ERRORS, "which filter fired is said"],
  10: [QUIRKS, "a filter or a refusal leaves no calls"],
  11: [QUIRKS, "breaks the answer"],
  12: [CORRIDOR, "says nothing twice: a plain line instead of an empty post"],
  13: [QUIRKS, "thoughts are never shown as one"],
  // B. Tool-call deltas
  14: ["no_index"],
  15: ["null_index"],
  16: [QUIRKS, "pieces without index go by id"],
  17: ["index_from_1"],
  18: [QUIRKS, "two ids on one index are two calls"],
  19: [QUIRKS, "different objects in one call"],
  20: ["empty_id"],
  21: ["dup_id"],
  22: [QUIRKS, "the endpoint's ids, however long and often"],
  23: ["../contracts/model.test.ts", "any history is accepted"],
  24: [QUIRKS, "the endpoint's ids, however long and often"],
  25: ["responses.test.ts", "without ids"],
  26: ["no_type"],
  27: [QUIRKS, "pieces without any key go on with the last call"],
  28: [QUIRKS, "arguments may come before the name"],
  29: ["name_null_after"],
  30: [QUIRKS, "a name that is sent whole again is not doubled"],
  31: ["name_split"],
  32: [QUIRKS, "control tokens are no part of a name"],
  33: [CORRIDOR, "There is no tool"],
  34: ["args_empty"],
  35: ["args_missing"],
  36: ["args_object"],
  37: [QUIRKS, "arguments that are JSON in JSON are unwrapped"],
  38: ["doubled"],
  39: [QUIRKS, "a placeholder object gives way to the real one"],
  40: [QUIRKS, "braces in a string are no border"],
  41: [QUIRKS, "a raw line end in a string"],
  42: [WIRE, "broken arguments go back as an object that holds them"],
  43: [QUIRKS, "a call that is written as text is text"],
  44: [CORRIDOR, "says nothing twice: a plain line instead of an empty post"],
  45: [ERRORS, "a call that the server cannot read"],
  46: ["../corridor/tasks.test.ts", "two calls in one step are both run, in order"],
  47: [ERRORS, "a server without tools"],
  // C. Chunks, SSE and transport
  48: [QUIRKS, "on a chunk without choices"],
  49: [QUIRKS, "beside choices that are null"],
  50: [QUIRKS, "nothing said, or only thoughts"],
  51: ["choice_no_delta"],
  52: [QUIRKS, "in the choice"],
  53: [QUIRKS, "never"],
  54: [QUIRKS, "with thoughts that are not counted"],
  55: [QUIRKS, "prompt_cache_hit_tokens"],
  56: [LESSONS, "Unknown parameter: 'stream_options'"],
  57: [TRANSPORT, "silence in the middle ends in MODEL_TIMEOUT, whatever keep-alives come"],
  58: [SSE, "OPENROUTER"],
  59: ["empty_data"],
  60: ["done_space"],
  61: ["ping_event"],
  62: ["mid_error_obj"],
  63: [ERRORS, "an error field"],
  64: ["not_sse_json"],
  65: [QUIRKS, "a web page says that the address is wrong"],
  66: [TRANSPORT, "silence before the first piece ends in MODEL_TIMEOUT"],
  67: [TRANSPORT, "an abort in the middle of an answer rejects with the signal's reason"],
  68: [TRANSPORT, "slow pieces are no silence"],
  69: [TRANSPORT, "a 429 is tried once and carries what the server asks to wait"],
  70: [ERRORS, "no quota as a 429"],
  71: [ERRORS, "a 529"],
  72: [TRANSPORT, "a 429 is tried once"],
  // D. What the request must look like
  73: [LESSONS, "until the endpoint says that it must be Responses"],
  74: [LESSONS, "no vendor is sent what some refuse: a token limit"],
  75: [LESSONS, "no vendor is sent what some refuse: a token limit, a temperature"],
  76: [LESSONS, "a developer"],
  77: [LESSONS, "content that is null"],
  78: [LESSONS, "content that may be neither null nor empty becomes a blank"],
  79: [WIRE, "the content key is always there"],
  80: [WIRE, "a result without a call, a second result and empty messages are left out"],
  81: [WIRE, "a call without a result gets one that says that nothing is known"],
  82: [WIRE, "a result without a call"],
  83: [LESSONS, "a person behind a result"],
  84: [WIRE, "what people wrote one after the other is one message"],
  85: [LESSONS, "thoughts that have to come back do"],
  86: [WIRE, "signatures and thoughts go back with the message that had them"],
  87: [WIRE, "what only another model can read is left out"],
  88: [LESSONS, "a strict schema"],
  89: [LESSONS, "unknown variant `image_url`"],
  90: [INPUT, "images are parts of their message"],
  91: [WIRE, "any sequence of messages gives a request that strict vendors accept"],
  92: ["templates.test.ts", "renders any history"],
  93: ["../contracts/model.test.ts", "a request may forbid calls, and names the tools all the same"],
  // E. Context, cost, loops
  94: [ERRORS, "an overflow is known by its words"],
  95: [ERRORS, "throttling that talks of tokens"],
  96: [ERRORS, "litellm.MidStreamFallbackError"],
  97: [WINDOW, "a server that has read much less than was sent is told of"],
  98: [ERRORS, "no user query found in messages"],
  99: [CORRIDOR, "in a turn that goes round in circles is asked about"],
  100: ["prefix.test.ts", "strictly extends every earlier one of its conversation"],
};

test("each of the hundred known quirks has a test that is there", () => {
  expect(Object.keys(CATALOGUE).map(Number)).toEqual(Array.from({ length: 100 }, (_, at) => at + 1));
  const missing = Object.entries(CATALOGUE).filter(([, [where, words]]) => {
    if (words === undefined) return !scenarios.some(({ name }) => name === where);
    return !readFileSync(join(import.meta.dirname, where), "utf8").includes(words);
  });
  expect(missing).toEqual([]);
});
