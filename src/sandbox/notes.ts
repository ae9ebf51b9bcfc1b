import { lstatSync, realpathSync } from "node:fs";
import { join } from "node:path";
import { within } from "../core/gate/paths.ts";
import type { RunOptions, RunResult, RunSpec, Sandbox } from "../core/sandbox.ts";
import { LIMITS } from "../limits.ts";
import { quoted } from "./fingerprint.ts";

type Run = (spec: RunSpec, options: RunOptions) => Promise<RunResult>;

/** Remembers what it has read: while a file is as it was, nothing is started for it. */
export function notesReader(run: Run): Sandbox["notes"] {
  const known = new Map<string, { mark: string; text: Promise<string | null> }>();
  return async (workspace, file) => {
    const path = join(workspace, file);
    const mark = markOf(workspace, path);
    if (mark === null) return null;
    const last = known.get(path);
    if (last?.mark === mark) return await last.text;
    const text = read(run, workspace, file);
    known.set(path, { mark, text });
    const said = await text;
    // What could not be read is tried again.
    if (said === null) known.delete(path);
    return said;
  };
}

/** Changes when the file does; null when there is none in the workspace. */
function markOf(workspace: string, path: string): string | null {
  try {
    const real = realpathSync(path);
    const stat = lstatSync(real);
    if (!within(real, workspace) || !stat.isFile()) return null;
    return [real, stat.dev, stat.ino, stat.size, stat.mtimeMs, stat.ctimeMs].join(" ");
  } catch {
    return null; // It is not there, or nobody may know.
  }
}

async function read(run: Run, workspace: string, file: string): Promise<string | null> {
  // Between our look and this one it may have become something else: what counts is what it is in there.
  const most = LIMITS.notesRead;
  const command = `f=$(realpath -e -- ${quoted(file)}) && [[ -f $f && $f == "$PWD"/* ]] && head -c ${most} -- "$f"`;
  const spec: RunSpec = { conversation: "notes", workspace, cwd: workspace, command, timeoutMs: LIMITS.inspectTime, reach: "probe" };
  const { how, exit, output } = await run(spec, { signal: new AbortController().signal });
  if (how !== "exited" || exit !== 0) return null;
  // Where it is cut, half a secret may stand.
  return output.bytes < most ? output.text : output.text.slice(0, output.text.lastIndexOf("\n") + 1);
}
