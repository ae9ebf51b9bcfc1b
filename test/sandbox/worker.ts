import { bwrapSandbox } from "../../src/sandbox/bwrap.ts";
import { shellIn } from "../support/workspace.ts";

/** A worker to be killed: runs one command and says when its output begins. */
const [stateDir, workspace, command] = process.argv.slice(2) as [string, string, string];
await shellIn(bwrapSandbox({ stateDir, runAs: null }), workspace)(command, { onChunk: () => process.send?.("begun") });
