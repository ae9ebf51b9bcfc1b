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
  return path === folder || path.startsWith(folder === "/" ? "/" : `${folder}/`);
}

/**
 * Whether reading `path` from `cwd` stays inside the workspace or /tmp: by its text and, where the place can
 * see links, by where it really leads.
 */
export function isInside(place: Place, cwd: string, path: string): boolean {
  const text = normalise(cwd, path);
  if (DEVICES.has(text)) return true;
  const roots = [normalise("/", place.workspace), "/tmp"];
  if (!roots.some((root) => within(text, root))) return false;
  if (place.realpath === undefined) return true;
  const real = follow(place.realpath, cwd, path);
  return real !== null && roots.some((root) => within(real, root) || within(real, place.realpath?.(root) ?? root));
}

/** The same for a pattern: the folder before the first wildcard decides, and no `..` may follow it. */
export function isGlobInside(place: Place, cwd: string, pattern: string, glob: number): boolean {
  const slash = pattern.lastIndexOf("/", glob);
  const rest = pattern.slice(slash + 1).split("/");
  // `.*` may match `..`.
  if (rest.some((segment) => segment === ".." || /^\.\.?[*?[]/.test(segment))) return false;
  return isInside(place, cwd, slash < 0 ? "." : pattern.slice(0, slash + 1));
}

/** Walks the path as the kernel does: `..` of a link's target is not where the text points. */
function follow(realpath: (path: string) => string | null, cwd: string, path: string): string | null {
  const segments = path.split("/");
  if (segments.length > MOST_SEGMENTS) return null;
  let at = path.startsWith("/") ? "/" : (realpath(cwd) ?? cwd);
  for (const segment of segments) {
    if (segment === "" || segment === ".") continue;
    const next = normalise(at, segment);
    at = segment === ".." ? next : (realpath(next) ?? next);
  }
  return at;
}
