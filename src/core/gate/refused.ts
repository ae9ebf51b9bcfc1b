import { deny, show, type Walk } from "./finding.ts";
import { normalise, within } from "./paths.ts";
import { calledCommands, isSecretName, isVital, refusedArgument, refusedCode, rootless } from "./secrets.ts";
import type { Arg } from "./args.ts";

/** Programs that never run, whatever their arguments and whoever approves. */
const NEVER: Record<string, { names: string; text: string }> = {
  privilege: {
    names:
      "sudo sudo-rs su run0 please ksu doas dzdo pfexec pkexec sudoedit runuser gosu su-exec visudo vipw passwd chpasswd usermod useradd userdel adduser deluser groupadd groupmod groupdel gpasswd setcap setpriv newgrp sg chage vigr setenforce",
    text: "takes or gives more rights",
  },
  power: { names: "reboot shutdown halt poweroff telinit kexec rtcwake pm-suspend pm-hibernate killall5", text: "stops the machine" },
  disk: {
    names:
      "mkfs mkswap mke2fs mkdosfs mkntfs wipefs blkdiscard cfdisk sgdisk hdparm cryptsetup diskutil lvremove vgremove pvremove pvcreate zpool mdadm",
    text: "overwrites disks",
  },
  escape: {
    names: "nsenter chroot unshare pivot_root insmod modprobe rmmod debugfs runc lxc-attach machinectl",
    text: "leaves the sandbox",
  },
};

const NAMES = new Map<string, { code: string; text: string }>();
for (const [code, { names, text }] of Object.entries(NEVER)) for (const name of names.split(" ")) NAMES.set(name, { code, text });

/** Names that a pattern in a command's place may stand for. */
export const REFUSED_NAMES: ReadonlySet<string> = new Set([
  ...NAMES.keys(),
  "rm",
  "dd",
  "shred",
  "mv",
  "env",
  "printenv",
  "chmod",
  "chown",
  "docker",
  "mount",
]);

/** They show or make names, sizes and kinds, or use a key as it is meant; they do not show what is in a file. */
const LOOKERS = new Set(
  "ls dir stat test [ file du df tree realpath readlink lsblk blkid cd mkdir chmod ssh-keygen ssh-add ssh-copy-id".split(" "),
);
/** Their words are text; a path among them is not opened. */
const SPEAKERS = new Set("echo printf true false : which type command basename dirname seq git export alias man".split(" "));
/** Their first word is a pattern or a script. */
const SEARCHERS = new Set("grep egrep fgrep zgrep rg ag ack sed awk gawk mawk nawk jq yq perl".split(" "));
const CODERS = /^(?:[gmn]?awk|python[\d.]*|node|deno|bun|perl|ruby|php|lua|jq)$/;
const SYSTEM_FOLDERS = new Set(
  "/ /bin /boot /dev /etc /home /lib /lib32 /lib64 /media /mnt /opt /proc /root /run /sbin /srv /sys /usr /var /var/lib /var/log".split(
    " ",
  ),
);
const POWER_VERB = /^(?:reboot|poweroff|halt|kexec|suspend|hibernate|hybrid-sleep|soft-reboot|rescue|emergency)$/;
const POWER_TARGET = /^(?:reboot|poweroff|halt|kexec|suspend|hibernate|rescue|emergency)\.target$/;

/** Adds a `deny` for whatever this call does that is always refused. `name` is the program without its folder. */
export function judgeRefused(name: string, given: Arg[], walk: Walk): void {
  const args = given.map(guessed);
  const never = NAMES.get(name) ?? (name.startsWith("mkfs.") ? NAMES.get("mkfs") : undefined);
  if (never !== undefined) deny(walk, never.code, `${show(name)} ${never.text}`);
  const values = args.map((arg) => arg.value);
  if (isPower(name, values)) deny(walk, "power", `${show([name, ...values].join(" "))} stops the machine`);
  if (/^(?:fdisk|sfdisk|gdisk|parted)$/.test(name) && !values.some((one) => /^(?:-l|--list|print)$/.test(one))) {
    deny(walk, "disk", `${show(name)} overwrites disks`);
  }
  if (showsKey(name, values.join(" "))) deny(walk, "secrets", `${show([name, ...values].join(" "))} shows a key`);
  if (name === "zfs" && values[0] === "destroy") deny(walk, "disk", `${show(name)} overwrites disks`);
  if (/^(?:npx|bunx|pnpx|npm|pnpm|yarn|bun)$/.test(name)) judgeFetched(args, walk);
  if (showsEnvironment(name, values)) deny(walk, "secrets", `${show([name, ...values].join(" "))} shows the environment`);
  if (isSetuid(name, values)) deny(walk, "privilege", `${show([name, ...values].join(" "))} gives a program more rights`);
  if (isEscape(name, values)) deny(walk, "escape", `${show(name)} would reach the machine outside the sandbox, or let others in`);
  for (const arg of wiped(name, args, walk))
    deny(walk, "wipe", `${show(`${name} ${arg.text}`)} would wipe a system, home or parent folder`);
  for (const arg of locksOut(name, args, walk))
    deny(walk, "wipe", `${show(`${name} ${arg.text}`)} would lock everybody out of the machine`);
  if (
    name === "kill" &&
    values.some((one, at) => (one === "1" || one === "-1") && !/^-[sn]$/.test(values[at - 1] ?? "") && (at > 0 || one === "1"))
  ) {
    deny(walk, "power", `${show([name, ...values].join(" "))} ends everything on the machine`);
  }
  judgeArguments(name, args, walk);
  if (name === "ssh" && args.length > 1) walk.script(remoteLine(args), { ...walk, refusalsOnly: true });
  judgeCode(name, args, walk);
}

/** Keys and passwords that a program has put away, and shows. */
function showsKey(name: string, line: string): boolean {
  if (name === "gh") return /^auth (?:token|status .*--show-token)/.test(line);
  if (name === "gcloud") return /\bprint-(?:access|identity)-token\b/.test(line);
  if (name === "aws") return /\bconfigure get \S*(?:secret|token)|\bget-session-token\b|\bget-secret-value\b/.test(line);
  if (name === "security") return /\bfind-\w+-password\b/.test(line);
  return /^gpg2?$/.test(name) && /--export-secret/.test(line);
}

/** `npx rimraf /`: what a package manager starts. */
function judgeFetched(args: Arg[], walk: Walk): void {
  const at = args.findIndex((arg) => !/^(?:-.*|exec|x|dlx|run)$/.test(arg.value));
  const tool = args[at];
  if (tool !== undefined && !/^(?:set|env|config)$/.test(tool.value)) judgeRefused(tool.value, args.slice(at + 1), walk);
}

/** `${x:-/}`: what is most likely meant. */
function guessed(arg: Arg): Arg {
  const usual = arg.kind === "free" ? usually(arg.text) : undefined;
  return usual === undefined ? arg : { ...arg, value: usual };
}

/** The text that `${x:-text}` stands for when nothing else is known of it. */
export function usually(text: string): string | undefined {
  return /^"?\$\{\w+:?[-=]([^${}]*)\}"?$/.exec(text)?.[1] ?? /^"?\$\((?:which|command -v|type -P) ([\w.-]+)\)"?$/.exec(text)?.[1];
}

/** What `ssh` runs on the other machine: the words behind the host. */
function remoteLine(args: Arg[]): string {
  const host = args.findIndex((arg, at) => !arg.value.startsWith("-") && !/^-[bcDEeFIiJLlmOopQRSWw]$/.test(args[at - 1]?.value ?? ""));
  return args
    .slice(args[host + 1]?.value === "--" ? host + 2 : host + 1)
    .map((arg) => arg.value)
    .join(" ");
}

function judgeArguments(name: string, args: Arg[], walk: Walk): void {
  if (SPEAKERS.has(name) && !args.some((arg) => arg.value === "--no-index")) return;
  for (const arg of openedBy(name, args)) {
    const refusal = refusedArgument(arg, walk.scope.cwds);
    if (refusal === null || (LOOKERS.has(name) && !arg.value.includes("/proc/"))) continue;
    deny(walk, refusal.code, `${show(arg.text)} ${refusal.text}`);
  }
}

/** The arguments that may be files which the program opens and shows or sends. */
function openedBy(name: string, args: Arg[]): Arg[] {
  if (SEARCHERS.has(name)) return withoutPattern(args);
  if (/^(?:ssh|scp|sftp)$/.test(name)) return args.filter((_, index) => args[index - 1]?.value !== "-i");
  return args;
}

/** Code among the arguments, or in the input, of a program that runs it. */
export function judgeCode(name: string, args: Arg[], walk: Walk): void {
  if (!CODERS.test(name)) return;
  for (const arg of name === "jq" ? jqFilter(args) : args) {
    const refusal = refusedCode(name, arg.value);
    if (refusal !== null) deny(walk, refusal.code, `${show(name)} ${refusal.text}`);
    if (name !== "jq") for (const called of calledCommands(name, arg.value)) walk.script(called, walk);
  }
}

/** The filter alone: a file or a variable of jq may well be named `env`. */
function jqFilter(args: Arg[]): Arg[] {
  const named = /^--(?:arg|argjson|slurpfile|rawfile)$/;
  const words = args.filter((_, index) => !named.test(args[index - 1]?.value ?? "") && !named.test(args[index - 2]?.value ?? ""));
  return words.filter((arg) => !arg.value.startsWith("-")).slice(0, 1);
}

/** The arguments without the pattern: the first operand, or what follows `-e`. */
function withoutPattern(args: Arg[]): Arg[] {
  const given = args.findIndex((arg) => /^(?:-e|--regexp|--expression)$/.test(arg.value));
  if (given >= 0) return args.filter((_, index) => index !== given + 1);
  if (args.some((arg) => /^(?:-[A-Za-z]*[ef]|--(?:regexp|expression|file)(?:=|$))/.test(arg.value))) return args;
  const pattern = args.findIndex((arg) => !arg.value.startsWith("-"));
  return args.filter((_, index) => index !== pattern);
}

function isPower(name: string, values: string[]): boolean {
  if (name === "init") return values.some((one) => /^[0-6sSu]$/.test(one));
  if (/^(?:dbus-send|busctl|gdbus)$/.test(name)) return /login1.*(?:Reboot|PowerOff|Halt|Suspend|Hibernate)/s.test(values.join(" "));
  if (name !== "systemctl" && name !== "loginctl") return false;
  const words = values.filter((one) => !one.startsWith("-"));
  if (words.some((one) => /^(?:status|show|cat|help|is-\w+|list-\S+)$/.test(one))) return false;
  return words.some((one) => POWER_VERB.test(one) || POWER_TARGET.test(one));
}

/** Commands that print every variable, or one that holds a secret. `env` with a command is a launcher. */
function showsEnvironment(name: string, values: string[]): boolean {
  const words = values.filter((one) => !one.startsWith("-"));
  const flags = values.filter((one) => one.startsWith("-")).join("");
  if (name === "printenv") return words.length === 0 || words.some(isSecretName);
  if (name === "set") return values.length === 0;
  // Without a dash `e` shows the environment of every process.
  if (name === "ps") {
    if (/(?:^|,)-\w*E/.test(values.join(","))) return true;
    const isValue = (at: number): boolean => /^-(?:\w*[opuUCgtOskN]|-.*)$/.test(values[at - 1] ?? "");
    return values.some((one, at) => /^[A-Za-z]*e[A-Za-z]*$/.test(one) && !isValue(at));
  }
  if (name === "compgen") return /^-\w*[ev]/.test(values[0] ?? "");
  if (name === "getent") return words.some((one) => /^g?shadow$/.test(one));
  if (name === "export" || name === "readonly") return words.length === 0 && !flags.includes("f");
  if (name !== "declare" && name !== "typeset" && name !== "local") return false;
  return words.length === 0 ? !/[fF]/.test(flags) : flags.includes("p") && words.some(isSecretName);
}

function isSetuid(name: string, values: string[]): boolean {
  if (name !== "chmod" && name !== "install") return false;
  const first = values.find((one) => !/^-(?:[Rcfv]+$|-)/.test(one));
  const given = values.map((one, at) => /^(?:-m|--mode=)(.+)$/.exec(one)?.[1] ?? (/^(?:-m|--mode)$/.test(values[at - 1] ?? "") ? one : ""));
  const mode = name === "chmod" ? (first ?? "") : given.join("");
  return /^0*[4-7]\d{3}$/.test(mode) || /(?:^|,)(?:\w*[ua]\w*)?[+=][rwxX]*s/.test(mode);
}

function isEscape(name: string, values: string[]): boolean {
  const line = values.join(" ");
  if (name === "mount")
    return (
      /(?:^|[\s,])(?:-{0,2}r?bind|cgroup2?|remount|-[BRM]|--move)\b/.test(line) || values.filter((one) => one.startsWith("/")).length > 0
    );
  if (/^(?:nc|ncat|netcat)$/.test(name))
    return values.some((one) => /^(?:-\w*[ec]|--(?:sh-)?exec.*)$/.test(one)) && /\bsh\b|\bcmd\b|(?:ba|z)sh\b/.test(line);
  if (name === "socat") return /\b(?:exec|system):/i.test(line) && /\b(?:tcp|udp|openssl|ssl)\w*[:-]/i.test(line);
  if (name === "umount") return values.some((one) => !one.startsWith("-") || /^-\w*a/.test(one));
  if (name === "sysctl") return /\bkernel\.(?:core_pattern|modprobe|hotplug)\s*=/.test(line);
  if (name === "capsh") return values.some((one) => /^(?:--(?:uid|gid|user|chroot|groups|secbits|inh|addamb).*|--|==)$/.test(one));
  if (name === "kubectl")
    return /\bhostPID\b|\bhostPath\b|"privileged"\s*:\s*true|--privileged|\bnsenter\b|\bchroot\b|^debug node\//.test(line);
  if (/^(?:ctr|crictl|lxc)$/.test(name)) return /--privileged|security\.privileged/.test(line);
  if (name !== "docker" && name !== "podman" && name !== "nerdctl") return false;
  return (
    /(?:^| )(?:--privileged|--pid[= ]host|--userns[= ]host|--cap-add[= ](?:ALL|(?:CAP_)?SYS_(?:ADMIN|PTRACE|MODULE|RAWIO)|(?:CAP_)?DAC_READ_SEARCH)|--security-opt[= ]\S*unconfined)\b/i.test(
      line,
    ) ||
    /(?:^| )(?:-v[= ]?|--volume[= ])(?:\/+\.?)+(?:|etc|root|home|var|usr|boot|proc|sys|dev|run|var\/run)\/?:/.test(line) ||
    /\b(?:source|src)=\/(?:,|$| )/.test(line) ||
    /docker\.sock/.test(line)
  );
}

/** `chmod -R 000 /`: nobody could use the machine any more. */
function locksOut(name: string, args: Arg[], walk: Walk): Arg[] {
  if (!/^(?:chmod|chown|chgrp|setfacl|chattr)$/.test(name) || !args.some((arg) => /^-\w*R|^--recursive$/.test(arg.value))) return [];
  return args
    .filter((arg) => !arg.value.startsWith("-"))
    .slice(1)
    .filter((arg) => walk.scope.cwds.some((cwd) => isWholeFolder(arg, cwd, walk)));
}

/** The arguments whose deletion would take a root, a home, a system folder or a folder above the workspace. */
function wiped(name: string, args: Arg[], walk: Walk): Arg[] {
  const values = args.map((arg) => arg.value);
  const words = args.filter((arg) => !arg.value.startsWith("-"));
  const targets: Record<string, () => Arg[]> = {
    rm: () => words,
    shred: () => words,
    srm: () => words,
    unlink: () => words,
    truncate: () => words,
    rimraf: () => words,
    del: () => words,
    trash: () => words,
    mv: () => words.slice(0, -1),
    fd: () => (values.some((one) => /^(?:rm|shred|unlink)$/.test(one)) ? startsOf(args).slice(1) : []),
    find: () =>
      values.some((one, at) => /^(?:-delete|rm|shred|unlink)$/.test(one) && !/^-i?(?:name|path)$/.test(values[at - 1] ?? ""))
        ? startsOf(args)
        : [],
    rsync: () => (values.some((one) => one.startsWith("--del")) ? words.slice(-1) : []),
  };
  const chosen = Object.hasOwn(targets, name) ? (targets[name]?.() ?? []) : [];
  return chosen.filter((arg) => walk.scope.cwds.some((cwd) => isWholeFolder(arg, cwd, walk) || isVital(normalise(cwd, arg.value))));
}

/** Where `find` starts: what stands before its first condition. */
function startsOf(args: Arg[]): Arg[] {
  const words = args.filter((arg) => !/^-[HLP]$/.test(arg.value));
  const first = words.findIndex((arg) => /^[-(!]/.test(arg.value));
  return first < 0 ? words : words.slice(0, first);
}

function isWholeFolder(arg: Arg, cwd: string, walk: Walk): boolean {
  let path = arg.value;
  // Whatever it is called, it stands right below the root.
  if (arg.kind === "name" && /^\/[^/]+\/?$/.test(path)) return true;
  if (arg.kind === "free" && /^\/+"?\$\{?\w+\}?"?(?:\/\*?)?$/.test(path)) return true;
  const wild = /[*?[]/.exec(path)?.index ?? -1;
  if (wild >= 0) {
    const slash = path.lastIndexOf("/", wild);
    // `build*` names some of what is there; `*`, and any pattern right below the root, all of it.
    if (slash !== 0 && /\w/.test(path.slice(slash + 1).split("/")[0] ?? "")) return false;
    path = path.slice(0, slash + 1) || ".";
  }
  if (path.startsWith("~") && (arg.tilde || !arg.literal)) return /^~[^/]*(?:\/+\.?)*$/.test(path);
  const folder = rootless(normalise(cwd, path));
  const workspace = normalise("/", walk.place.workspace);
  return SYSTEM_FOLDERS.has(folder) || /^\/(?:home|usr)\/[^/]+$/.test(folder) || (folder !== workspace && within(workspace, folder));
}
