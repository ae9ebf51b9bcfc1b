import { createHash, randomUUID } from "node:crypto";
import { chmodSync, copyFileSync, existsSync, lstatSync, mkdirSync, readdirSync, readlinkSync } from "node:fs";
import { renameSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";

/** What programs need of /etc to start, to load libraries, to check certificates and to know the time zone. */
const COPIED =
  /^(?:ld\.so\.(?:cache|conf|conf\.d)|alternatives|ssl|ca-certificates|pki|crypto-policies|nsswitch\.conf|localtime|timezone|profile|profile\.d|bash\.bashrc|inputrc|python3[^/]*|perl|services|protocols|networks|host\.conf|gai\.conf|mime\.types|magic|magic\.mime|debian_version|os-release|java[^/]*|fonts|groff|manpath\.config|terminfo)$/;
/** Below those, never: private keys. */
const PRIVATE = /(?:^|\/)private$/;

interface Piece {
  path: string;
  kind: "file" | "link" | "folder";
  /** What the staged copy is named by: a link's target, or size and time of a file. */
  mark: string;
}

/**
 * A folder to bind as /etc: copies of what programs need, and accounts that name the run user only. Named by its
 * content and put in place in one step, so workers that share the state folder share it.
 */
export function stageEtc(folder: string, user: { uid: number; gid: number }): string {
  const pieces = readdirSync("/etc")
    .filter((name) => COPIED.test(name))
    .flatMap((name) => walk(name));
  const written = synthetic(user);
  const name = createHash("sha256")
    .update(JSON.stringify([pieces, written]))
    .digest("hex")
    .slice(0, 16);
  const staged = join(folder, name);
  if (existsSync(staged)) return staged;
  const building = join(folder, `${name}.${randomUUID()}`);
  mkdirSync(building, { recursive: true, mode: 0o755 });
  for (const piece of pieces) put(piece, building);
  for (const [file, text] of Object.entries(written)) writeFileSync(join(building, file), text);
  openToAll(building);
  publish(building, staged);
  return staged;
}

function walk(path: string): Piece[] {
  const full = join("/etc", path);
  const stat = lstatSync(full);
  if (PRIVATE.test(path)) return [];
  if (stat.isSymbolicLink()) return [{ path, kind: "link", mark: readlinkSync(full) }];
  // Only what every user of the host may read: as root we could read more, and must not hand it on.
  if (stat.isFile() && (stat.mode & 0o004) !== 0) return [{ path, kind: "file", mark: `${stat.size} ${stat.mtimeMs}` }];
  if (!stat.isDirectory() || (stat.mode & 0o005) !== 0o005) return [];
  return [{ path, kind: "folder", mark: "" }, ...readdirSync(full).flatMap((name) => walk(join(path, name)))];
}

function put(piece: Piece, building: string): void {
  const target = join(building, piece.path);
  if (piece.kind === "folder") mkdirSync(target, { recursive: true, mode: 0o755 });
  else if (piece.kind === "link") symlinkSync(piece.mark, target);
  else copyFileSync(join("/etc", piece.path), target);
}

function synthetic({ uid, gid }: { uid: number; gid: number }): Record<string, string> {
  return {
    passwd: [
      "root:x:0:0:root:/root:/usr/sbin/nologin",
      `agent:x:${uid}:${gid}:agent:/home/agent:/bin/bash`,
      "nobody:x:65534:65534:nobody:/nonexistent:/usr/sbin/nologin",
      "",
    ].join("\n"),
    group: ["root:x:0:", `agent:x:${gid}:`, "nogroup:x:65534:", ""].join("\n"),
    hosts: "127.0.0.1 localhost sandbox\n::1 localhost\n",
    hostname: "sandbox\n",
    // A workspace may belong to another user than the one that commands run as; git then refuses to read it.
    gitconfig: "[safe]\n\tdirectory = *\n",
  };
}

/** Whatever the umask was. */
function openToAll(folder: string): void {
  chmodSync(folder, 0o755);
  for (const entry of readdirSync(folder, { withFileTypes: true })) {
    const path = join(folder, entry.name);
    if (entry.isDirectory()) openToAll(path);
    else if (entry.isFile()) chmodSync(path, 0o644);
  }
}

function publish(building: string, staged: string): void {
  mkdirSync(dirname(staged), { recursive: true });
  try {
    renameSync(building, staged);
  } catch (thrown) {
    rmSync(building, { recursive: true, force: true });
    // Another worker was first with the same content.
    if (!existsSync(staged)) throw thrown;
  }
}
