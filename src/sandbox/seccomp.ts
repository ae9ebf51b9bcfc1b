import { Buffer } from "node:buffer";
import { DeckhandError } from "../core/errors.ts";

/** System calls that a command never needs and that have opened ways out of sandboxes: [x64, arm64], null where there is none. */
const REFUSED: Record<string, readonly [x64: number, arm64: number | null]> = {
  keyctl: [250, 219],
  add_key: [248, 217],
  request_key: [249, 218],
  io_uring_setup: [425, 425],
  io_uring_enter: [426, 426],
  io_uring_register: [427, 427],
  userfaultfd: [323, 282],
  bpf: [321, 280],
  perf_event_open: [298, 241],
  mount: [165, 40],
  umount2: [166, 39],
  pivot_root: [155, 41],
  open_tree: [428, 428],
  move_mount: [429, 429],
  fsopen: [430, 430],
  fsconfig: [431, 431],
  fsmount: [432, 432],
  fspick: [433, 433],
  mount_setattr: [442, 442],
  setns: [308, 268],
  unshare: [272, 97],
  open_by_handle_at: [304, 265],
  process_vm_readv: [310, 270],
  process_vm_writev: [311, 271],
  pidfd_getfd: [438, 438],
  kexec_load: [246, 104],
  kexec_file_load: [320, 294],
  init_module: [175, 105],
  finit_module: [313, 273],
  delete_module: [176, 106],
  reboot: [169, 142],
  settimeofday: [164, 170],
  clock_settime: [227, 112],
  swapon: [167, 224],
  swapoff: [168, 225],
  acct: [163, 89],
  quotactl: [179, 60],
  quotactl_fd: [443, 443],
  sethostname: [170, 161],
  setdomainname: [171, 162],
  syslog: [103, 116],
  vhangup: [153, 58],
  iopl: [172, null],
  ioperm: [173, null],
};

/** Calls whose arguments decide, and clone3, whose arguments a filter cannot see: libc falls back to clone. */
const LOOKED_INTO = { clone: [56, 220], clone3: [435, 435], socket: [41, 198], ioctl: [16, 29] } as const;

const ARCH = { x64: 0xc000003e, arm64: 0xc00000b7 } as const;

/** CLONE_NEWNS, NEWCGROUP, NEWUTS, NEWIPC, NEWUSER, NEWPID, NEWNET. */
const NAMESPACES = 0x7e020000;
/** AF_UNIX, AF_INET, AF_INET6, AF_NETLINK (which lists the interfaces); vsock, packet, alg and the rest are refused. */
const FAMILIES = [1, 2, 10, 16];
/** TIOCSTI and TIOCLINUX type into the terminal. */
const TERMINAL = [0x5412, 0x541c];

const EPERM = 1;
const ENOSYS = 38;
const EAFNOSUPPORT = 97;

const ALLOW = 0x7fff0000;
const KILL = 0x80000000;
const errno = (code: number) => 0x00050000 | code;

const NR = 0;
const ARCHITECTURE = 4;
const argument = (index: number) => 16 + 8 * index;

type Step = readonly [code: number, jumpTrue: number, jumpFalse: number, value: number];
const load = (offset: number): Step => [0x20, 0, 0, offset];
const equal = (value: number, jumpTrue: number, jumpFalse: number): Step => [0x15, jumpTrue, jumpFalse, value];
const atLeast = (value: number, jumpTrue: number, jumpFalse: number): Step => [0x35, jumpTrue, jumpFalse, value];
const anyBit = (value: number, jumpTrue: number, jumpFalse: number): Step => [0x45, jumpTrue, jumpFalse, value];
const answer = (value: number): Step => [0x06, 0, 0, value];

/** The classic BPF program for bubblewrap's `--seccomp`. Throws SANDBOX_DENIED for a processor that has no table. */
export function seccompProgram(arch: string): Buffer {
  if (arch !== "x64" && arch !== "arm64") throw new DeckhandError("SANDBOX_DENIED", `no system call table for ${arch}`);
  const column = arch === "x64" ? 0 : 1;
  const nr = (name: keyof typeof LOOKED_INTO) => LOOKED_INTO[name][column];
  const refused = Object.values(REFUSED).flatMap((row) => row[column] ?? []);
  return encode([
    load(ARCHITECTURE),
    equal(ARCH[arch], 1, 0),
    answer(KILL),
    load(NR),
    // The x32 calls share x64's architecture but not its numbers.
    ...(arch === "x64" ? [atLeast(0x40000000, 0, 1), answer(errno(ENOSYS))] : []),
    ...refused.flatMap((call) => [equal(call, 0, 1), answer(errno(EPERM))]),
    equal(nr("clone3"), 0, 1),
    answer(errno(ENOSYS)),
    ...within(nr("clone"), [load(argument(0)), anyBit(NAMESPACES, 0, 1), answer(errno(EPERM))]),
    ...within(nr("ioctl"), [load(argument(1)), ...oneOf(TERMINAL, 0, 1), answer(errno(EPERM))]),
    ...within(nr("socket"), [load(argument(0)), ...oneOf(FAMILIES, 1, 0), answer(errno(EAFNOSUPPORT))]),
    answer(ALLOW),
  ]);
}

/** Steps for one call only; whatever they let through is allowed. */
function within(call: number, steps: Step[]): Step[] {
  return [equal(call, 0, steps.length + 1), ...steps, answer(ALLOW)];
}

/** Goes `hit` steps beyond the list when a value matches, `miss` steps beyond it when none does. */
function oneOf(values: number[], hit: number, miss: number): Step[] {
  return values.map((value, index) => {
    const left = values.length - 1 - index;
    return equal(value, left + hit, left === 0 ? miss : 0);
  });
}

function encode(steps: Step[]): Buffer {
  const program = Buffer.alloc(steps.length * 8);
  for (const [index, [code, jumpTrue, jumpFalse, value]] of steps.entries()) {
    program.writeUInt16LE(code, index * 8);
    program.writeUInt8(jumpTrue, index * 8 + 2);
    program.writeUInt8(jumpFalse, index * 8 + 3);
    program.writeUInt32LE(value >>> 0, index * 8 + 4);
  }
  return program;
}
