import { Buffer } from "node:buffer";
import { spawnSync } from "node:child_process";
import { chownSync, closeSync, constants, openSync, unlinkSync } from "node:fs";
import { Socket } from "node:net";
import { join } from "node:path";

/** Made at once: one process for so many commands. */
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
 * in a fresh buffer each time, which costs memory in a flood. Node cannot make a pipe, so mkfifo does.
 */
export function pipeMaker(folder: string): (owner: { uid: number; gid: number } | null) => OutputPipe {
  const ready: string[] = [];
  let made = 0;

  function make(): void {
    const names = Array.from({ length: BATCH }, () => `pipe-${made++}`);
    const result = spawnSync("mkfifo", ["-m", "600", ...names], { cwd: folder, encoding: "utf8" });
    if (result.status !== 0) throw new Error(result.error?.message ?? result.stderr.trim());
    ready.push(...names);
  }

  return (owner) => {
    if (ready.length === 0) make();
    const path = join(folder, ready.pop() as string);
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
