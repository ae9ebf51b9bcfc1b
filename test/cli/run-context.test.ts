import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { bash, conversationScript, say } from "../../src/model/script.ts";
import { startScriptedModel } from "../../src/model/scripted.ts";
import { makeWorkspace } from "../support/workspace.ts";
import { deckhand, entriesIn } from "./kit.ts";

test("`deckhand run` tells the model what AGENTS.md says, and where the whole of a long output is, which it may search", async () => {
  const place = makeWorkspace();
  writeFileSync(join(place.path, "AGENTS.md"), "The key is plantedvalue-4711; use tabs.\n");
  const file = /the whole output: (\/tmp\/output-\w{9}\.txt)/;
  const model = await startScriptedModel(
    conversationScript([
      {
        when: /count/,
        steps: [
          () => bash("seq -f 'line %g plantedvalue-4711' 1 12000"),
          ({ lastResult }) => bash(`grep -n 'line 4321 ' ${file.exec(lastResult)?.[1] ?? "nowhere"}`),
          ({ lastResult }) => say(`Found: ${lastResult}`),
        ],
      },
    ]),
  );
  const env = {
    OPENAI_BASE_URL: model.baseUrl,
    OPENAI_MODEL: "scripted",
    OPENAI_API_KEY: "plantedvalue-4711",
    DECKHAND_STATE: place.stateDir,
  };
  const { code, stdout } = await deckhand(["run", "--json", "--approve", "never", "--workspace", place.path, "count them"], { env });
  await model.close();
  place.cleanup();

  const entries = entriesIn(stdout);
  expect(entries.map(({ type }) => type).slice(0, 4)).toEqual(["opened", "message", "brief", "model"]);
  expect(JSON.stringify(model.requests[0]?.body.messages[1])).toMatch(
    /AGENTS\.md of the repository.*> The key is \[secret\]; use tabs\..*you: count them/,
  );
  expect(entries.at(-1)).toMatchObject({ type: "final", text: "Found: 4321:line 4321 [secret]" });
  expect(stdout).not.toContain("plantedvalue-4711");
  expect(code).toBe(0);
});
