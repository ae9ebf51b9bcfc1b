import { type ChildProcess, spawn, spawnSync } from "node:child_process";
import { join } from "node:path";
import type { Corridor } from "./corridor.ts";
import { type RoleProcess, roleOf } from "./crew.ts";
import { isRoot, type TestWorkspace } from "./workspace.ts";

/** A machine of its own, as far as a network and a name make one. Root stays root there. */
const machine = (name: string): string[] => [
  ...["--dev-bind", "/", "/", "--unshare-net", "--unshare-uts", "--hostname", name, "--die-with-parent"],
  ...(isRoot() ? ["--cap-add", "ALL"] : []),
  "--",
];

/** Whether this machine lets us make such namespaces, and a sandbox's within them. */
export function canMakeHosts(): boolean {
  const inner = ["bwrap", "--unshare-user", "--unshare-net", "--unshare-pid", "--ro-bind", "/", "/", "--proc", "/proc", "true"];
  return spawnSync("bwrap", [...machine("probe"), ...inner]).status === 0;
}

/** What a machine with nothing but a loopback of its own can reach: a socket in a folder that leads to a port here. */
export function bridge(socket: string, port: number): { close(): void } {
  const child = spawn("socat", [`UNIX-LISTEN:${socket},fork`, `TCP:127.0.0.1:${port}`], { detached: true, stdio: "ignore" });
  return { close: () => endGroup(child) };
}

/** Whatever of it is left. */
function endGroup(child: ChildProcess): void {
  try {
    process.kill(-(child.pid as number), "SIGKILL");
  } catch {
    // nothing is
  }
}

/** `bin/deckhand start --role worker` on a machine of that name, whose Redis and model are behind the sockets in `root`. */
export function startFarWorker(deck: Corridor, name: string, place: TestWorkspace, workspaces: string): RoleProcess {
  const socat = (port: number, socket: string): string =>
    `socat TCP-LISTEN:${port},bind=127.0.0.1,fork UNIX-CONNECT:${join(place.root, socket)} &`;
  const there = (port: number): string => `until socat -u OPEN:/dev/null TCP:127.0.0.1:${port} 2>/dev/null; do sleep 0.05; done;`;
  const line = `${socat(6379, "redis")} ${socat(8080, "model")} ${there(6379)} ${there(8080)} exec bin/deckhand start --role worker`;
  const env = {
    ...deck.env,
    REDIS_URL: "redis://127.0.0.1:6379",
    OPENAI_BASE_URL: deck.env["OPENAI_BASE_URL"]?.replace(/:\d+/, ":8080") ?? "",
    DECKHAND_STATE: place.stateDir,
    DECKHAND_WORKSPACES: workspaces,
    DECKHAND_CHANNELS: "", // which channel has which is the gateway's concern
  };
  const child = spawn("bwrap", [...machine(name), "sh", "-c", line], { env, detached: true, stdio: ["ignore", "pipe", "pipe"] });
  const far = roleOf(child);
  return {
    ...far,
    /** The machine is switched off. */
    async kill() {
      endGroup(child);
      await far.gone;
    },
  };
}
