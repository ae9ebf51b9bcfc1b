import fc from "fast-check";
import { expect, it } from "vitest";
import { z } from "zod";
import { firstOf, flag, list, maybe, MISFIT, number, object, oneOf, text } from "../../src/core/shape.ts";

const OURS = object({
  id: text(/^\d+$/),
  kind: oneOf("a", "b"),
  size: maybe(number),
  seen: flag,
  parts: maybe(list(object({ name: text() }))),
  acts: firstOf(object({ id: text() })),
});

const ZODS = z.object({
  id: z.string().regex(/^\d+$/),
  kind: z.enum(["a", "b"]),
  size: z.number().nullish(),
  seen: z.boolean(),
  parts: z.array(z.object({ name: z.string() })).nullish(),
  acts: z.tuple([z.object({ id: z.string() })], z.unknown()).transform(([first]) => first),
});

/** Mostly what is looked for, now and then something else. */
function orElse<T>(usual: fc.Arbitrary<T>): fc.Arbitrary<unknown> {
  return fc.oneof({ weight: 12, arbitrary: usual }, { weight: 1, arbitrary: fc.jsonValue({ maxDepth: 1 }) });
}

const named = (name: string) => fc.record({ [name]: orElse(fc.string()), more: fc.jsonValue({ maxDepth: 1 }) }, { requiredKeys: [name] });

const sent = orElse(
  fc.record(
    {
      id: orElse(fc.nat().map(String)),
      kind: orElse(fc.constantFrom("a", "b")),
      size: orElse(fc.oneof(fc.double(), fc.constant(null))),
      seen: orElse(fc.boolean()),
      parts: orElse(fc.array(named("name"), { maxLength: 3 })),
      acts: orElse(fc.array(named("id"), { minLength: 1, maxLength: 3 })),
      other: fc.jsonValue({ maxDepth: 1 }),
    },
    { requiredKeys: ["id", "kind", "seen", "acts"] },
  ),
);

it("reads and refuses what zod does, and gives the same without what nobody asked for", () => {
  let read = 0;
  fc.assert(
    fc.property(sent, (value) => {
      const theirs = ZODS.safeParse(value);
      if (theirs.success) read += 1;
      expect(OURS(value)).toEqual(theirs.success ? theirs.data : MISFIT);
    }),
    { numRuns: 500 },
  );
  expect(read).toBeGreaterThan(50);
});
