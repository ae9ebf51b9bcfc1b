import type { Json } from "./refusal.ts";
import type { TwinMessage } from "./state.ts";

/** A message as a person sees it in the thread, in plain lines: for the demo and for readable test failures. */
export function readable(message: Pick<TwinMessage, "content" | "components" | "embeds" | "attachments">): string {
  const content = message.content === "" ? [] : [asSeen(message.content)];
  const embeds = message.embeds.flatMap((embed) => [embed.title, embed.description].filter((text) => typeof text === "string"));
  const files = message.attachments.map((file) => `(file: ${file.filename})`);
  return [...content, ...embeds, ...message.components.flatMap(lines), ...files].join("\n");
}

function lines(component: Json): string[] {
  const children = Array.isArray(component.components) ? (component.components as Json[]) : [];
  switch (component.type) {
    case 1:
      return [children.map((each) => `[ ${String(each.label ?? each.placeholder ?? "")} ]`).join("  ")];
    case 2:
      return [`[ ${String(component.label ?? "")} ]`];
    case 9:
      return [...children, component.accessory as Json].flatMap(lines);
    case 10:
      return [String(component.content)];
    case 14:
      return ["---"];
    case 17:
      return children.flatMap(lines);
    default:
      return [];
  }
}

/** Discord's Markdown as it looks: code blocks as `  | ` lines, small print and escapes without their marks. */
export function asSeen(text: string): string {
  let code = false;
  return text
    .split("\n")
    .flatMap((line) => {
      if (/^```/.test(line)) {
        code = !code;
        return [];
      }
      return [code ? `  | ${line}` : line.replace(/^-# /, "").replace(/\\([\\`*_~|>#\-[\]()<.:@!+{}])/g, "$1")];
    })
    .join("\n")
    .replaceAll("\u200b", "");
}
