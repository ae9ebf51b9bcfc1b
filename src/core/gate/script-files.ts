import { readLine } from "../gate.ts";
import type { Place } from "../ports.ts";
import { normalise, within } from "./paths.ts";

/** Programs whose first plain word is a file of code. */
const RUNNERS = /^(?:\.|source|exec|(?:ba|da|z|k)?sh|python[\d.]*|node|nodejs|deno|bun|tsx|ruby|perl|php|lua|Rscript|tclsh|osascript)$/;
/** What comes between such a program and the file. */
const VERBS = new Set(["run", "--"]);
const MOST_FILES = 16;

/**
 * Files of the workspace that a line runs as code, absolute: an approval holds for their content, too. Where the line
 * leaves the folder first, both readings of a name are taken; a file that is not there does no harm.
 */
export function scriptFiles(command: string, place: Place): string[] {
  const words = new Set<string>();
  const folders = new Set([place.cwd]);
  for (const { argv } of readLine(command, place).lowered) {
    const [first, ...rest] = argv.map((arg) => (arg.literal ? arg.value : ""));
    if (first === undefined || first === "") continue;
    if (first === "cd" && rest[0]) folders.add(normalise(place.cwd, rest[0]));
    if (first.includes("/")) words.add(first);
    const runner = RUNNERS.test(first.slice(first.lastIndexOf("/") + 1)) && !rest.some((word) => /^-\w*[ce]$/.test(word));
    const file = runner && rest.find((word) => !word.startsWith("-") && !VERBS.has(word));
    if (file) words.add(file);
  }
  const paths = [...folders].flatMap((folder) => [...words].map((word) => normalise(folder, word)));
  return [...new Set(paths)].filter((path) => within(path, place.workspace)).slice(0, MOST_FILES);
}
