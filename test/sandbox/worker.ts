import { bwrapSandbox } from "../../src/sandbox/bwrap.ts";
import { shellIn } from "../support/workspace.ts";

/** A worker of its own, to be started oddly or killed: runs one command, says when its output begins, prints it. */
const [stateDir, workspace, command] = process.argv.slice(2) as [string, string, string];
const sandbox = bwrapSandbox({ stateDir, runAs: null });
const { output } = await shellIn(sandbox, workspace)(command, { onChunk: () => process.send?.("begun") });
console.log(output.text);
await sandbox.close();
