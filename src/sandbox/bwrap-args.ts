import { LIMITS } from "../limits.ts";
import { commandEnv, launcher, type RunUser, supervised } from "./launch.ts";

/** Everything that one sandboxed command's argument list depends on. All paths are absolute. */
export interface BwrapPlan {
  user: RunUser;
  lock: string;
  /** The staged /etc. */
  etc: string;
  tmp: string;
  home: string;
  sess: string;
  workspace: string;
  cwd: string;
  command: string;
}

/** Where the conversation's home stands inside. */
export const HOME = "/home/agent";

/** The full command line: launcher, bubblewrap, limits, supervisor. fd 3 is the seccomp program, fd 4 the status, fd 5 the workspace. */
export function bwrapArgs(plan: BwrapPlan): string[] {
  return [
    ...launcher(plan.user, plan.lock),
    "bwrap",
    ...walls(),
    ...files(plan),
    ...Object.entries(commandEnv(HOME)).flatMap(([name, value]) => ["--setenv", name, value]),
    ...["--seccomp", "3", "--json-status-fd", "4", "--"],
    ...limits(),
    ...supervised(plan.command),
  ];
}

function walls(): string[] {
  return [
    ...["--unshare-user", "--disable-userns", "--unshare-ipc", "--unshare-pid", "--unshare-uts"],
    ...["--unshare-cgroup-try", "--unshare-net", "--as-pid-1", "--hostname", "sandbox"],
    ...["--die-with-parent", "--new-session", "--cap-drop", "ALL", "--clearenv"],
  ];
}

function files(plan: BwrapPlan): string[] {
  return [
    ...["--ro-bind", "/usr", "/usr", "--symlink", "usr/bin", "/bin", "--symlink", "usr/sbin", "/sbin"],
    ...["--symlink", "usr/lib", "/lib", "--symlink", "usr/lib64", "/lib64", "--ro-bind", plan.etc, "/etc"],
    // As root's children some files below /proc/sys stay writable without this: core_pattern is a way out.
    ...["--proc", "/proc", "--ro-bind", "/proc/sys", "/proc/sys"],
    ...["--dev", "/dev", "--size", String(LIMITS.commandShm), "--tmpfs", "/dev/shm", "--remount-ro", "/dev"],
    ...["--bind", plan.tmp, "/tmp", "--bind", plan.home, HOME, "--bind", plan.sess, "/run/sess"],
    // By its descriptor: while this waits for the lock, a command in a folder above could put a link in its place.
    ...["--bind-fd", "5", plan.workspace, "--remount-ro", "/", "--chdir", plan.cwd],
  ];
}

/** Set inside, so that the count of processes is the sandbox's own and not shared by all of the user. */
function limits(): string[] {
  const pair = (name: string, value: number) => `--${name}=${value}:${value}`;
  return [
    "/usr/bin/prlimit",
    pair("nproc", LIMITS.commandProcesses),
    pair("nofile", LIMITS.commandFiles),
    pair("core", 0),
    pair("fsize", LIMITS.commandFileSize),
    pair("data", LIMITS.commandMemory),
    pair("cpu", LIMITS.commandCpu),
    "--",
  ];
}
