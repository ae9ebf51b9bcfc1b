import fc from "fast-check";
import { expect, test } from "vitest";
import { parseArguments } from "../../src/model/json.ts";
import { bodyReader, type Item } from "../../src/model/sse.ts";

function itemsOf(pieces: Uint8Array[], heard = 0): Item[] {
  const reader = bodyReader({ heard: () => heard, spoil() {} });
  return [...pieces.flatMap((piece) => [...reader.push(piece)]), ...reader.end()];
}

const bytes = (text: string) => new TextEncoder().encode(text);
const value = (of: unknown): Item => ({ done: false, value: of });

const event = fc.record({ text: fc.string({ unit: "grapheme" }), end: fc.constantFrom("\n", "\r\n", "\r") });
const noise = fc.constantFrom(": ping", "data:", "data: : OPENROUTER PROCESSING", "event: ping", "id: 7", "retry: 10", "data: keep-alive");

test("however the bytes are cut, the events are the same, and noise is none", () => {
  fc.assert(
    fc.property(fc.array(fc.tuple(event, noise)), fc.array(fc.nat(400)), (events, cuts) => {
      const body = events.map(([{ text, end }, other]) => `data: ${JSON.stringify({ text })}${end}${end}${other}${end}${end}`).join("");
      const whole = bytes(`: hello\n\n${body}data: [DONE] \n\n`);
      const edges = [0, ...cuts.filter((cut) => cut < whole.length).sort((a, b) => a - b), whole.length];
      const pieces = edges.slice(1).map((edge, at) => whole.slice(edges[at], edge));
      expect(itemsOf(pieces)).toEqual([...events.map(([{ text }]) => value({ text })), { done: true }]);
    }),
  );
});

test("a long string that says again what was heard is left out, wherever it is cut; all around it stays", () => {
  const unit = fc.string({ unit: fc.constantFrom("\\", '"', "\n", "\u0001", "a", "é", "😀"), minLength: 1, maxLength: 5 });
  const type = fc.constantFrom("response.output_text.done", "response.completed", "response.output_text.delta", "chat.completion.chunk");
  fc.assert(
    fc.property(
      unit,
      type,
      fc.constantFrom("text", "delta", "arguments"),
      fc.integer({ min: 1_000, max: 70_000 }),
      (some, named, name, size) => {
        const long = some.repeat(Math.ceil(500_000 / some.length));
        const told = { type: named, a: '\\"', [name]: long, b: some };
        const body = bytes(`data: ${JSON.stringify(told)}\n\ndata: {"c":1}\n\n`);
        const pieces = Array.from({ length: Math.ceil(body.length / size) }, (_, at) => body.subarray(at * size, (at + 1) * size));
        const again = /done|completed/.test(named) && name !== "delta";
        const left = again ? { ...told, [name]: `\0${long.length}` } : told;
        expect(itemsOf(pieces, 500_000)).toEqual([value(left), value({ c: 1 })]);
        expect(itemsOf(pieces)).toEqual([value(told), value({ c: 1 })]);
      },
    ),
    { numRuns: 15 },
  );
});

test.each<[string, string, Item[]]>([
  ["a JSON text over several data lines", 'data: {\ndata: "a": 1}\n\n', [value({ a: 1 })]],
  ["events that only a line end parts", 'data: {"a":1}\ndata: {"a":2}\n\n', [value({ a: 1 }), value({ a: 2 })]],
  ["a last event without its blank line", 'data: {"a":1}\n\ndata: [DONE]', [value({ a: 1 }), { done: true }]],
  ["a last event that is only half there", 'data: {"a":1}\n\ndata: {"a', [value({ a: 1 })]],
  ["a byte order mark", '\ufeffdata: {"a":1}\n\n', [value({ a: 1 })]],
  ["JSON lines", '{"a":1}\n\n{"a":2}\n', [value({ a: 1 }), value({ a: 2 })]],
  ["a JSON document over several lines", '{\n  "a": 1\n}\n', [value({ a: 1 }), { done: true }]],
])("%s is read", (_, body, items) => {
  expect(itemsOf([bytes(body)])).toEqual(items);
});

test("an event whose JSON is broken ends the reading", () => {
  expect(() => itemsOf([bytes('data: {"a\n\ndata: {"b":1}\n\n')])).toThrow("MODEL_CUT");
});

const anyObject = fc
  .dictionary(fc.string({ minLength: 1 }), fc.jsonValue(), { minKeys: 1 })
  .map((each) => JSON.parse(JSON.stringify(each)) as Record<string, unknown>);

test("arguments that are one JSON object come back as it, also doubled, behind an empty one and as a string", () => {
  fc.assert(
    fc.property(anyObject, fc.nat(2), (object, indent) => {
      const text = JSON.stringify(object, null, indent);
      for (const raw of [text, text + text, `{} ${text}`, `${text}\n${text}{}`, JSON.stringify(text)]) {
        expect(parseArguments(raw)).toEqual(object);
      }
    }),
  );
});

test("no beginning of arguments and no two different objects count as arguments", () => {
  fc.assert(
    fc.property(anyObject, fc.nat(), (object, at) => {
      const text = JSON.stringify(object);
      expect(parseArguments(text.slice(0, 1 + (at % (text.length - 1))))).toBeNull();
      expect(parseArguments(`${text}${JSON.stringify({ ...object, more: { at } })}`)).toBeNull();
      expect(parseArguments(`${text}}`)).toBeNull();
      expect(parseArguments(`${text},`)).toBeNull();
    }),
  );
});
