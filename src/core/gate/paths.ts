import type { Place } from "../ports.ts";

/** More segments than this are not followed: they count as outside. */
const MOST_SEGMENTS = 64;
const DEVICES = new Set(["/dev/null", "/dev/zero", "/dev/stdin", "/dev/stdout", "/dev/stderr"]);

/** `path` seen from `cwd`, absolute, without `.`, `..` and doubled slashes. Text only: links are not followed. */
export function normalise(cwd: string, path: string): string {
  const kept: string[] = [];
  for (const segment of (path.startsWith("/") ? path : `${cwd}/${path}`).split("/")) {
    if (segment === "..") kept.pop();
    else if (segment !== "" && segment !== ".") kept.push(segment);
  }
  return `/${kept.join("/")}`;
}

/** Whether `path` is `folder` or lies in it. Both absolute and normalised. */
export function within(path: string, folder: string): boolean {
  return path === folder || path.startsWith(folder.endsWith("/") ? folder : `${folder}/`);
}

/** `/dev/null` and the like, which hold nothing. */
export function isDevice(path: string): boolean {
  return DEVICES.has(path);
}

/** Looks into the file system that may still be made for the line; without any left, nothing counts as inside. */
export interface Looks {
  looks: number;
  /** What earlier looks found. */
  real: Map<string, string | null>;
  /** The line makes links: from a folder in it, the way up may lead elsewhere than the text says. */
  linked: boolean;
}

/**
 * Whether reading `path` from `cwd` stays inside the workspace or /tmp: by its text and, where the place can
 * see links, by where it really leads.
 */
export function isInside(place: Place, cwd: string, path: string, seen: Looks): boolean {
  const text = normalise(cwd, path);
  if (DEVICES.has(text)) return true;
  if (seen.linked && /(?:^|\/)\.\.(?:\/|$)/.test(path)) return false;
  const workspace = normalise("/", place.workspace);
  // The way up leads out of the workspace also where that lies in /tmp.
  if (!path.startsWith("/") && within(normalise("/", cwd), workspace) && !within(text, workspace)) return false;
  if (path.includes("/..") && path.startsWith(`${workspace}/`) && !within(text, workspace)) return false;
  const roots = [workspace, "/tmp"];
  if (!roots.some((root) => within(text, root))) return false;
  if (place.realpath === undefined) return true;
  const look = limited(place.realpath, seen);
  const real = follow(look, cwd, path);
  return real !== null && seen.looks >= 0 && roots.some((root) => within(real, root) || within(real, look(root) ?? root));
}

/** Whether there is a folder at an absolute path, as far as the place can see. */
export function isFolder(place: Place, path: string, seen: Looks): boolean {
  // With a dot behind it a file is not found.
  return place.realpath !== undefined && limited(place.realpath, seen)(`${path}/.`) !== null && seen.looks >= 0;
}

/** The same as `isInside` for a pattern: the folder before the first wildcard decides, and no `..` may follow it. */
export function isGlobInside(place: Place, cwd: string, pattern: string, glob: number, seen: Looks): boolean {
  const slash = pattern.lastIndexOf("/", glob);
  const rest = pattern.slice(slash + 1).split("/");
  // `.*` may match `..`.
  if (rest.some((segment) => segment === ".." || /^\.\.?[*?[]/.test(segment))) return false;
  return isInside(place, cwd, slash < 0 ? "." : pattern.slice(0, slash + 1), seen);
}

function limited(realpath: (path: string) => string | null, seen: Looks): (path: string) => string | null {
  return (path) => {
    const known = seen.real.get(path);
    if (known !== undefined) return known;
    seen.looks -= 1;
    const real = seen.looks < 0 ? null : realpath(path);
    seen.real.set(path, real);
    return real;
  };
}

/** Walks the path as the kernel does: `..` of a link's target is not where the text points. */
function follow(look: (path: string) => string | null, cwd: string, path: string): string | null {
  const segments = path.split("/").filter((one) => one !== "" && one !== ".");
  if (segments.length > MOST_SEGMENTS) return null;
  let at = path.startsWith("/") ? "/" : deepest(look, cwd);
  if (!segments.some((one, index) => one === ".." && index > 0 && segments[index - 1] !== "..")) return deepest(look, normalise(at, path));
  for (const segment of segments) {
    const next = normalise(at, segment);
    at = segment === ".." ? next : (look(next) ?? next);
  }
  return at;
}

/** The real path of the longest part that exists, with the rest behind it. */
function deepest(look: (path: string) => string | null, path: string): string {
  const real = look(path);
  if (real !== null || path === "/") return real ?? path;
  const slash = path.lastIndexOf("/");
  const above = deepest(look, path.slice(0, slash) || "/");
  return `${above === "/" ? "" : above}${path.slice(slash)}`;
}
