import type { Json, TwinMessage } from "./state.ts";

/** A message as a person sees it in the thread, in plain lines: for the demo and for readable test failures. */
export function readable(message: TwinMessage): string {
  const lines = (message.blocks ?? []).flatMap(blockLines);
  const files = (message.files ?? []).map((file) => `(file: ${String(file.name)})`);
  return [...(lines.length > 0 ? lines : [plain(message.text)]), ...files].join("\n");
}

function blockLines(block: Json): string[] {
  switch (block.type) {
    case "markdown":
      return [String(block.text)];
    case "section":
    case "header":
      return [plain(String((block.text as Json | undefined)?.text ?? ""))];
    case "context":
      return (block.elements as Json[]).map((element) => plain(String(element.text ?? "")));
    case "actions":
      return [(block.elements as Json[]).map((element) => `[ ${String((element.text as Json).text)} ]`).join("  ")];
    case "rich_text":
      return (block.elements as Json[]).flatMap((part) => richLines(part));
    default:
      return [`(${String(block.type)})`];
  }
}

function richLines(part: Json): string[] {
  const text = (part.elements as Json[]).map((element) => String(element.text ?? "")).join("");
  if (part.type !== "rich_text_preformatted") return [text];
  return text.split("\n").map((line) => `  | ${line}`);
}

function plain(text: string): string {
  return text.replaceAll("&lt;", "<").replaceAll("&gt;", ">").replaceAll("&amp;", "&");
}
