import { spawn } from "node:child_process";
import { once } from "node:events";
import { chmodSync, existsSync, readdirSync, readFileSync } from "node:fs";
import { dirname } from "node:path";
import { randomUUID } from "node:crypto";
import { expect, it } from "vitest";
import { bridgePrelude, PROXY_SOCKET, proxyEnv } from "../../src/sandbox/bridge.ts";
import { isRoot, RUN_UID } from "../support/workspace.ts";
import { open, serve } from "./proxy-kit.ts";

interface Ran {
  exit: number | null;
  out: string;
  err: string;
  /** Processes of the sandbox that are left. */
  left: string[];
}

/** Runs lines in a bare bubblewrap with its own network and the proxy's socket in it. */
async function sandboxed(socket: string, lines: string): Promise<Ran> {
  const mark = randomUUID();
  const env = Object.entries({ ...proxyEnv(), MARK: mark, PATH: "/usr/bin:/bin" }).flatMap(([name, value]) => ["--setenv", name, value]);
  const words = [
    ...(isRoot() ? ["setpriv", `--reuid=${RUN_UID}`, `--regid=${RUN_UID}`, "--clear-groups"] : []),
    ...["bwrap", "--unshare-all", "--as-pid-1", "--die-with-parent", "--new-session", "--clearenv"],
    ...["--ro-bind", "/usr", "/usr", "--symlink", "usr/bin", "/bin", "--symlink", "usr/lib", "/lib", "--symlink", "usr/lib64", "/lib64"],
    ...["--proc", "/proc", "--dev", "/dev", "--bind", socket, PROXY_SOCKET, "--remount-ro", "/", ...env],
    ...["--", "/bin/bash", "--norc", "--noprofile", "-c", lines],
  ];
  const child = spawn(words[0] as string, words.slice(1), { stdio: ["ignore", "pipe", "pipe"] });
  const [out, err] = [child.stdout.toArray(), child.stderr.toArray()];
  // With all of its output read: whoever holds it open would hold this up.
  const [exit] = (await once(child, "close")) as [number | null];
  return { exit, out: (await out).join(""), err: (await err).join(""), left: marked(mark) };
}

function marked(mark: string): string[] {
  return readdirSync("/proc").filter((pid) => {
    try {
      return /^\d+$/.test(pid) && readFileSync(`/proc/${pid}/environ`, "latin1").includes(mark);
    } catch {
      // Not ours to read, or gone.
      return false;
    }
  });
}

/** A proxy that allows one server of ours, its socket given to the run user. */
async function withProxy() {
  const { port } = await serve();
  const owner = isRoot() ? { uid: RUN_UID, gid: RUN_UID } : null;
  const opened = await open({ owner, allows: [{ host: "good.example", port }] });
  chmodSync(dirname(opened.socket), 0o711);
  return { ...opened, url: `http://good.example:${port}/` };
}

/** Lines that fetch an address by the variables alone; where there is no curl, bash does what it would do. */
function fetching(url: string): string {
  if (existsSync("/usr/bin/curl")) return `curl -sS ${url}; curl -sS --proxytunnel ${url}`;
  const ask = `exec 3<>/dev/tcp/127.0.0.1/3128; printf 'GET ${url} HTTP/1.0\\r\\n\\r\\n' >&3; cat <&3`;
  return `[ "$http_proxy" = http://127.0.0.1:3128 ]; ${ask}; ${ask}`;
}

it("a program in the sandbox reaches the host that is allowed, and no other", async () => {
  const { socket, url, proxy } = await withProxy();
  const { out, err } = await sandboxed(socket, `${bridgePrelude()}${fetching(url)}; ${fetching("http://evil.example/")}`);
  expect(out).toMatch(/hello [^]*hello [^]*evil\.example:80 is refused/);
  expect(err).not.toMatch(/bridge|refused:/);
  expect(proxy.attempts().map(({ host, refused }) => [host, refused === null])).toEqual([
    ["good.example", true],
    ["evil.example", false],
  ]);
});

it("the bridge changes neither the exit code nor the output, and is gone with the command", async () => {
  const { socket } = await withProxy();
  const ran = await sandboxed(socket, `${bridgePrelude()}echo out; echo err >&2; exit 7`);
  expect(ran).toEqual({ exit: 7, out: "out\n", err: "err\n", left: [] });
});

it("takes many connections at once as soon as the command starts", async () => {
  const { socket, url } = await withProxy();
  const get = `(exec 3<>/dev/tcp/127.0.0.1/3128; printf 'GET ${url} HTTP/1.0\\r\\n\\r\\n' >&3; cat <&3)`;
  const { out, exit } = await sandboxed(socket, `${bridgePrelude()}for i in {1..40}; do ${get} & p="$p $!"; done; wait $p`);
  expect([exit, out.match(/hello/g)?.length]).toEqual([0, 40]);
});

it("where socat is missing or does not start, nothing runs and it is said", async () => {
  const { socket } = await withProxy();
  const missing = await sandboxed(socket, `${bridgePrelude().replaceAll("/usr/bin/socat", "/usr/bin/no-socat")}echo ran`);
  expect(missing).toMatchObject({ exit: 127, out: "", err: "failed to execute socat: No such file\n", left: [] });
  const broken = await sandboxed(socket, `${bridgePrelude().replaceAll("/usr/bin/socat", "/usr/bin/true")}echo ran`);
  expect(broken).toMatchObject({ exit: 125, out: "", err: "the bridge to the network did not start\n", left: [] });
});
