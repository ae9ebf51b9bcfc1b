import { writeFileSync } from "node:fs";
import { createServer, type Server } from "node:net";
import { networkInterfaces } from "node:os";
import { join } from "node:path";
import { once } from "node:events";
import { afterAll, beforeAll, expect, it } from "vitest";
import { commandLine } from "../support/command-line.ts";
import { behindEachDoor, type Said, STARTERS, together } from "../support/doors.ts";
import { systemCall, type SystemCall } from "../support/system-calls.ts";

const MISSING = /No such file or directory/;
const READ_ONLY = /Read-only file system/;
const DENIED = /^EPERM$|Operation not permitted|Permission denied/;
const NEW_NAMESPACES = [0x20000, 0x2000000, 0x4000000, 0x8000000, 0x10000000, 0x20000000, 0x40000000, 0x80];
const AT_FDCWD = -100;
const PR_SET_SECCOMP = 22;

/** Each on a line of its own. */
function calls(...each: [SystemCall, ...(number | string)[]][]): string {
  return each.map(([name, ...args]) => `${systemCall(name, ...args)}; echo`).join("\n");
}

/** A filter of the command's own that allows all, and then a call that ours refuses. */
const OWN_FILTER = `perl -MErrno -e 'my $all = pack("SCCL", 6, 0, 0, 0x7fff0000); my $program = pack("Sx6P", 1, $all);
  print syscall(PRCTL, ${PR_SET_SECCOMP}, 2, $program) == 0 ? "" : "no filter: $!"; print syscall(KEYCTL, 0, -3, 0) < 0 ? "$!" : "allowed"'`
  .replace("PRCTL", process.arch === "arm64" ? "167" : "157")
  .replace("KEYCTL", process.arch === "arm64" ? "219" : "250");

/** Runs a copy of grep from memory alone, which looks what it may do. */
const FROM_MEMORY = `perl -e '$^F = 99; my $name = "x"; open(my $out, "+>&=", syscall(${process.arch === "arm64" ? 279 : 319}, $name, 0)); binmode $out;
  open(my $in, "<", "/usr/bin/grep"); binmode $in; local $/; print {$out} <$in>; $out->flush; exec "/proc/self/fd/" . fileno($out), "-E", "^(NoNewPrivs|Seccomp|CapEff|Uid):", "/proc/self/status"'`;

/** Title -> what is tried, and what each line that it says is. `@` stands for the folder that holds the workspace. */
const TRIED: [title: string, command: string, words: RegExp][] = [
  // The kernel's files.
  [
    "the magic key and the kernel's memory",
    "echo b >/proc/sysrq-trigger; head -c 1 /proc/kcore /dev/mem /dev/port /dev/kmsg",
    /No such file|denied/,
  ],
  [
    "settings below /proc/sys",
    "echo 1 >/proc/sys/kernel/ns_last_pid; echo x >/proc/sys/kernel/hostname; echo 1 >/proc/sys/vm/drop_caches",
    /Read-only|denied/,
  ],
  ["maps of users", "echo 0 0 1 >/proc/self/uid_map; echo 0 0 1 >/proc/self/gid_map; echo allow >/proc/self/setgroups", DENIED],
  ["being spared when memory is short", "echo -1000 >/proc/self/oom_score_adj; echo -1 >/proc/1/oom_score_adj", DENIED],
  ["cgroups", "ls /sys/fs/cgroup; echo 1 >/sys/fs/cgroup/cgroup.procs", MISSING],
  // Ways around the mounts.
  ["climbing out of the first process's folder", "ls @/state @/bait /proc/1/cwd/../../../../../../@/bait /proc/1/root/@/bait", MISSING],
  ["what the list of mounts names", `ls $(awk '$4 ~ /state/ {print $4}' /proc/self/mountinfo)`, MISSING],
  [
    "where the output really goes",
    'ls "$(readlink /proc/self/fd/1 | sed "s/ .deleted.//")" $(dirname "$(readlink /proc/1/fd/1)")',
    MISSING,
  ],
  [
    "the new calls for mounts",
    calls(
      ["open_tree", AT_FDCWD, "/", 1],
      ["move_mount", 0, "", AT_FDCWD, "/", 4],
      ["fsmount", 0, 0, 0],
      ["fspick", AT_FDCWD, "/", 0],
      ["mount_setattr", AT_FDCWD, "/", 0, 0, 32],
      ["fsconfig", 0, 0, 0, 0, 0],
    ),
    DENIED,
  ],
  [
    "the old ones",
    calls(
      ["mount", "overlay", "/tmp", "overlay", 0, "lowerdir=/usr"],
      ["mount", "/usr", "/tmp", "", 4096, ""],
      ["pivot_root", "/tmp", "/tmp"],
      ["umount2", "/proc/sys", 2],
    ),
    DENIED,
  ],
  [
    "devices that lead out",
    "ls /dev/fuse /dev/loop-control /dev/net/tun /dev/kvm /dev/vhost-net /dev/mapper/control /dev/sda /dev/input",
    MISSING,
  ],
  ["devices of its own making", "mknod mem c 1 1; mknod /tmp/mem c 1 1; mknod ~/tty c 5 0", /not permitted/],
  [
    "programs of the system",
    "exec 3<>/usr/bin/env || exec 3>>/usr/lib/os-release || chmod 777 /usr/bin/env || mv x /etc/passwd",
    /Read-only|denied|No such file/,
  ],
  [
    "what is loaded into every program",
    "echo /tmp/x.so >/etc/ld.so.preload; : >/etc/ld.so.cache; echo 'echo x' >/etc/profile; echo x >/etc/bash.bashrc",
    READ_ONLY,
  ],
  ["links to programs that become root", "ln /usr/bin/su su || ln /usr/bin/mount ~/mount", /cross-device/],
  // Namespaces and processes.
  ["unsharing any namespace", calls(...NEW_NAMESPACES.map((flag): [SystemCall, number] => ["unshare", flag])), DENIED],
  [
    "cloning into one",
    calls(...NEW_NAMESPACES.filter((flag) => flag > 255).map((flag): [SystemCall, ...number[]] => ["clone", flag + 17, 0, 0, 0, 0])),
    DENIED,
  ],
  ["cloning the new way", calls(["clone3", "x".repeat(88), 88]), /^ENOSYS$/],
  [
    "joining one by a process",
    `perl -MErrno -e 'my $fd = syscall(434, 1, 0); print syscall(${process.arch === "arm64" ? 268 : 308}, $fd, 0x7e020000) < 0 ? "$!" : "joined"'`,
    DENIED,
  ],
  [
    "another process's descriptors and memory",
    calls(["pidfd_getfd", 3, 0, 0], ["process_vm_readv", 1, 0, 0, 0, 0, 0], ["process_vm_writev", 1, 0, 0, 0, 0, 0]),
    DENIED,
  ],
  [
    "processes outside",
    "kill -0 400000 || kill -0 31999; prlimit --pid 400000 --nofile || renice 5 400000",
    /No such process|failed to get/,
  ],
  ["going first", "nice -n -5 true 2>&1 | head -n 1; renice -n -1 $$; chrt -f 1 true; ionice -c 1 true", /denied|not permitted/],
  // Rights.
  ["becoming root by calls", calls(["setresuid", 0, 0, 0], ["setgroups", 1, "xxxx"]), /^EINVAL$|^EPERM$/],
  [
    "becoming root by a program of its own",
    "cp /usr/bin/id own; chmod 6755 own; chown 0:0 own 2>/dev/null; ./own -u; ./own -g; rm own",
    /^(?!0$)\d+$/,
  ],
  [
    "capabilities",
    'perl -e \'my $head = pack("LL", 0x20080522, 0); my $all = pack("L6", (0xffffffff) x 6); print syscall(CAPSET, $head, $all) < 0 ? $! : 1\''.replace(
      "CAPSET",
      process.arch === "arm64" ? "91" : "126",
    ),
    DENIED,
  ],
  ["a filter of its own that allows all", OWN_FILTER, DENIED],
  ["a program that is in memory alone is as bound", FROM_MEMORY, /^(CapEff:\t0{16}|NoNewPrivs:\t1|Seccomp:\t2|Uid:(\t(?!0\t)\d+){4})$/],
  [
    "the clock, the kernel, its log, swap and quotas",
    calls(
      ["clock_settime", 0, 0],
      ["kexec_load", 0, 0, 0, 0],
      ["syslog", 2, 0, 0],
      ["swapon", "x", 0],
      ["quotactl", 0, 0, 0, 0],
      ["acct", "x"],
    ),
    DENIED,
  ],
  ["bending the clock", calls(["clock_adjtime", 0, `".pack("L54", 1, (1) x 53)."`]), DENIED],
  // Terminals, sockets, the network.
  ["a terminal", "exec 3<>/dev/tty", /No such device or address/],
  [
    "sockets of the system's services",
    "ls /run/docker.sock /run/dbus /run/systemd /var/run /run/user /run/containerd /tmp/.X11-unix",
    MISSING,
  ],
  [
    "raw packets",
    'perl -MSocket -e \'for (1, 6, 17, 255) { socket(S, AF_INET, SOCK_RAW, $_) or print "$!\\n" } socket(S, AF_INET, SOCK_DGRAM, 1) or print "$!\\n"\'',
    DENIED,
  ],
  [
    "this machine by its other names",
    "for at in 0.0.0.0 127.0.0.1 127.1.2.3 localhost ::1 OWN; do exec 3<>/dev/tcp/$at/PORT; done",
    /refused|unreachable|[Nn]ame/,
  ],
  [
    "an interface of its own",
    // SIOCSIFADDR on lo; the programs for it are not everywhere.
    'perl -MSocket -e \'socket(S, AF_INET, SOCK_DGRAM, 0); $r = pack("a16a16", "lo", pack_sockaddr_in(0, inet_aton("10.0.0.1"))); ioctl(S, 0x8916, $r) or print $!\'',
    DENIED,
  ],
  ["a low port", "perl -MSocket -e 'socket(S, AF_INET, SOCK_STREAM, 0); bind(S, pack_sockaddr_in(80, INADDR_ANY)) or print $!'", DENIED],
  ["what others share", "ipcs -m -q -s | grep -c agent; ls -A /dev/shm | wc -l; ls /dev/mqueue", /^0$|No such file/],
];

behindEachDoor((door) => {
  let said: Record<string, Said>;
  const heard = { callers: 0 };
  let server: Server;

  beforeAll(async () => {
    const { place, sh, starter } = door();
    // The tests' own user comes in by the front door.
    const shell = starter === STARTERS[0] ? commandLine(place) : sh;
    writeFileSync(join(place.root, "bait"), "bait");
    server = createServer((client) => void (heard.callers++, client.destroy())).listen(0);
    await once(server, "listening");
    const port = String((server.address() as { port: number }).port);
    const own =
      Object.values(networkInterfaces())
        .flat()
        .find((each) => each?.family === "IPv4" && !each.internal)?.address ?? "10.0.0.1";
    const put = (command: string) => command.replaceAll("@", place.root).replaceAll("PORT", port).replaceAll("OWN", own);
    said = await together(shell, Object.fromEntries(TRIED.map(([title, command]) => [title, put(command)])), { reach: "approved" });
  });
  afterAll(() => server.close());

  it.each(TRIED)("no way out by %s", (title, _, words) => {
    const lines = said[title]?.text.split("\n").filter(Boolean) ?? [];
    expect(lines.length).toBeGreaterThan(0);
    for (const line of lines) expect(line).toMatch(words);
    expect(heard.callers).toBe(0);
  });
});
