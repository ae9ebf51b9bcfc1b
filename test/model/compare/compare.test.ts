import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { compare, counts } from "../../../script/model-report.ts";

const document = readFileSync(join(import.meta.dirname, "../../../docs/models.md"), "utf8");

test("of the clients that play the scenarios, ours alone is always right, and docs/models.md tells how often the others are", async () => {
  const rows = await compare();
  expect(rows.filter(({ wrong }) => wrong[0] !== null)).toEqual([]);
  for (const other of [1, 2]) expect(rows.filter(({ wrong }) => wrong[other] !== null)).not.toEqual([]);
  for (const count of counts(rows)) expect(document).toContain(`- ${count}\n`);
  for (const { scenario } of rows) expect(document).toContain(`| ${scenario} |`);
}, 60_000);
