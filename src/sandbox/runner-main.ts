import { closeSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { flushCompileCache } from "node:module";
import { dirname } from "node:path";
import { type Command, kill, refusal, startCommand } from "./command.ts";
import type { FromRunner, ToRunner } from "./messages.ts";
import { orphans } from "./orphans.ts";
import { type OutputPipe, pipeMaker } from "./pipes.ts";

/**
 * The runner: a small process between the worker and the commands. Small, because starting a process costs in
 * proportion to the memory of the one that starts it; apart, because it holds no secret. When the worker goes,
 * it ends every command and goes too.
 */
const folder = process.argv[2] as string;
const newPipe = pipeMaker(folder);
const commands = new Map<number, Command>();

function send(message: FromRunner): void {
  // Without a worker nobody listens; `disconnect` follows.
  if (process.connected) process.send?.(message, undefined, undefined, () => {});
}

async function run(id: number, command: Command): Promise<void> {
  commands.set(id, command);
  const ended = await command.ended;
  commands.delete(id);
  send({ type: "ended", id, ended });
}

function hear(message: ToRunner): void {
  if (message.type === "stop") {
    commands.get(message.id)?.stop("cancelled");
    return;
  }
  const { id, job } = message;
  let pipe: OutputPipe;
  try {
    pipe = newPipe(job.owner);
  } catch (thrown) {
    send({ type: "ended", id, ended: refusal(String(thrown)) });
    return;
  }
  const alive = (pids: number[]) => send({ type: "alive", id, pids });
  const live = (data: Uint8Array) => send({ type: "chunk", id, data });
  void run(id, startCommand(message, pipe, { alive, live }));
}

async function leave(): Promise<void> {
  for (const command of commands.values()) command.stop("cancelled");
  await Promise.all([...commands.values()].map((command) => command.ended));
  rmSync(folder, { recursive: true, force: true });
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
send({ type: "up" });
