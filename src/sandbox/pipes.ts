import { Buffer } from "node:buffer";
import { spawn, spawnSync } from "node:child_process";
import { chownSync, closeSync, constants, openSync, unlinkSync } from "node:fs";
import { Socket } from "node:net";
import { join } from "node:path";
import { RUNNER_DIED } from "./messages.ts";

/** Made at once: one process for so many commands. When fewer are left, the next ones are made on the side. */
const BATCH = 16;
/** libuv hands over what it has read before it reads again, so all pipes can share one buffer. */
const shared = Buffer.allocUnsafe(65_536);

export interface OutputPipe {
  /** The command's end; to be closed once the command has it. */
  write: number;
  /** Hands out memory that is reused; `onEnd` when every writer is gone or the pipe was closed. */
  listen(onData: (chunk: Uint8Array) => void, onEnd: () => void): void;
  close(): void;
}

/**
 * Real pipes for output. Node's own are sockets: those cannot be opened again as /dev/stdout, and their data comes
 * in a fresh buffer each time, which costs memory in a flood. Node cannot make a pipe, so mkfifo does. None is used
 * twice: a descriptor of it may have been passed on to another command.
 */
export function pipeMaker(folder: string): (owner: { uid: number; gid: number } | null) => OutputPipe {
  const ready: string[] = [];
  let made = 0;
  let making = false;

  const batch = (): string[] => Array.from({ length: BATCH }, () => join(folder, `pipe-${made++}`));

  function make(names: string[]): void {
    const result = spawnSync("mkfifo", ["-m", "600", ...names], { encoding: "utf8" });
    if (result.status !== 0) throw result.error ?? new Error(`${RUNNER_DIED} ${result.stderr.trim()}`);
    ready.push(...names);
  }

  function makeAhead(names: string[]): void {
    making = true;
    const child = spawn("mkfifo", ["-m", "600", ...names], { stdio: "ignore" });
    // Whoever finds none makes them, and tells what is in the way.
    child.once("error", () => (making = false));
    child.once("exit", (code) => {
      making = false;
      if (code === 0) ready.push(...names);
    });
  }

  return (owner) => {
    if (ready.length === 0) make(batch());
    if (ready.length <= BATCH && !making) makeAhead(batch());
    const path = ready.pop() as string;
    if (owner !== null) chownSync(path, owner.uid, owner.gid);
    // Reading first and without waiting: opening a pipe to write waits for a reader.
    const read = openSync(path, constants.O_RDONLY | constants.O_NONBLOCK);
    const write = openSync(path, constants.O_WRONLY);
    unlinkSync(path);
    return outputPipe(read, write);
  };
}

function outputPipe(read: number, write: number): OutputPipe {
  let socket: Socket | null = null;
  return {
    write,
    listen: (onData, onEnd) => {
      const callback = (bytes: number) => {
        onData(shared.subarray(0, bytes));
        return true;
      };
      socket = new Socket({ fd: read, readable: true, writable: false, onread: { buffer: shared, callback } });
      // An error ends it like everything else does: `close` follows.
      socket.on("error", () => {});
      socket.on("close", onEnd);
      socket.resume();
    },
    close: () => {
      if (socket === null) closeSync(read);
      else socket.destroy();
    },
  };
}
