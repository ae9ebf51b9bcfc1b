import { createInterface } from "node:readline";
import type { RunSpec } from "../../src/core/sandbox.ts";
import { isPublic } from "../../src/sandbox/addresses.ts";
import { bwrapSandbox } from "../../src/sandbox/bwrap.ts";
import type { SandboxOptions } from "../../src/sandbox/options.ts";

/** What a worker behind a door is started with: options of the sandbox that can be written as JSON. */
export interface DoorOptions extends Pick<SandboxOptions, "stateDir" | "runAs" | "secrets" | "floodBytes"> {
  /** Names and their addresses, and addresses that count as public beside those that are. */
  network?: { names: Record<string, string[]>; open: string[] };
  /** Credentials of workspaces: path -> name -> variable and value. */
  credentials?: Record<string, Record<string, { env: string; value: string }>>;
}

/** One line in; each is answered by a line with its id, output as it comes by lines before that. */
export type Ask = { id: number } & (
  | { ask: "run"; spec: RunSpec }
  | { ask: "stop" }
  | { ask: "carried" | "dispose"; conversation: string; workspace: string }
);

/**
 * A worker of a test's own, started by whom the test chooses: it holds the real sandbox and does what it is asked on
 * standard input, until that ends.
 */
const { network, credentials = {}, ...options } = JSON.parse(process.argv[2] as string) as DoorOptions;
const sandbox = bwrapSandbox({
  ...options,
  extras: new Map(
    Object.entries(credentials).map(([path, named]) => {
      const each = Object.entries(named).map(([name, one]) => [name, { ...one, host: null }]);
      return [path, { read: [], network: [], credentials: Object.fromEntries(each) }];
    }),
  ),
  ...(network === undefined ? {} : { network: { lookup, isPublic: (at) => network.open.includes(at) || isPublic(at) } }),
});
const running = new Map<number, AbortController>();

async function lookup(host: string): Promise<string[]> {
  const found = network?.names[host];
  if (found === undefined) throw new Error(`no such name: ${host}`);
  return found;
}

async function answer(line: Ask): Promise<unknown> {
  switch (line.ask) {
    case "run": {
      const stop = new AbortController();
      running.set(line.id, stop);
      const { whole, ...result } = await sandbox.run(line.spec, { signal: stop.signal, onChunk: (chunk) => say({ id: line.id, chunk }) });
      return whole === undefined ? result : { ...result, wholeBytes: whole.length };
    }
    case "carried":
      return sandbox.carried(line.conversation, line.workspace);
    case "dispose":
      await sandbox.dispose(line.conversation);
      return null;
    case "stop":
      running.get(line.id)?.abort();
      return undefined;
  }
}

function say(words: object): void {
  process.stdout.write(`${JSON.stringify(words)}\n`);
}

const lines = createInterface({ input: process.stdin });
lines.on("line", (text) => {
  const line = JSON.parse(text) as Ask;
  const failed = (thrown: unknown): void => say({ id: line.id, error: String(thrown) });
  void answer(line).then((result) => {
    if (result !== undefined) say({ id: line.id, result });
  }, failed);
});
lines.on("close", () => void sandbox.close());
say({ id: 0, result: "up" });
