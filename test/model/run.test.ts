import { afterAll, beforeAll, expect, test, vi } from "vitest";
import { deckhand, entriesIn } from "../cli/kit.ts";
import { makeWorkspace, type TestWorkspace } from "../support/workspace.ts";
import { answerOf, type Scenario, scenarios } from "./compare/scenario.ts";
import { type Answer, delta, finish, startFaultServer } from "./fault-server.ts";

// Whole programs, on machines with few cores.
vi.setConfig({ maxConcurrency: 2 });

let place: TestWorkspace;
beforeAll(() => {
  place = makeWorkspace();
});
afterAll(() => place.cleanup());

const DONE: Answer = { frames: [delta({ content: "done" }), finish("stop"), "[DONE]"] };

/** For these the conversation may be shortened, where there is something to shorten. */
const TOO_LONG = /context size|token count exceeds/;

/** Errors that another try may mend. */
const PASSING = /^stream cut|^SyntaxError|^APIError/;

test.concurrent.for(scenarios)("`deckhand run` runs of scenario $name what was asked for and nothing else, and ends", async (scenario) => {
  const server = await startFaultServer();
  let asked = 0;
  // The model's first answer is the scenario's; all others say that it is done.
  server.next = (request) => (request.startsWith("GET") ? { status: 404, body: "{}" } : asked++ === 0 ? answerOf(scenario) : DONE);
  const env = { OPENAI_BASE_URL: server.url, OPENAI_MODEL: "m", DECKHAND_STATE: place.stateDir, DECKHAND_SANDBOX: "none" };
  const { code, stdout, stderr } = await deckhand(["run", "--json", "--approve", "auto", "--workspace", place.path, "list the files"], {
    env,
  });
  await server.close();

  const entries = entriesIn(stdout);
  const started = entries.filter(({ type }) => type === "run-started").map(({ command }) => command);
  // Those that only read run side by side, in any order.
  expect(new Set(started)).toEqual(new Set(commandsOf(scenario)));
  expect(started).toHaveLength(commandsOf(scenario).length);
  const last = entries.at(-1);
  const { error = "", stop } = scenario.expect;
  const refused = error !== "" && !PASSING.test(error);
  if (TOO_LONG.test(error) && last?.type === "final") return;
  expect([last?.type, code]).toEqual(
    refused || stop === "filtered" ? [expect.stringMatching(/failed|final/), expect.any(Number)] : ["final", 0],
  );
  if (refused) expect(last).toMatchObject({ type: "failed", code: expect.stringMatching(/^MODEL_/) as string });
  else if (stop === "stop") expect(last).toMatchObject({ text: scenario.expect.text });
  else if (stop !== "filtered") expect(last).toMatchObject({ text: "done" });
  expect(stdout + stderr).not.toMatch(/\[object|at .*\.ts:\d/);
});

/** What may run: whole calls with a command, never those of a message that was cut. */
function commandsOf({ expect: { stop, calls = [] } }: Scenario): string[] {
  return stop === "tools"
    ? calls.flatMap(({ args }) => ("command" in (args ?? {}) ? [String(Reflect.get(args ?? {}, "command"))] : []))
    : [];
}
