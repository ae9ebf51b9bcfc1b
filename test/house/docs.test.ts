import { existsSync, readFileSync, statSync } from "node:fs";
import { join } from "node:path";
import { parseEnv } from "node:util";
import { describe, expect, test } from "vitest";
import { envExample, fillReadme } from "../../script/docs.ts";
import { COMMAND_NAMES } from "../../src/cli/cli.ts";
import { readConfig, SETTINGS } from "../../src/config.ts";
import { ERRORS } from "../../src/core/errors.ts";
import { ROOT } from "./tree.ts";

const MARKED = "before\n<!-- settings -->\nstale rows\n<!-- /settings -->\nmiddle\n<!-- errors -->\n<!-- /errors -->\nafter\n";

describe("README.md", () => {
  const readme = (): string => readFileSync(join(ROOT, "README.md"), "utf8");

  test("has the tables of settings and error codes that script/docs writes", () => {
    expect(fillReadme(readme())).toBe(readme());
  });

  test("names only scripts and commands that exist", () => {
    const lines = commandLines(readme());
    expect(lines.length).toBeGreaterThan(0);
    expect(lines.filter((line) => !exists(line))).toEqual([]);
  });
});

describe("script/docs", () => {
  test("writes every setting and every code between the markers and leaves the rest alone", () => {
    const filled = fillReadme(MARKED);
    for (const name of [...SETTINGS.map((s) => s.name), ...Object.keys(ERRORS)]) expect(filled).toContain(`| \`${name}\` |`);
    expect(filled).not.toContain("stale rows");
    expect(filled.split("\n").filter((line) => /^(before|middle|after)$/.test(line))).toEqual(["before", "middle", "after"]);
    expect(fillReadme(filled)).toBe(filled);
  });

  test("says which marker is missing", () => {
    expect(() => fillReadme("<!-- settings -->")).toThrow("<!-- /settings -->");
  });
});

describe(".env.example", () => {
  test("is what script/docs writes", () => {
    expect(readFileSync(join(ROOT, ".env.example"), "utf8")).toBe(envExample());
  });

  test("gives a right configuration when every line with a default is uncommented", async () => {
    const env = parseEnv(envExample().replace(/^#(?=[A-Z_]+=.)/gm, ""));
    expect(env).toMatchObject({ OPENAI_MODEL: "gpt-5", DECKHAND_LOCK_MS: "10000" });
    const nothingSet = await readConfig({}, () => null);
    expect(await readConfig(env, () => "")).toEqual(nothingSet);
  });
});

/** Lines of the fenced `sh` blocks that start one of our programs, without the environment before it. */
function commandLines(markdown: string): string[] {
  return [...markdown.matchAll(/^```sh\n(.*?)^```/gms)]
    .flatMap(([, block]) => (block ?? "").split("\n"))
    .map((line) => line.replace(/^\s*(?:\$ )?(?:[A-Z_]+=\S* )*/, ""))
    .filter((line) => /^(script|bin)\//.test(line));
}

function exists(line: string): boolean {
  const [program = "", command = "--help"] = line.split(/\s+/);
  const file = join(ROOT, program);
  if (!existsSync(file) || (statSync(file).mode & 0o111) === 0) return false;
  return program !== "bin/deckhand" || command.startsWith("-") || COMMAND_NAMES.includes(command);
}
