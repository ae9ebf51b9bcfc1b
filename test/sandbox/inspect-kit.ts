import { Buffer } from "node:buffer";
import { mkdirSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { onTestFinished } from "vitest";
import { bwrapSandbox } from "../../src/sandbox/bwrap.ts";
import { INSPECT, type Inspection, readInspection } from "../../src/sandbox/inspect.ts";
import { makeWorkspace, shellIn, type TestWorkspace } from "../support/workspace.ts";

/** A workspace of one test's own. */
export interface Room {
  place: TestWorkspace;
  /** Puts so many empty files there, by their numbers. */
  fill(count: number, name: (n: number) => string): void;
  /** What an approved command, which must succeed, is said to have left. */
  told(command: string): Promise<string[]>;
  /** What a command that nobody approved prints; its exit code is not looked at. */
  contained(command: string): Promise<string>;
  run: ReturnType<typeof shellIn>;
  /** Looks into the workspace now. */
  look(script?: string): Promise<Inspection>;
}

export function room(): Room {
  const place = makeWorkspace();
  const sandbox = bwrapSandbox({ stateDir: place.stateDir, runAs: null });
  onTestFinished(async () => {
    await sandbox.close();
    place.cleanup();
  });
  const run = shellIn(sandbox, place.path);
  return {
    place,
    run,
    fill: (count, name) => {
      for (let n = 0; n < count; n += 1) {
        const file = join(place.path, name(n));
        mkdirSync(dirname(file), { recursive: true });
        writeFileSync(file, "");
      }
    },
    told: async (command) => {
      const { exit, output, why, noticed } = await run(command, { reach: "approved" });
      if (exit !== 0) throw new Error(`${command}: ${why ?? output.text}`);
      return noticed ?? [];
    },
    contained: async (command) => {
      const { output, why } = await run(command, { reach: "contained" });
      return why ?? output.text;
    },
    look: async (script = INSPECT) => {
      // The shape of a command's output is for people: bytes go through it in base64.
      const { output, whole } = await run(`{ ${script}\n} | /usr/bin/base64`, { reach: "read" });
      return readInspection(Buffer.from(whole === undefined ? output.text : new TextDecoder().decode(whole), "base64"));
    },
  };
}

/** A repository with one commit, without the samples of hooks. */
export const REPOSITORY = [
  "git init -q --template= . && mkdir .git/hooks",
  "git config user.name a && git config user.email a@example.com",
  "echo 1 >a && git add a && git commit -qm one",
].join(" && ");
