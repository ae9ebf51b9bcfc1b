/** How vendors say that a request is too long for the model, and how long it may be. */

const OVERFLOW = new RegExp(
  [
    "prompt is too long|request_too_large|context_length_exceeded|exceeds the context window|maximum context length",
    "ContextWindowExceeded|exceed_context_size|exceeds the available context size|greater than the context length",
    "input token count.{0,80}exceeds the maximum|reduce the length of the messages|maximum prompt length is",
    "range of input length should be|longer than the model's context length|exceeded model token limit",
    "context window exceeds limit|prompt too long|input is too long for requested model|context_window_exceeded",
    "token count of \\d+ exceeds the limit of|exceeded max context length|no user query found in messages|\\b1261\\b",
    "input length.{0,40}exceeds.{0,40}context length|your input exceeds the context|too large for model with",
  ].join("|"),
  "i",
);

/** Whether these words say so. Who is busy says similar things: ask that first. */
export function isOverflow(words: string): boolean {
  return OVERFLOW.test(words);
}

/** The first number in one of these is the window in tokens. */
const WINDOWS = [
  /maximum context length (?:of|is) (?:only )?([\d,_]+)/i,
  /maximum context length \(([\d,_]+)/i,
  /with ([\d,_]+) maximum context length/i,
  /tokens? > ([\d,_]+) maximum/i,
  /available context size \(([\d,_]+)/i,
  /n_ctx"?: ?([\d,_]+)/i,
  /maximum prompt length is ([\d,_]+)/i,
  /range of input length should be \[\d+, ?([\d,_]+)\]/i,
  /context length \(([\d,_]+)/i,
  /maximum number of tokens allowed \(([\d,_]+)/i,
  /(?:model token limit|exceeds the limit of):? ?([\d,_]+)/i,
  /max_context_length"?: ?([\d,_]+)/i,
  /context (?:window|length|size)(?: limit)?(?: of| is|:) ([\d,_]+)/i,
];

/** No model that can do this work reads fewer tokens: who says so speaks of something else. */
export const LEAST_WINDOW = 1_024;

/** The window that an overflow's words tell, in tokens; null when they do not. */
export function windowIn(words: string): number | null {
  for (const pattern of WINDOWS) {
    const tokens = Number(pattern.exec(words)?.[1]?.replace(/[,_]/g, "") ?? Number.NaN);
    if (tokens >= LEAST_WINDOW && tokens <= 100_000_000) return tokens;
  }
  return null;
}
