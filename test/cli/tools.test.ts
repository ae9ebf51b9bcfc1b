import { cpSync, mkdirSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { conversationScript, say } from "../../src/model/script.ts";
import { type ScriptedModel, startScriptedModel } from "../../src/model/scripted.ts";
import { type TestWorkspace, makeWorkspace } from "../support/workspace.ts";
import { ROOT, entriesIn, start } from "./kit.ts";

/** A whole second tool: counts the lines of a file, which only reads, and of all files only when somebody approves. */
const COUNT_LINES = `
import type { Tool } from "../core/ports.ts";

export const tool: Tool = {
  spec: {
    name: "count_lines",
    description: "Counts the lines of a file.",
    parameters: { type: "object", properties: { file: { type: "string" } }, required: ["file"] },
  },
  check: ({ file }) =>
    typeof file === "string" ? { act: { title: "count the lines of " + file, timeoutMs: 5000 } } : { problem: "file must be a string." },
  judge: (act) => ({ verdict: act.title.endsWith("*") ? "ask" : "auto", reasons: [], rule: "count-lines" }),
  run: (act, at, options) =>
    at.sandbox.run(
      { conversation: at.conversation, workspace: at.workspace, cwd: at.cwd, command: "wc -l < " + act.title.split(" ").at(-1), timeoutMs: 5000 },
      options,
    ),
};
`;

let place: TestWorkspace;
let model: ScriptedModel;
let env: Record<string, string>;

beforeAll(async () => {
  place = makeWorkspace();
  writeFileSync(join(place.path, "three.txt"), "a\nb\nc\n");
  const count = (file: unknown) => () => ({ calls: [{ name: "count_lines", args: { file } }] });
  model = await startScriptedModel(
    conversationScript([
      { when: /one/, steps: [count("three.txt"), ({ lastResult }) => say(`Result: ${lastResult}`)] },
      { when: /all/, steps: [count("*"), ({ lastResult }) => say(`Result: ${lastResult}`)] },
      { when: /wrong/, steps: [count(7), ({ lastResult }) => say(`Result: ${lastResult}`)] },
    ]),
  );
  env = { OPENAI_BASE_URL: model.baseUrl, OPENAI_MODEL: "scripted", DECKHAND_STATE: place.stateDir };
});

afterAll(async () => {
  await model.close();
  place.cleanup();
});

/** Runs a task with Deckhand as it is but for more files among its tools. */
async function run(task: string, name: string, tools: Record<string, string>) {
  const root = join(place.root, name);
  mkdirSync(root);
  for (const part of ["src", "bin"]) cpSync(join(ROOT, part), join(root, part), { recursive: true });
  symlinkSync(join(ROOT, "node_modules"), join(root, "node_modules"));
  for (const [file, text] of Object.entries(tools)) writeFileSync(join(root, "src/tools", file), text);
  const words = ["run", "--workspace", place.path, "--json", "--approve", "never", task];
  const running = start([join(root, "bin/deckhand"), ...words], { env });
  running.end();
  return await running.ended;
}

test("a tool that is one more file is offered, judged, run and answered, with no other change", async () => {
  const { code, stdout, stderr } = await run("one", "good", { "count-lines.ts": COUNT_LINES });
  const entries = entriesIn(stdout);
  expect(model.requests.at(-1)?.body.tools.map((each) => each.function.name)).toEqual(["bash", "count_lines"]);
  expect(entries.find((e) => e.type === "judged")).toMatchObject({
    verdict: "auto",
    rule: "count-lines",
    title: "count the lines of three.txt",
  });
  expect(entries.find((e) => e.type === "run-ended")).toMatchObject({ how: "exited", exit: 0, output: { text: "3\n" } });
  expect(entries.at(-1)).toMatchObject({ type: "final", text: expect.stringMatching(/^Result: 3\b/) as string });
  expect({ code, stderr }).toEqual({ code: 0, stderr: "" });
});

test("what it asks for waits for a person like any command", async () => {
  const { stdout } = await run("all", "asks", { "count-lines.ts": COUNT_LINES });
  const types = entriesIn(stdout).map((e) => e.type);
  expect(types).toEqual(expect.arrayContaining(["approval-asked", "approval-decided"]));
  expect(types).not.toContain("run-started");
});

test("arguments that it cannot use go back to the model", async () => {
  const { stdout } = await run("wrong", "wrong", { "count-lines.ts": COUNT_LINES });
  expect(entriesIn(stdout).at(-1)).toMatchObject({ text: "Result: Not run: file must be a string." });
});

test.each([
  ["syntax", "export const tool = {;", /broken\.ts: /],
  ["import", 'import "./nowhere.ts";\nexport const tool = {};', /broken\.ts: Cannot find module/],
  ["throws", 'throw new Error("I am tired");', /broken\.ts: I am tired/],
  ["no-export", "export const other = 1;", /broken\.ts: it does not export `tool`/],
  ["no-name", "export const tool = { spec: {} };", /broken\.ts: its spec\.name must be 1 to 64 letters/],
  ["no-run", 'export const tool = { spec: { name: "x" }, check() {} };', /broken\.ts: it lacks the function judge, run/],
  ["twice", 'export { tool } from "./bash.ts";', /broken\.ts: there is already a tool "bash"/],
])("a broken tool (%s) ends the start with 3 and a line that names the file", async (name, text, line) => {
  const { code, stdout, stderr } = await run("one", `broken-${name}`, { "broken.ts": text });
  expect(stderr).toMatch(line);
  expect(stderr).toMatch(/^A tool cannot be used: [^\n]*\(TOOL_BROKEN\)\n$/);
  expect({ code, stdout }).toEqual({ code: 3, stdout: "" });
});
