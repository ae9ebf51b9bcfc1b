import { deckhand } from "../cli/kit.ts";
import type { RunResult } from "../../src/core/sandbox.ts";
import type { TestWorkspace } from "./workspace.ts";

/** What `deckhand sandbox` tells, in the words of a run's result. */
export type Told = Pick<RunResult, "how" | "exit" | "output" | "why" | "noticed"> & { code: number | null; badge: string };

/** `deckhand sandbox -- COMMAND` in a process of its own. Throws when it prints anything but its one line. */
export function commandLine(place: TestWorkspace): (command: string, options?: { grants?: string[] }) => Promise<Told> {
  return async (command, { grants = [] } = {}) => {
    const words = ["sandbox", "--workspace", place.path, ...grants.flatMap((grant) => ["--grant", grant]), "--", command];
    const { code, stdout, stderr } = await deckhand(words, { env: { DECKHAND_STATE: place.stateDir } });
    const lines = stdout.split("\n");
    if (lines.length !== 2 || lines[1] !== "" || stderr !== "") throw new Error(`it said:\n${stdout}${stderr}`);
    const told = JSON.parse(lines[0] as string) as {
      status: RunResult["how"];
      exit: number | null;
      output: string;
      bytes: number;
      sandbox: string;
    };
    const { status, output, bytes, sandbox, ...rest } = told;
    return { ...rest, how: status, output: { text: output, bytes, omitted: 0 }, code, badge: sandbox };
  };
}
