import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { type DiscordBody, layout } from "../../../src/chat/discord/layout.ts";
import type { Block, Post } from "../../../src/core/post.ts";
import { readContent } from "../../../src/twin/discord/content.ts";
import { World } from "../../../src/twin/discord/state.ts";
import { post } from "./kit.ts";

const world = new World({ permissions: [], messageContent: true, maxActiveThreads: 1, cdnUrl: "" });

const bodies = (of: Post): DiscordBody[] => layout(of).map((chunk) => chunk.body as DiscordBody);
const contents = (...blocks: Block[]): string[] => bodies(post(blocks)).map(({ content }) => content);

const letter = fc.constantFrom(
  "a",
  " ",
  "\n",
  "`",
  "```",
  "~~~",
  "*",
  "**",
  "_",
  "\\",
  "|",
  "<",
  ">",
  "> ",
  ">>> ",
  "#",
  "- ",
  "[x](y)",
  "😀",
  "@everyone",
  "<@1>",
  "\n\n",
);
const text = fc.array(letter, { maxLength: 60 }).map((parts) => parts.join(""));
const long = fc.tuple(text, fc.integer({ min: 1, max: 120 })).map(([part, times]) => part.repeat(times));
const words = fc.oneof(text, long);
const block: fc.Arbitrary<Block> = fc.oneof(
  fc.record({ kind: fc.constantFrom("markdown" as const, "text" as const, "code" as const, "note" as const), text: words }),
  words.map((each) => ({ kind: "markdown" as const, text: each.replace(/^/gm, "> ") })),
);
const buttons: Block = { kind: "buttons", buttons: [{ action: "approve", label: "Approve", style: "primary", value: "x".repeat(80) }] };
const lane = fc.constantFrom("approval" as const, "output" as const);

const QUOTE = /^( *>>> ([\s\S]*))|^( *> [^\n]*(\n *> [^\n]*)*\n?)/;
const BOX = /^```(?:[\w+\-.#]+?\n)?\n*([^\n][^]*?)\n*```/;
const ESCAPE = /^\\[^0-9A-Za-z\s]/;
const SPANS = [
  /^(`+)([\s\S]*?[^`])\1(?!`)/,
  /^\*\*((?:\\[\s\S]|[^\\])+?)\*\*(?!\*)/,
  /^__((?:\\[\s\S]|[^\\])+?)__(?!_)/,
  /^~~([\s\S]+?)~~(?!_)/,
  /^\|\|([\s\S]+?)\|\|/,
  /^\*(?=\S)((?:\*\*|\s+(?:[^*\s]|\*\*)|[^\s*])+?)\*(?!\*)/,
  /^_((?:__|\\[\s\S]|[^\\_])+?)_(?!_)/,
];

/** The boxes that a reader of Discord's Markdown sees: quotes, code, emphasis and escapes as its clients take them. */
function boxesIn(content: string): string[] {
  const boxes: string[] = [];
  let rest = content;
  let isLineStart = true;
  while (rest !== "") {
    const quote: string | undefined = isLineStart ? QUOTE.exec(rest)?.[0] : undefined;
    const box = quote === undefined ? BOX.exec(rest) : null;
    if (box) boxes.push(box[1] ?? "");
    const span = [ESCAPE, ...SPANS].map((pattern) => pattern.exec(rest)?.[0]).find((found) => found !== undefined);
    const taken: string = quote ?? box?.[0] ?? span ?? rest.slice(0, 1);
    isLineStart = taken.endsWith("\n");
    rest = rest.slice(taken.length);
  }
  return boxes;
}

describe("a post", () => {
  it("of a command is one message: its box, then the small print", () => {
    expect(contents({ kind: "code", text: "$ ls\na.txt" }, { kind: "note", text: "exit 0 · 0.1 s" })).toEqual([
      "```\n$ ls\na.txt\n```\n-# exit 0 · 0.1 s",
    ]);
  });

  it("has plain words without any markup", () => {
    expect(contents({ kind: "text", text: "*a* _b_ `c` ~~d~~ ||e|| [f](g) <@1> \\h\n# i\n- j\n1. k\n> l" })).toEqual([
      "\\*a\\* \\_b\\_ \\`c\\` \\~\\~d\\~\\~ \\|\\|e\\|\\| \\[f\\](g) \\<@1\\> \\\\h\n\\# i\n\\- j\n1\\. k\n\\> l",
    ]);
  });

  it("has rows of buttons in their colours, with the last message, and the file too", () => {
    const card = post(
      [
        { kind: "text", text: "May I?" },
        { kind: "buttons", buttons: [{ action: "deny", label: "Deny", style: "danger", value: "a-1" }] },
      ],
      { file: { name: "command.sh", blob: "b" } },
    );
    expect(layout(card)).toEqual([
      {
        body: {
          content: "May I?",
          components: [{ type: 1, components: [{ type: 2, style: 4, label: "Deny", custom_id: "dh:deny:a-1" }] }],
        },
        plain: "May I?",
        file: { name: "command.sh", blob: "b" },
      },
    ]);
  });

  it("of nothing says so", () => {
    expect(contents()).toEqual(["(nothing to show)"]);
    expect(bodies(post([], { file: { name: "output.txt", blob: "b" } }))[0]?.content).toBe("output.txt: the whole of it");
  });

  it("keeps the language of a code block that has to be cut, and makes other fences Discord's", () => {
    const code = Array.from({ length: 150 }, (_, n) => `line number ${n}`).join("\n");
    const parts = contents({ kind: "markdown", text: `Look:\n~~~~ts\n${code}\n~~~~\ndone` });
    expect(parts).toHaveLength(2);
    for (const part of parts) expect(part.match(/```/g)).toHaveLength(2);
    expect(parts[1]).toMatch(/^```ts\n/);
  });

  it("closes a code block that the model left open: what is ours stands outside of it", () => {
    expect(contents({ kind: "markdown", text: "Look:\n```\ncode" }, { kind: "note", text: "cut" })).toEqual([
      "Look:\n```\ncode\n```\n-# cut",
    ]);
  });

  it("that would take many messages is its beginning, its end and a file with all of it", () => {
    const story = Array.from({ length: 900 }, (_, n) => `sentence number ${n}.`).join("\n\n");
    const whole = post([
      { kind: "markdown", text: story },
      { kind: "note", text: "cut" },
    ]);
    const [first, middle, last, ...rest] = bodies(whole);
    expect(rest).toEqual([]);
    expect(first?.content).toContain("sentence number 0.");
    expect(middle?.attached?.text).toBe(`${story}\ncut`);
    expect(last?.content).toContain("cut");
  });

  it("is the same for the same post, and always within what Discord takes", () => {
    fc.assert(
      fc.property(fc.array(block, { maxLength: 6 }), fc.boolean(), lane, (blocks, asks, where) => {
        const whole = post(asks ? [...blocks, buttons] : blocks, { lane: where });
        expect(layout(whole)).toEqual(layout(whole));
        for (const body of bodies(whole)) {
          const { attached, ...sent } = body;
          const shown = readContent({ ...sent, allowed_mentions: { parse: [] } }, { world, files: [] });
          expect(shown.content).not.toBe("");
          expect(attached === undefined || attached.text !== "").toBe(true);
        }
        if (asks) expect(bodies(whole).at(-1)?.components).toHaveLength(1);
      }),
      { numRuns: 300 },
    );
  });
});

describe("what stands in a box stays in it, and what stands outside cannot open one or reach into it", () => {
  it("whatever the model wrote before it and whatever the command printed", () => {
    fc.assert(
      fc.property(words, words, text, fc.boolean(), (said, printed, name, quoted) => {
        const code = printed.trim();
        fc.pre(code !== "");
        const blocks: Block[] = [
          { kind: "markdown", text: quoted ? said.replace(/^/gm, "> ") : said },
          { kind: "text", text: name },
          { kind: "code", text: code },
          { kind: "note", text: name },
        ];
        const messages = bodies(post(blocks, { lane: "approval" })).map(({ content }) => content);
        // The model may have boxes of its own, before ours.
        const seen = messages.flatMap(boxesIn).join("").replaceAll("\u200b", "");
        const bare = (each: string): string => each.replace(/\s/g, "");
        expect(bare(seen).slice(-bare(code).length)).toBe(bare(code));
      }),
      { numRuns: 500 },
    );
  });

  it("also when the box could be ended by what is printed", () => {
    const [content = ""] = contents({ kind: "code", text: "a\n```\n**not bold**\n`````" });
    expect(boxesIn(content).map((each) => each.replaceAll("\u200b", ""))).toEqual(["a\n```\n**not bold**\n`````"]);
  });
});
