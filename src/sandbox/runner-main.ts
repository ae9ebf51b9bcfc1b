import { closeSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { flushCompileCache } from "node:module";
import { dirname } from "node:path";
import { armCheckpoint, checkpoint } from "../core/checkpoint.ts";
import { type Command, startCommand } from "./command.ts";
import { lockKeeper } from "./lock.ts";
import { AGAIN, type FromRunner, type Job, type ToRunner } from "./messages.ts";
import { kill, orphans } from "./orphans.ts";
import { pipeMaker } from "./pipes.ts";
import { spareKeeper } from "./spare.ts";
import { watchdog } from "./watchdog.ts";

/**
 * The runner: a small process between the worker and the commands. Small, because starting a process costs in
 * proportion to the memory of the one that starts it; apart, because it holds no secret. When the worker goes,
 * it ends every command and goes too.
 */
const [folder, quietMs, killAt, word] = process.argv.slice(2) as [string, string, string, string | undefined];
/** Bytes; without the compiler it is a third less, with it a third more. */
const COMPILED = 70_000_000;

const newPipe = pipeMaker(folder);
const claimLock = lockKeeper();
const commands = new Map<number, Command>();
const spares = spareKeeper((job) => newPipe(job.owner));
const dog = quietMs === "" ? null : watchdog(Number(quietMs), endAll);
if (killAt !== "") armCheckpoint(killAt, () => process.kill(process.pid, "SIGKILL"));

function send(message: FromRunner): void {
  // Without a worker nobody listens; `disconnect` follows.
  if (process.connected) process.send?.(message, undefined, undefined, () => {});
}

async function run(id: number, job: Job, command: Command): Promise<void> {
  commands.set(id, command);
  const ended = await command.ended;
  commands.delete(id);
  if (job.waits) checkpoint("runner-ended");
  send({ type: "ended", id, ended });
  const mounts = command.mounts();
  if (mounts !== null && ended.how === "exited") setImmediate(() => setUpSpare(job, mounts));
}

/** Not when that would take the time of a command that is being set up. */
function setUpSpare(job: Job, mounts: string): void {
  if (process.connected && [...commands.values()].every(({ begun }) => begun())) spares.add(job, mounts);
}

/** Nobody waits for them any more. */
function endAll(): void {
  for (const command of commands.values()) command.stop("interrupted");
}

function hear(message: ToRunner): void {
  dog?.alive();
  if (message.type === "beat") return;
  if (message.type === "stop") return commands.get(message.id)?.stop("cancelled");
  if (message.type === "go") return go(message.id);
  const { id, job } = message;
  const hear = {
    alive: (pids: number[]) => send({ type: "alive", id, pids }),
    live: (data: Uint8Array) => send({ type: "chunk", id, data }),
    ready: () => {
      checkpoint("runner-ready");
      send({ type: "ready", id });
    },
  };
  const claim = job.lock === null ? null : claimLock(job.lock);
  const command = startCommand(message, claim, () => newPipe(job.owner), hear, spares);
  void run(id, job, command);
}

function go(id: number): void {
  commands.get(id)?.go();
  checkpoint("runner-goes");
}

async function leave(): Promise<void> {
  for (const command of commands.values()) command.stop("cancelled");
  await Promise.all([...commands.values()].map((command) => command.ended));
  await spares.end();
  // Pipes may still be being made.
  rmSync(folder, { recursive: true, force: true, maxRetries: 50, retryDelay: 10 });
  process.exit(0);
}

/** Descriptors that whoever started the worker left open: Node would hand them on to every command. */
function closeStrays(): void {
  for (const name of readdirSync("/proc/self/fd")) {
    const fd = Number(name);
    // 3 is the channel to the worker.
    if (fd <= 3) continue;
    try {
      const flags = /^flags:\s*([0-7]+)/m.exec(readFileSync(`/proc/self/fdinfo/${fd}`, "utf8"))?.[1] ?? "0";
      if ((Number.parseInt(flags, 8) & 0o2000000) === 0) closeSync(fd);
    } catch (thrown) {
      // The descriptor of the listing itself is gone by now.
      if ((thrown as NodeJS.ErrnoException).code !== "ENOENT") throw thrown;
    }
  }
}

// A terminal's or service manager's signal reaches the whole group; the worker decides what it means for us.
for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"] as const) process.on(signal, () => {});
process.umask(0o022);
closeStrays();
for (const pid of orphans(dirname(dirname(folder)))) kill(pid);
process.on("message", (message) => hear(message as ToRunner));
process.on("disconnect", () => void leave());
flushCompileCache();
if (word !== AGAIN.word && process.memoryUsage.rss() > COMPILED) process.exit(AGAIN.exit);
send({ type: "up" });
if (!process.connected) void leave();
