import { spawn } from "node:child_process";
import { once } from "node:events";
import { join } from "node:path";
import { delta, type FaultServer, finish, startFaultServer } from "../model/fault-server.ts";
import { makeWorkspace } from "../support/workspace.ts";
import { type Bench, type Figure, inTurn, median, sized, spread, timed } from "./figure.ts";

const DECKHAND = join(import.meta.dirname, "../../bin/deckhand");

export const runStart: Bench = {
  name: "run-start",
  what: "`deckhand run`, from the start of the process to its first request at the model, compiled before; with an empty Node for comparison",
  rounds: 1,
  run: async () => {
    const server = await startFaultServer();
    const place = makeWorkspace();
    const env = { OPENAI_BASE_URL: server.url, OPENAI_MODEL: "m", DECKHAND_STATE: place.stateDir, DECKHAND_ENV_FILE: "", HOME: "/" };
    const start = () => firstRequest(server, ["run", "--workspace", place.path, "hello"], { ...env, PATH: process.env["PATH"] });
    const cases = { ours: start, node: () => timed(() => once(spawn(process.execPath, ["-e", "0"]), "close")) };
    await inTurn(2, cases);
    const { ours, node } = await inTurn(sized(21, 2), cases);
    await server.close();
    place.cleanup();
    const detail = `${spread(ours, "", 0)} ms; an empty Node ${spread(node, "", 0)} ms`;
    const figure: Figure = { what: "first request", value: median(ours), unit: " ms", goal: { at: "most", value: 400 }, detail };
    return [figure];
  },
};

/** Milliseconds until the request is there; then it is answered, and the program ends by itself. */
async function firstRequest(server: FaultServer, args: string[], env: Record<string, string | undefined>): Promise<number> {
  const asked = Promise.withResolvers<number>();
  server.next = (request) => {
    if (request.startsWith("GET")) return { status: 404, body: "{}" };
    asked.resolve(performance.now());
    return { frames: [delta({ content: "hello" }), finish("stop"), "[DONE]"] };
  };
  const begun = performance.now();
  const child = spawn(DECKHAND, args, { env, stdio: "ignore" });
  const ended = once(child, "close");
  const at = await Promise.race([asked.promise, ended.then(() => Number.NaN)]);
  await ended;
  return at - begun;
}
