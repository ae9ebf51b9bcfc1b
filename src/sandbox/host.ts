import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { DeckhandError } from "../core/errors.ts";

/** A folder of the PATH that the run user cannot open, in which it may be, looks like a program that may not be run. */
const NO_PROGRAM =
  /(?:spawn(?:Sync)?|failed to execute|execvp|exec:) ([\w/.-]+):? (?:ENOENT|No such file|not found|EACCES|Permission denied)/;
const NO_NAMESPACE = /namespace|[ug]id map|RTM_NEW|capset|(?:mount|slave|pivot_root)\b.*(?:Permission denied|Operation not permitted)/i;
/** What AppArmor takes from a process in a namespace of its own; the namespace itself it lets it have. */
const POWERLESS = /[ug]id map|RTM_NEW|capset|Permission denied/i;

/**
 * Why no command can be started on this host, from what the tools in front of it said and from the host's own settings,
 * with the mend. `root` is where the host's files are looked for.
 */
export function diagnose(words: string, root = "/"): DeckhandError {
  const said = words.trim().split("\n").join("; ") || "not a word why";
  const program = NO_PROGRAM.exec(said)?.[1];
  if (program !== undefined)
    return /(?:^|\/)bwrap$/.test(program) ? new DeckhandError("SANDBOX_MISSING") : new DeckhandError("SANDBOX_TOOL", program);
  if (said.includes("cgroup.procs")) return new DeckhandError("SANDBOX_CGROUP", said);
  if (/setpriv: .*(?:failed|not permitted)/.test(said)) return new DeckhandError("SANDBOX_ROOT", said);
  if (/mount proc\b/.test(said)) return new DeckhandError("SANDBOX_PROC", [said, ...covered(root)].join("; "));
  return NO_NAMESPACE.test(said) ? forbidden(said, root) : new DeckhandError("SANDBOX_DENIED", said);
}

function forbidden(said: string, root: string): DeckhandError {
  const off = switchedOff(root);
  if (off !== null) return new DeckhandError("SANDBOX_USERNS", `${off} (${said})`);
  const container = inContainer(root);
  const restricted = setting(root, "kernel.apparmor_restrict_unprivileged_userns") === "1";
  if (restricted && (container === null || POWERLESS.test(said))) {
    return new DeckhandError("SANDBOX_APPARMOR", `kernel.apparmor_restrict_unprivileged_userns is 1 (${said})`);
  }
  if (container !== null) return new DeckhandError("SANDBOX_CONTAINER", `${said} (a container, because ${container})`);
  return new DeckhandError("SANDBOX_DENIED", said);
}

/** The setting that forbids namespaces; null when none does. */
function switchedOff(root: string): string | null {
  if (!existsSync(join(root, "proc/self/ns/user"))) return "its kernel was built without user namespaces";
  const kinds = ["user", "pid", "net", "ipc", "uts", "mnt", "cgroup"].map((kind) => `user.max_${kind}_namespaces`);
  const name = ["kernel.unprivileged_userns_clone", ...kinds].find((each) => setting(root, each) === "0");
  return name === undefined ? null : `${name} is 0`;
}

/** What tells that this is a container; null when nothing does. */
function inContainer(root: string): string | null {
  const file = [".dockerenv", "run/.containerenv", "run/systemd/container"].find((name) => existsSync(join(root, name)));
  if (file !== undefined) return `there is /${file}`;
  const group = /\b(?:docker|containerd|kubepods|libpod|lxc)\b[^\n]*/.exec(read(root, "proc/1/cgroup"))?.[0];
  if (group !== undefined) return `its first process is in the group ${group}`;
  // An engine brings these files in from its own folders.
  const brought = mounts(root).find(({ at, line }) => /^\/(?:etc\/(?:hosts|hostname|resolv\.conf))?$/.test(at) && ENGINE.test(line));
  return brought === undefined ? null : `a container engine mounted ${brought.at}`;
}

const ENGINE = /\/(?:docker|containerd|kubelet|containers|buildkit)\//;

/** The parts of /proc that something else lies over. While there are any, no new /proc may be mounted. */
function covered(root: string): string[] {
  const parts = [...new Set(mounts(root).flatMap(({ at }) => (at.startsWith("/proc/") ? [at] : [])))];
  return parts.length === 0 ? [] : [`covered here: ${parts.join(", ")}`];
}

function mounts(root: string): { at: string; line: string }[] {
  const lines = read(root, "proc/self/mountinfo").split("\n").filter(Boolean);
  return lines.map((line) => ({ at: line.split(" ")[4] ?? "", line }));
}

function setting(root: string, name: string): string | null {
  return read(root, join("proc/sys", name.replaceAll(".", "/"))).trim() || null;
}

/** Empty for a file that is not there or not for us: then it says nothing. */
function read(root: string, path: string): string {
  try {
    return readFileSync(join(root, path), "utf8");
  } catch {
    return ""; // a host without the file is one without the rule
  }
}
