import type { Arg } from "./args.ts";
import { ask, askRead, deny, show, type Walk } from "./finding.ts";
import { isDevice, isGlobInside, isInside, normalise } from "./paths.ts";
import { isPrivate, mayBePrivate } from "./private.ts";
import { isRecipe, ranLater } from "./protected.ts";
import { isVital } from "./secrets.ts";

/** `paths` are read and shown, `names` only looked at, `writes` created, changed or replaced. */
export type Use = "paths" | "names" | "writes";

/** Judges one path that a command or the line itself opens. */
export function judgePath(arg: Arg, use: Use, walk: Walk): void {
  if (arg.value === "-" && use !== "writes") return;
  const note = use === "writes" ? ask : askRead;
  if (/^[a-z][a-z0-9+.-]*:\/\//i.test(arg.value) && arg.literal)
    return ask(walk, "network", `${show(arg.text)} is an address on the network`);
  if (arg.tilde) {
    outside(arg, use, walk, `${show(arg.text)} is or contains a home folder`);
    if (use === "writes") walk.seen.changes = true;
    return;
  }
  const device = walk.scope.cwds.every((cwd) => isDevice(normalise(cwd, arg.value)));
  if (use === "writes" && !device) walk.seen.changes = true;
  if (arg.kind === "free") {
    const does = use === "writes" ? "is written" : "is read";
    note(walk, "dynamic", `which file ${does} as ${show(arg.text)} cannot be read from the line`);
    return;
  }
  const inside = (cwd: string): boolean =>
    arg.glob < 0 ? isInside(walk.place, cwd, arg.value, walk.seen) : isGlobInside(walk.place, cwd, arg.value, arg.glob, walk.seen);
  if (!walk.scope.cwds.every(inside)) return outside(arg, use, walk, `${show(arg.text)} leads out of the workspace`);
  if (use === "paths" && (arg.glob < 0 ? isPrivate(arg.value) : mayBePrivate(arg.value))) {
    askRead(walk, "secrets", `${show(arg.text)} usually holds credentials, which would be posted to the thread`);
  }
  if (use === "writes") judgeWritten(arg, walk);
}

function judgeWritten(arg: Arg, walk: Walk): void {
  // A name out of a list may be any file below, also one that runs by itself later.
  if (arg.kind === "name" && /(?:^|\/)x$/.test(arg.value))
    ask(walk, "dynamic", `which files are written as ${show(arg.text)} cannot be read from the line`);
  for (const cwd of walk.scope.cwds) {
    const path = normalise(cwd, arg.value);
    const where = ranLater(path, normalise("/", walk.place.workspace), arg.glob >= 0);
    if (where !== null) {
      ask(walk, "later", `${show(arg.text)} ${where}`);
      return;
    }
    if (isRecipe(path)) walk.seen.recipes.add(arg.value);
    walk.seen.written.add(path);
  }
}

/** A file that gets its name from another one: `cp a/.envrc .` writes `.envrc`. */
export function judgePlaced(source: Arg, folder: Arg, walk: Walk): void {
  if (source.kind === "free" || folder.kind === "free") return;
  const name = source.value.replace(/\/+$/, "").replace(/^.*\//, "");
  judgeWritten(
    { ...folder, kind: "literal", literal: true, value: `${folder.value}/${name}`, glob: source.glob >= 0 ? 0 : -1, text: folder.text },
    walk,
  );
}

/** Asks about a path outside, with what the sandbox would have to open for it. */
function outside(arg: Arg, use: Use, walk: Walk, text: string): void {
  const absolute = arg.literal && arg.glob < 0 && !arg.tilde && walk.scope.cwds.length === 1;
  const path = normalise(walk.scope.cwds[0] ?? "/", arg.value);
  if (use === "writes" && arg.kind === "literal" && isVital(path))
    deny(walk, "privilege", `${show(arg.text)} says who may use the machine`);
  (use === "writes" ? ask : askRead)(walk, "outside", text, absolute ? [`${use === "writes" ? "write" : "read"}=${path}`] : []);
}
