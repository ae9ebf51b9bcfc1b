/**
 * What makes turns in the prompts of servers: their templates put our text between such tokens, and their tokenizers know no
 * difference between a token of the template and the same characters in a text.
 */
const TOKEN = new RegExp(
  [
    // ChatML, Llama 3 and most others; with one bar: Gemma 4. DeepSeek's bar is a wide one, which stands nowhere else.
    String.raw`<(?=\/?[|｜][\w▁.:/"-]{1,64}[|｜]?>|\/?[\w▁]{1,40}[|｜]>|\/?｜)`,
    // Llama 2, Gemma, GLM, Seed; Qwen's and others' calls, results and thoughts.
    String.raw`<(?=\/?(?:s|bos|eos|sop|eop|(?:start|end)_of_(?:turn|image|audio)|tool_(?:call|response|result|output)s?|think)>|seed:\w)`,
    String.raw`<(?=<\/?SYS>>)`,
    // Mistral, GLM, MiniMax.
    String.raw`\[(?=\/?(?:INST|SYSTEM_PROMPT|AVAILABLE_TOOLS|TOOL_(?:CALLS|RESULTS|CONTENT)|MODEL_SETTINGS|THINK|IMG(?:_BREAK|_END)?|gMASK)\]|e~)`,
    String.raw`\](?=~!?b)`,
  ].join("|"),
  "g",
);

/** The text with a zero-width space behind the first character of each control token: it looks the same and is only text. */
export function withoutTokens(text: string): string {
  return text.replace(TOKEN, "$&\u200b");
}
