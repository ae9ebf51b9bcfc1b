import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { addressed, decode, encode, encodeShort, mentioned } from "../../../src/chat/slack/text.ts";

const names = new Map([
  ["U1", "Ada"],
  ["UBOT", "deckhand"],
]);
const read = (text: string): string => decode(text, { botUserId: "UBOT", names });

describe("decoding Slack's text", () => {
  it.each([
    ["leaves plain words alone", "list the files", "list the files"],
    ["undoes the three entities", "a &amp;&amp; b &gt; c &lt; d", "a && b > c < d"],
    ["undoes an entity only once", "&amp;lt;b&amp;gt;", "&lt;b&gt;"],
    ["makes no token of escaped brackets", "a &lt;b&gt; &lt;@U1&gt;", "a <b> <@U1>"],
    ["strips the bot's own mention at the start", "<@UBOT> list the files", "list the files"],
    ["strips it with a colon, and twice", "<@UBOT>: <@UBOT|deckhand>, go", "go"],
    ["keeps the bot's name in the middle", "ask <@UBOT> to go", "ask @deckhand to go"],
    ["names other people", "<@U1> and <@U2|bob> and <@U3>", "@Ada and @bob and @U3"],
    ["names channels", "<#C1|general> <#C2> <#C3|>", "#general #C2 #C3"],
    ["names groups and everybody", "<!here> <!channel|channel> <!subteam^S1|@team> <!subteam^S2>", "@here @channel @team @S2"],
    ["gives a date its words", "<!date^1392734382^{date}|Feb 18>", "Feb 18"],
    ["gives a bare link its address", "see <https://x.example/a?b=1&amp;c=2>", "see https://x.example/a?b=1&c=2"],
    ["gives a typed address back as typed", "curl <http://x.example/a|x.example/a>", "curl x.example/a"],
    ["keeps both parts of a named link", "<https://x.example|the page>", "the page (https://x.example)"],
    ["gives a mail address back", "<mailto:a@x.example|a@x.example>", "a@x.example"],
    [
      "keeps code exact",
      'run ```\nif (a &lt; b &amp;&amp; c &gt; d) { x = "\'`" }\n```',
      'run ```\nif (a < b && c > d) { x = "\'`" }\n```',
    ],
    ["keeps a heredoc in code exact", "`cat &lt;&lt;EOF &gt; f`", "`cat <<EOF > f`"],
    ["leaves an empty token alone", "a <> b", "a <> b"],
    ["keeps Chinese", "<@UBOT> 列出文件", "列出文件"],
  ])("%s", (_, text, words) => {
    expect(read(text)).toBe(words);
  });

  it("gives any text back that was escaped", () => {
    fc.assert(
      fc.property(fc.string({ unit: "binary" }), (text) => {
        expect(read(encode(text))).toBe(text);
      }),
    );
  });

  it("gives any text of brackets and entities back", () => {
    const unit = fc.constantFrom("<", ">", "&", "amp;", "lt;", "@U1", "!here", "|", "`", "<@UBOT>", " ", "\n", "é");
    fc.assert(
      fc.property(fc.array(unit), (parts) => {
        expect(read(encode(parts.join("")))).toBe(parts.join(""));
      }),
    );
  });
});

describe("encoding for Slack", () => {
  it("leaves no bracket that could be a token", () => {
    fc.assert(fc.property(fc.string(), (text) => !/[<>]/.test(encode(text))));
  });

  it("cuts without breaking an entity or a letter", () => {
    fc.assert(
      fc.property(fc.array(fc.constantFrom("&", "<", "a", "😀", "汉")), fc.integer({ min: 20, max: 60 }), (parts, max) => {
        const short = encodeShort(parts.join(""), max);
        expect(short.length).toBeLessThanOrEqual(max);
        expect(short.replace(/&(?:amp|lt|gt);/g, "")).not.toContain("&");
        expect(short.isWellFormed()).toBe(true);
      }),
    );
  });
});

describe("mentions in a raw text", () => {
  it("finds everybody who is mentioned", () => {
    expect(mentioned("<@U1> &lt;@U9&gt; <@W2|x> <#C1>")).toEqual(["U1", "W2"]);
  });

  it("knows whom the first word addresses", () => {
    expect(addressed(" <@U1|ada> look")).toBe("U1");
    expect(addressed("look <@U1>")).toBeNull();
  });
});
