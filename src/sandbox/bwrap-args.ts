import { LIMITS } from "../limits.ts";
import { becomes, FED_SHELL, fed, launcher, notRoot, type RunUser, type Walls } from "./launch.ts";
import type { Job } from "./messages.ts";

/** A folder or file that a command sees. `from`: a path of ours, or the number of a descriptor. */
export interface Bind {
  from: string | number;
  to: string;
  writable: boolean;
}

/** A small folder of its own in memory, which mount points are made in; written to until it is sealed. */
export interface Shield {
  shield: string;
  sealed: boolean;
}

/** Everything that one sandboxed command's argument list depends on. All paths are absolute. */
export interface BwrapPlan {
  /** Words before all others: the control group. */
  enter: string[];
  user: RunUser;
  /** The staged /etc. */
  etc: string;
  /** Mounted in this order. */
  binds: (Bind | Shield)[];
  cwd: string;
  env: Record<string, string>;
  /** The descriptor that more words are read from; null without. */
  secrets: number | null;
  /** What is done inside before the command. */
  prelude: string;
  command: string;
  /** See carry.ts; null where nothing carries over. */
  carry: string | null;
}

/** The first descriptor for what a job opens: 3 is the seccomp program, 4 the status. */
export const FIRST_FD = 5;

/** Where the conversation's home stands inside. */
export const HOME = "/home/agent";

/**
 * The full command line, bubblewrap and shell, what that is told, and whom the runner starts it as. fd 3 is the seccomp program, fd 4
 * the status. A control group is entered as we are: then setpriv is what drops our rights.
 */
export function bwrapArgs(plan: BwrapPlan): Pick<Job, "argv" | "as" | "fed"> {
  const user = notRoot(plan.user);
  const told = { fed: fed(plan.command, WALLS, plan.prelude, plan.carry) };
  if (plan.enter.length > 0) return { ...told, argv: [...plan.enter, ...launcher(user), ...sandboxed(plan)], as: null };
  return { ...told, argv: sandboxed(plan), as: becomes(user) };
}

function sandboxed(plan: BwrapPlan): string[] {
  return [
    "bwrap",
    ...walls(),
    ...system(plan.etc),
    ...plan.binds.flatMap(bind),
    ...["--remount-ro", "/", "--chdir", plan.cwd],
    ...settings(plan.env),
    ...(plan.secrets === null ? [] : ["--args", String(plan.secrets)]),
    ...["--seccomp", "3", "--json-status-fd", "4", "--", ...FED_SHELL],
  ];
}

/** Variables as words for bubblewrap. */
export function settings(env: Record<string, string>): string[] {
  return Object.entries(env).flatMap(([name, value]) => ["--setenv", name, value]);
}

function walls(): string[] {
  return [
    ...["--unshare-user", "--disable-userns", "--unshare-ipc", "--unshare-pid", "--unshare-uts"],
    ...["--unshare-cgroup-try", "--unshare-net", "--as-pid-1", "--hostname", "sandbox"],
    ...["--die-with-parent", "--new-session", "--cap-drop", "ALL", "--clearenv"],
  ];
}

function system(etc: string): string[] {
  return [
    ...["--ro-bind", "/usr", "/usr", "--symlink", "usr/bin", "/bin", "--symlink", "usr/sbin", "/sbin"],
    ...["--symlink", "usr/lib", "/lib", "--symlink", "usr/lib64", "/lib64", "--ro-bind", etc, "/etc"],
    // As root's children some files below /proc/sys stay writable without this: core_pattern is a way out.
    ...["--proc", "/proc", "--ro-bind", "/proc/sys", "/proc/sys"],
    ...["--dev", "/dev", "--size", String(LIMITS.commandShm), "--tmpfs", "/dev/shm", "--remount-ro", "/dev"],
  ];
}

/** By a descriptor where a command in a folder above could put a link in its place while this one waits. */
function bind(one: Bind | Shield): string[] {
  if ("shield" in one) return one.sealed ? ["--remount-ro", one.shield] : ["--size", SHIELD_BYTES, "--tmpfs", one.shield];
  const { from, to, writable } = one;
  const word = `--${writable ? "" : "ro-"}bind`;
  return typeof from === "number" ? [`${word}-fd`, String(from), to] : [word, from, to];
}

const SHIELD_BYTES = "65536";

/**
 * Bubblewrap makes the folders on the way to a mount point, and follows links that a command left in /tmp or the home
 * for that, out of the sandbox. So what is mounted deeper in there than one level gets a new folder around it.
 */
export function shielded(binds: Bind[]): (Bind | Shield)[] {
  const around = new Set(binds.flatMap(({ to }) => SHARED_PLACE.exec(to)?.[1] ?? []));
  const shields = (sealed: boolean): Shield[] => [...around].map((shield) => ({ shield, sealed }));
  return [...shields(false), ...binds, ...shields(true)];
}

const SHARED_PLACE = new RegExp(`^((?:/tmp|${HOME})/[^/]+)/`);

/** Set inside, so that the count of processes is the sandbox's own and not shared by all of the user. */
const WALLS: Walls = {
  files: LIMITS.commandFiles,
  processes: LIMITS.commandProcesses,
  fileSize: LIMITS.commandFileSize,
  memory: LIMITS.commandMemory,
  cpu: LIMITS.commandCpu,
};
