import { chmodSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { Sandbox } from "../../src/core/ports.ts";
import { bwrapSandbox } from "../../src/sandbox/bwrap.ts";
import { launcher } from "../../src/sandbox/launch.ts";
import { seccompProgram } from "../../src/sandbox/seccomp.ts";
import { makeWorkspace, type Shell, shellIn, type TestWorkspace } from "../support/workspace.ts";

let place: TestWorkspace;
let sandbox: Sandbox;
let sh: Shell;

beforeAll(() => {
  place = makeWorkspace();
  sandbox = bwrapSandbox({ stateDir: place.stateDir, runAs: null });
  sh = shellIn(sandbox, place.path);
});
afterAll(async () => {
  await sandbox.close();
  place.cleanup();
});

/** The error of one system call, made by number. */
async function syscall(number: number, ...args: (number | string)[]): Promise<string> {
  const list = [number, ...args].map((arg) => (typeof arg === "number" ? arg : `my $s${number} = "${arg}"`)).join(", ");
  const { output } = await sh(`perl -MErrno -e 'my $r = syscall(${list}); print $r < 0 ? (grep { $!{$_} } keys %!)[0] : "allowed"'`);
  return output.text;
}

describe.runIf(process.arch === "x64")("system calls", () => {
  it.each([
    ["keyctl", "EPERM", 250, 0, -3, 0],
    ["add_key", "EPERM", 248, 0, 0, 0, 0, -3],
    ["io_uring_setup", "EPERM", 425, 1, 0],
    ["userfaultfd", "EPERM", 323, 0],
    ["bpf", "EPERM", 321, 0, 0, 0],
    ["perf_event_open", "EPERM", 298, 0, 0, -1, -1, 0],
    ["mount", "EPERM", 165, "none", "/usr", "", 32, ""],
    ["umount", "EPERM", 166, "/usr", 0],
    ["fsopen", "EPERM", 430, "tmpfs", 0],
    ["chroot", "EPERM", 161, "/"],
    ["setns", "EPERM", 308, 0, 0],
    ["unshare", "EPERM", 272, 0x10000000],
    ["clone into a new user namespace", "EPERM", 56, 0x10000011, 0, 0, 0, 0],
    ["clone3, so that libc falls back to clone", "ENOSYS", 435, 0, 0],
    ["open_by_handle_at", "EPERM", 304, -1, 0, 0],
    ["process_vm_readv", "EPERM", 310, 1, 0, 0, 0, 0, 0],
    ["settimeofday", "EPERM", 164, 0, 0],
    ["reboot", "EPERM", 169, 0, 0, 0, 0],
    ["init_module", "EPERM", 175, 0, 0, ""],
    ["sethostname", "EPERM", 170, "x", 1],
    ["ioctl TIOCSTI", "EPERM", 16, 0, 0x5412, "x"],
    ["ioctl TIOCLINUX", "EPERM", 16, 0, 0x541c, "x"],
    ["a vsock socket", "EAFNOSUPPORT", 41, 40, 1, 0],
    ["a packet socket", "EAFNOSUPPORT", 41, 17, 3, 0],
    ["a crypto socket", "EAFNOSUPPORT", 41, 38, 5, 0],
    ["an unknown socket", "EAFNOSUPPORT", 41, 44, 1, 0],
    ["a local socket", "allowed", 41, 1, 1, 0],
    ["an internet socket", "allowed", 41, 2, 1, 0],
    ["an x32 call", "ENOSYS", 0x40000000 + 39],
  ])("%s: %s", async (_, answer, number, ...args) => {
    expect(await syscall(number, ...args)).toBe(answer);
  });

  it("a program that makes an i386 call is killed", async () => {
    writeFileSync(join(place.path, "old"), i386Program());
    chmodSync(join(place.path, "old"), 0o755);
    expect(await sh("./old")).toMatchObject({ how: "exited", exit: 159 });
  });
});

/** The smallest ELF file that makes one `int 0x80` and then exits with 0. */
function i386Program(): Buffer {
  const code = Buffer.from("b814000000cd8031ffb83c0000000f05", "hex");
  const file = Buffer.alloc(120 + code.length);
  Buffer.from("7f454c46020101", "hex").copy(file);
  file.writeUInt16LE(2, 16);
  file.writeUInt16LE(62, 18);
  file.writeUInt32LE(1, 20);
  file.writeBigUInt64LE(0x400078n, 24);
  file.writeBigUInt64LE(64n, 32);
  file.writeUInt16LE(64, 52);
  file.writeUInt16LE(56, 54);
  file.writeUInt16LE(1, 56);
  file.writeUInt32LE(1, 64);
  file.writeUInt32LE(5, 68);
  file.writeBigUInt64LE(0x400000n, 80);
  file.writeBigUInt64LE(0x400000n, 88);
  file.writeBigUInt64LE(BigInt(file.length), 96);
  file.writeBigUInt64LE(BigInt(file.length), 104);
  file.writeBigUInt64LE(0x1000n, 112);
  code.copy(file, 120);
  return file;
}

describe("the kernel's doors", () => {
  it("core_pattern cannot be opened to write, also when root started us", async () => {
    const before = readFileSync("/proc/sys/kernel/core_pattern", "utf8");
    const { exit, output } = await sh("exec 3>>/proc/sys/kernel/core_pattern");
    expect(exit).not.toBe(0);
    expect(output.text).toMatch(/Permission denied|Read-only file system/);
    expect(readFileSync("/proc/sys/kernel/core_pattern", "utf8")).toBe(before);
  });

  it("no command line is made for root", () => {
    expect(() => launcher({ uid: 0, gid: 0, drop: false }, "/lock")).toThrow("RUN_AS");
  });

  it("namespaces cannot be made or entered", async () => {
    expect((await sh("unshare -Ur true")).exit).not.toBe(0);
    expect((await sh("nsenter -t 1 -n true")).exit).not.toBe(0);
  });

  it("ordinary programs work: threads, pipes, git, sort", async () => {
    const { output } = await sh(
      "git init -q repo && git -C repo status --short --branch && seq 3 | sort -r --parallel=2 && perl -e 'print 1+1'",
    );
    expect(output.text).toMatch(/^## No commits yet on \w+\n3\n2\n1\n2$/);
  });
});

describe("the filter's program", () => {
  it.each(["x64", "arm64"])("is well formed for %s: whole steps, jumps inside, answers at the end", (arch) => {
    const program = seccompProgram(arch);
    const steps = program.length / 8;
    expect(Number.isInteger(steps)).toBe(true);
    for (let at = 0; at < steps; at++) {
      const jumps = (program[at * 8] as number) & 0x07;
      if (jumps !== 0x05) continue;
      expect(at + 1 + Math.max(program[at * 8 + 2] as number, program[at * 8 + 3] as number)).toBeLessThan(steps);
    }
    expect(program.readUInt16LE(program.length - 8)).toBe(0x06);
  });

  it("is refused for a processor whose calls we do not know", () => {
    expect(() => seccompProgram("riscv64")).toThrow("SANDBOX_DENIED");
  });
});
