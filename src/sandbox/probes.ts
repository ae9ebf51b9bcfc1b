import { randomUUID } from "node:crypto";
import { once } from "node:events";
import { readlinkSync, rmSync, writeFileSync } from "node:fs";
import { type AddressInfo, createServer, type Server } from "node:net";
import { join } from "node:path";
import { asDeckhandError, DeckhandError } from "../core/errors.ts";
import type { Sandbox, SandboxReport } from "../core/sandbox.ts";
import { commandEnv, type RunUser } from "./launch.ts";
import { prepareState } from "./folders.ts";
import type { SandboxOptions } from "./options.ts";
import { closedTo } from "./user.ts";

export const HELD = "sandboxed: no network, workspace only";
const FAILED = "the sandbox did not pass its test";
/** A probe takes milliseconds; a host that needs longer for all of them is not fit to work. */
const PROBE_MS = 30_000;

/** What stands outside during the test, for the probes to find or not to find. */
interface Bait {
  secret: string;
  port: number;
  abstract: string;
  network: string;
  processes: string;
}

/**
 * Each probe tries one way out, in bash alone, and succeeds when the way is open. They run in one command, with the
 * argument list that every command gets.
 */
function ways(bait: Bait): Record<string, string> {
  const env = [...Object.keys(commandEnv("")), "PWD", "OLDPWD", "SHLVL", "_"].join("|");
  return {
    "reads a file outside": `[ -e '${bait.secret}' ] || [ -r /etc/shadow ] || [ -e /root/. ]`,
    "reaches a port of the host": `exec 3<>/dev/tcp/127.0.0.1/${bait.port}`,
    "sees the host's sockets": `grep -q '${bait.abstract}' /proc/net/unix`,
    "shares the host's network": `[ "$(readlink /proc/self/ns/net)" = '${bait.network}' ]`,
    // Opened, never written: where it opens, the host could be taken over.
    "opens the kernel's settings": "exec 3>>/proc/sys/kernel/core_pattern",
    "has more environment than it should": `tr '\\0' '\\n' </proc/$$/environ | grep -qvE '^(${env})='`,
    "has open descriptors of ours": "ls /proc/1/fd /proc/$$/fd | grep -qE '^([3-9]|[1-9][0-9]+)$'",
    "runs as root": "[ $UID -eq 0 ]",
    "makes namespaces": "unshare -Ur true",
    "has capabilities": "grep -E '^Cap(Eff|Prm|Bnd|Amb)' /proc/self/status | grep -qv '0000000000000000$'",
    "has no system call filter": "! grep -q '^Seccomp:.*2$' /proc/self/status || ! grep -q '^NoNewPrivs:.*1$' /proc/self/status",
    "writes outside the workspace": "touch /usr/probe || touch /etc/probe || touch /probe || touch /dev/shm/../probe",
    "sees the host's processes": `[ "$(readlink /proc/self/ns/pid)" = '${bait.processes}' ] || [ "$(cat /proc/1/comm)" != sh ]`,
    "cannot write in the workspace": "[ ! -w . ]",
    "lacks programs that the test needs": "! type cat grep ls readlink touch tr unshare",
  };
}

interface ProbeParts {
  check: (workspace: string, again: boolean) => Promise<RunUser>;
  run: Sandbox["run"];
  /** See `Sandbox.selfTest`. */
  waiting: (() => void) | undefined;
}

/** Runs the real argument list with probes. Never throws; the badge is earned only when every probe was held. */
export async function probe(workspace: string, options: SandboxOptions, parts: ProbeParts): Promise<SandboxReport> {
  try {
    const problems = await attempt(workspace, options, parts);
    return { ok: problems.length === 0, badge: problems.length === 0 ? HELD : FAILED, problems };
  } catch (thrown) {
    return { ok: false, badge: FAILED, problems: [asDeckhandError(thrown).line()] };
  }
}

async function attempt(workspace: string, options: SandboxOptions, { check, run, waiting }: ProbeParts): Promise<string[]> {
  prepareState(options.stateDir);
  const user = await check(workspace, true);
  const closed = await closedTo(user, join(options.stateDir, "c"), "pass", options.path);
  if (closed !== null) throw new DeckhandError("STATE_UNUSABLE", `${closed} is closed to uid ${user.uid}`);

  const name = `deckhand-probe-${randomUUID()}`;
  const secret = join(options.stateDir, "etc", name);
  const servers: Server[] = [];
  try {
    writeFileSync(secret, "bait", { mode: 0o644 });
    const loopback = await listen({ host: "127.0.0.1", port: 0 });
    servers.push(loopback, await listen({ path: `\0${name}` }));
    const port = (loopback.address() as AddressInfo).port;
    const [network, processes] = [readlinkSync("/proc/self/ns/net"), readlinkSync("/proc/self/ns/pid")];
    const probes = ways({ secret, port, abstract: name, network, processes });
    const tries = Object.values(probes).map((way, index) => `(${way}) >/dev/null 2>&1 && echo ${index} open || echo ${index} held`);
    const spec = {
      conversation: "self-test",
      workspace,
      cwd: workspace,
      command: tries.join("\n"),
      timeoutMs: PROBE_MS,
      reach: "probe" as const,
    };
    const running = run(spec, { signal: new AbortController().signal });
    if (waiting) setImmediate(waiting);
    const result = await running;
    if (result.why !== undefined) return [result.why];
    if (result.how !== "exited") return [new DeckhandError("SANDBOX_RUNNER", `the test did not finish (${result.how})`).line()];
    const lines = result.output.text.split("\n");
    const open = Object.keys(probes).filter((_, index) => !lines.includes(`${index} held`));
    return open.map((what) => new DeckhandError("SANDBOX_LEAKS", `a command in it ${what}`).line());
  } finally {
    rmSync(secret, { force: true });
    for (const server of servers) server.close();
  }
}

async function listen(where: { host: string; port: number } | { path: string }): Promise<Server> {
  const server = createServer((socket) => socket.destroy());
  server.listen(where);
  await once(server, "listening");
  return server;
}
