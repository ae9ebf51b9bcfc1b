import fc from "fast-check";
import { describe, expect, it } from "vitest";
import type { SlackBody } from "../../../src/chat/slack/blocks.ts";
import { layout } from "../../../src/chat/slack/blocks.ts";
import type { Chunk } from "../../../src/core/ports.ts";
import type { Block, Button, Post } from "../../../src/core/post.ts";
import { checkContent } from "../../../src/twin/slack/validate.ts";

const letters = fc.constantFrom(
  "a",
  "word ",
  "\n",
  "\n\n",
  "`",
  "```js\n",
  "```\n",
  "<!channel>",
  "<@U1>",
  "&amp;",
  '"',
  "\\",
  "😀",
  "汉字",
  "*",
  "# ",
  "| a |\n",
  "x".repeat(997),
);
const text = fc.array(letters, { maxLength: 60 }).map((parts) => parts.join(""));
const button = fc.record<Button>({
  action: fc.constantFrom("approve", "deny", "stop"),
  label: fc.string({ minLength: 1, maxLength: 100 }),
  value: fc.string({ minLength: 1, maxLength: 200 }),
});
const block: fc.Arbitrary<Block> = fc.oneof(
  fc.record({ kind: fc.constantFrom("markdown", "text", "code", "note"), text }),
  fc.record({ kind: fc.constant("buttons"), buttons: fc.array(button, { maxLength: 5 }) }),
);
const post: fc.Arbitrary<Post> = fc.record(
  {
    key: fc.constant("k"),
    lane: fc.constant("output"),
    blocks: fc.array(block, { maxLength: 8 }),
    file: fc.constant({ name: "output.txt", blob: "b1" }),
  },
  { requiredKeys: ["key", "lane", "blocks"] },
);

const bodyOf = (chunk: Chunk | undefined): SlackBody => chunk?.body as SlackBody;
const one = (...blocks: Block[]): Chunk[] => layout({ key: "k", lane: "output", blocks });

/** The letters inside code boxes, in order. */
function codeIn(chunks: Chunk[]): string {
  const found: string[] = [];
  for (const each of chunks.flatMap((chunk) => bodyOf(chunk).blocks)) {
    if (each.type !== "rich_text") continue;
    for (const element of each.elements) {
      if (element.type !== "rich_text_preformatted") continue;
      for (const piece of element.elements) found.push("text" in piece ? (piece.text ?? "") : "");
    }
  }
  return found.join("");
}

describe("laying out a post", () => {
  it("gives only what Slack takes, for any post", () => {
    fc.assert(
      fc.property(post, (any) => {
        const chunks = layout(any);
        expect(chunks.length).toBeGreaterThan(0);
        for (const chunk of chunks) {
          const body = bodyOf(chunk);
          expect(() => checkContent({ ...body }, "post")).not.toThrow();
          expect(() => checkContent({ ...body }, "update")).not.toThrow();
          expect(JSON.stringify(body).length).toBeLessThan(13_000);
          expect(body.text.trim()).not.toBe("");
          expect(chunk.plain.trim()).not.toBe("");
          expect(body.text).not.toMatch(/[<>]/);
        }
      }),
      { numRuns: 200 },
    );
  });

  it("keeps every letter of code", () => {
    fc.assert(
      fc.property(fc.array(text, { maxLength: 4 }), (codes) => {
        const chunks = one({ kind: "text", text: "title" }, ...codes.map((code): Block => ({ kind: "code", text: code })));
        expect(codeIn(chunks)).toBe(codes.join(""));
      }),
    );
  });

  it("puts code into a box that no letter can end", () => {
    const [chunk] = one({ kind: "code", text: "```\n<!channel> *x* </pre>" });
    expect(bodyOf(chunk).blocks).toEqual([
      {
        type: "rich_text",
        elements: [{ type: "rich_text_preformatted", elements: [{ type: "text", text: "```\n<!channel> *x* </pre>" }] }],
      },
    ]);
  });

  it("cuts long code into one box a message, each element within 3,000", () => {
    const chunks = one({ kind: "code", text: "0123456789\n".repeat(1_200) });
    expect(chunks.length).toBe(2);
    const lengths =
      JSON.stringify(chunks)
        .match(/"text":"[^"]*"/g)
        ?.map((found) => found.length) ?? [];
    expect(Math.max(...lengths)).toBeLessThan(3_100);
  });

  it("puts buttons at the end of the last message, and the file after it", () => {
    const approve: Button = { action: "approve", label: "Approve", style: "primary", value: "ap1" };
    const blocks: Block[] = [
      { kind: "buttons", buttons: [approve] },
      { kind: "code", text: "line\n".repeat(4_000) },
    ];
    const chunks = layout({ key: "k", lane: "approval", blocks, file: { name: "command.txt", blob: "b1" } });
    const types = chunks.map((chunk) => bodyOf(chunk).blocks.map((each) => each.type));
    expect(types).toEqual([["rich_text"], ["rich_text"], ["rich_text", "actions"], ["rich_text"]]);
    expect(chunks.map((chunk) => chunk.file?.name)).toEqual([undefined, undefined, undefined, "command.txt"]);
    expect(bodyOf(chunks[2]).blocks.at(-1)).toEqual({
      type: "actions",
      elements: [
        {
          type: "button",
          action_id: "approve",
          text: { type: "plain_text", text: "Approve", emoji: false },
          value: "ap1",
          style: "primary",
        },
      ],
    });
  });

  it("splits a long answer with its code block closed and opened again", () => {
    const chunks = one({ kind: "markdown", text: `Look:\n\n\`\`\`ts\n${"let a = 1\n".repeat(2_000)}\`\`\`\n` });
    const texts = chunks.map((chunk) => (bodyOf(chunk).blocks[0] as { text: string }).text);
    expect(texts.length).toBeGreaterThan(1);
    for (const each of texts) expect(each.match(/^```/gm)?.length).toBe(2);
    for (const each of texts.slice(1)) expect(each.startsWith("```ts\n")).toBe(true);
  });

  it("calls nobody from Markdown", () => {
    const [chunk] = one({ kind: "markdown", text: "Hi <!channel>, <@U1>, <#C1>, <!here>; <!DOCTYPE html> and <b> stay" });
    const { text: shown } = bodyOf(chunk).blocks[0] as { text: string };
    expect(shown).not.toMatch(/<[!@#](?!DOCTYPE)/);
    expect(shown).toContain("<!DOCTYPE html> and <b> stay");
  });

  it("says so when there is nothing to show", () => {
    expect(one()[0]?.plain).toBe("(nothing to show)");
    expect(one({ kind: "text", text: " \n" })[0]?.plain).toBe("(nothing to show)");
  });

  it("keeps the whole words of a message as its plain form", () => {
    const [chunk] = one({ kind: "text", text: "$ ls" }, { kind: "code", text: "a && b\n" }, { kind: "note", text: "exit 0" });
    expect(chunk?.plain).toBe("$ ls\na && b\n\nexit 0");
    expect(bodyOf(chunk).text).toBe("$ ls\na &amp;&amp; b\n\nexit 0");
  });
});
