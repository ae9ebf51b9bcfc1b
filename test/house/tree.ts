import { cpSync, mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { onTestFinished } from "vitest";

export const ROOT = join(import.meta.dirname, "../..");

/** A folder of its own for one test or file; `files` are path -> text. */
export function makeTree(files: Record<string, string>): { root: string; remove: () => void } {
  const root = mkdtempSync(join(tmpdir(), "deckhand-house-"));
  for (const [path, text] of Object.entries(files)) put(root, path, text);
  return { root, remove: () => rmSync(root, { recursive: true }) };
}

/** The same, gone when the running test ends. */
export function tree(files: Record<string, string>): string {
  const { root, remove } = makeTree(files);
  onTestFinished(remove);
  return root;
}

export function put(root: string, path: string, text: string): void {
  mkdirSync(dirname(join(root, path)), { recursive: true });
  writeFileSync(join(root, path), text);
}

/** A project as small as can be that `script/check` finds nothing wrong with, under our own rules. */
export function makeProject(): { root: string; remove: () => void } {
  const made = makeTree({
    ".gitignore": "node_modules\n",
    "package.json": `${JSON.stringify({ name: "small", private: true, type: "module" }, null, 2)}\n`,
    "src/main.ts": 'import { cli } from "./cli/cli.ts";\n\nprocess.exitCode = cli();\n',
    "src/cli/cli.ts": 'import { add } from "../core/add.ts";\n\nexport function cli(): number {\n  return add(1, -1);\n}\n',
    "src/core/add.ts": "export function add(a: number, b: number): number {\n  return a + b;\n}\n",
  });
  for (const file of [".oxlintrc.json", "biome.json", "knip.json", "tsconfig.json", "script/check"]) {
    cpSync(join(ROOT, file), join(made.root, file));
  }
  symlinkSync(join(ROOT, "node_modules"), join(made.root, "node_modules"));
  return made;
}
