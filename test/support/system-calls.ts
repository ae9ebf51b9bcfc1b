/** System calls by number, and what a command is told by them: [x64, arm64]. */
const NUMBERS = {
  acct: [163, 89],
  add_key: [248, 217],
  bpf: [321, 280],
  capset: [126, 91],
  chroot: [161, 51],
  clock_adjtime: [305, 266],
  clock_settime: [227, 112],
  clone: [56, 220],
  clone3: [435, 435],
  fsconfig: [431, 431],
  fsmount: [432, 432],
  fsopen: [430, 430],
  fspick: [433, 433],
  init_module: [175, 105],
  io_uring_enter: [426, 426],
  io_uring_register: [427, 427],
  io_uring_setup: [425, 425],
  ioctl: [16, 29],
  ioprio_set: [251, 30],
  kexec_load: [246, 104],
  keyctl: [250, 219],
  memfd_create: [319, 279],
  mount: [165, 40],
  mount_setattr: [442, 442],
  move_mount: [429, 429],
  open_by_handle_at: [304, 265],
  open_tree: [428, 428],
  perf_event_open: [298, 241],
  pidfd_getfd: [438, 438],
  pidfd_open: [434, 434],
  pivot_root: [155, 41],
  prctl: [157, 167],
  prlimit: [302, 261],
  process_vm_readv: [310, 270],
  process_vm_writev: [311, 271],
  ptrace: [101, 117],
  quotactl: [179, 60],
  reboot: [169, 142],
  request_key: [249, 218],
  sched_setscheduler: [144, 119],
  seccomp: [317, 277],
  setgroups: [116, 159],
  sethostname: [170, 161],
  setns: [308, 268],
  setresuid: [117, 147],
  settimeofday: [164, 170],
  socket: [41, 198],
  swapon: [167, 224],
  syslog: [103, 116],
  umount2: [166, 39],
  unshare: [272, 97],
  userfaultfd: [323, 282],
} as const;

/** A command that makes one system call and says `allowed`, or the name of the error. */
export type SystemCall = keyof typeof NUMBERS;

export function systemCall(name: SystemCall, ...args: (number | string)[]): string {
  const number = NUMBERS[name][process.arch === "arm64" ? 1 : 0];
  return numberedCall(number, ...args);
}

/** The same by its number on this processor. */
export function numberedCall(number: number, ...args: (number | string)[]): string {
  const list = [number, ...args].map((arg, at) => (typeof arg === "number" ? arg : `my $s${at} = "${arg}"`)).join(", ");
  return `perl -MErrno -e 'my $r = syscall(${list}); print $r < 0 ? (grep { $!{$_} } keys %!)[0] : "allowed"'`;
}

/** The smallest ELF file that makes one `int 0x80` and then exits with 0. */
export function i386Program(): Buffer {
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
