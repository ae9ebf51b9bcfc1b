import { readFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { bash, conversationScript, say } from "../../src/model/script.ts";
import { type ScriptedModel, startScriptedModel } from "../../src/model/scripted.ts";
import { noise, TOKENS } from "../support/secrets.ts";
import { makeWorkspace, type TestWorkspace } from "../support/workspace.ts";
import { deckhand, entriesIn } from "./kit.ts";

const KEY = `local-key-${noise(20)}`;
const OTHER = `${noise(18, 3)}/other`;
const TOKEN = TOKENS[12]?.[1] ?? "";
const COMMAND = `echo '${TOKEN} ${KEY} ${OTHER}' | tee made`;
let place: TestWorkspace;
let model: ScriptedModel;

beforeAll(async () => {
  place = makeWorkspace();
  model = await startScriptedModel(
    conversationScript([
      {
        when: /write it/,
        steps: [() => bash(COMMAND, `I write ${TOKEN}.`), ({ lastResult }) => say(`Result: ${lastResult}, not ${KEY}`)],
      },
    ]),
  );
});

afterAll(async () => {
  await model.close();
  place.cleanup();
});

describe.each([[[]], [["--json"]]])("deckhand run %j", (flags) => {
  test("shows no secret and gives the model none, and runs the command with every byte of it", async () => {
    const env = {
      OPENAI_BASE_URL: model.baseUrl,
      OPENAI_MODEL: "scripted",
      OPENAI_API_KEY: KEY,
      OTHER_PROGRAMS_TOKEN: OTHER,
      DECKHAND_STATE: place.stateDir,
    };
    model.requests.length = 0;
    const args = ["run", "--workspace", place.path, ...flags, "--approve", "auto", `write it: ${TOKEN} ${OTHER}`];
    const { code, stdout, stderr } = await deckhand(args, { env });
    expect({ code, stderr }).toEqual({ code: 0, stderr: "" });
    expect(readFileSync(join(place.path, "made"), "utf8")).toBe(`${TOKEN} ${KEY} ${OTHER}\n`);
    expect(stdout).toContain("Result: [secret] [secret] [secret], not [secret]");
    const asked = JSON.stringify(model.requests.map(({ body }) => body));
    expect(asked).toContain("write it: [secret] [secret]");
    for (const secret of [TOKEN, KEY, OTHER]) {
      expect(stdout).not.toContain(secret.slice(4));
      expect(asked).not.toContain(secret.slice(4));
    }
    if (flags.length > 0)
      expect(entriesIn(stdout).at(-1)).toMatchObject({ type: "final", text: expect.stringContaining("[secret]") as string });
  });
});
