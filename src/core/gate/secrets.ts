import { normalise } from "./paths.ts";
import type { Arg } from "./args.ts";

/** Names of variables that hold the bot's or somebody's secrets. */
const SECRET_NAME = /(?:^|[^A-Za-z])(?:SLACK|DISCORD|OPENAI)_|TOKEN|SECRET|KEY/;

/** Whether a variable's name tells that its value is a secret. */
export function isSecretName(name: string): boolean {
  return SECRET_NAME.test(name);
}

type Refusal = { code: string; text: string };

const PROCESS_SECRETS = /^\/proc\/(?:.*\/)?(?:env[^/]*|e[nviro]*[*?[][^/]*|auxv|mem)$|\$[^/]*\/environ$/;
const SHADOW = /^(?:\/proc\/.*\/root|\/host|\/mnt.*)?\/etc\/(?:g?shadow-?$|g?s[hadow]*[*?[])/;
const HOST_ROOT = /^\/proc\/\d+\/(?:root|cwd|fd|map_files)(?:\/|$)/;
const SSH_KEYS = /(?:^~[^/]*|^\/root|^\/home\/[^/]+)\/\.ssh(?:$|\/(?!known_hosts|config$|[^/]*\.pub$))/;
const OTHER_KEYS =
  /(?:^~[^/]*|^\/root|^\/home\/[^/]+)\/\.(?:aws\/credentials$|kube\/config$|netrc$|git-credentials$|gnupg(?:\/|$)|docker\/config\.json$|config\/(?:gcloud(?:\/|$)|gh\/hosts\.yml$)|pgpass$|my\.cnf$|pypirc$)/;
/** Files without which nobody gets into the machine, or with which anybody does. */
const VITAL = /^\/etc\/(?:passwd|group|fstab|ld\.so\.preload|pam\.d\/[^/]+|pam\.conf)-?$/;
const RAW_DEVICE =
  /^\/dev\/(?:(?:sd|hd|vd|xvd)[a-z*?[]|nvme|mmcblk|r?disk|mapper\/|dm-|loop\d|md\d|ram\d|sg\d|nbd\d|pmem\d|dasd[a-z]|mtd|zd\d|drbd\d|rbd\d|bcache\d|root$|mem$|kmem$|port$)/;
const HOST_HOOK = /^\/proc\/sys\/kernel\/(?:core_pattern|modprobe|hotplug)$|^\/sys\/.*\/(?:release_agent|uevent_helper)$/;
const SOCKET = /(?:docker|containerd|podman|crio)\.sock$/;

/** Whether the machine cannot be used any more, or by anybody, when this file is gone or changed. Absolute, normalised. */
export function isVital(path: string): boolean {
  return VITAL.test(rootless(path));
}

/** The path as it is without a way round through `/proc/self/root`. */
export function rootless(path: string): string {
  return path.replace(/^(?:\/proc\/(?:self|thread-self|\d+)(?:\/task\/\d+)?\/root)+(?=\/|$)/, "") || "/";
}

/** Why a path may never be opened; null when nothing speaks against it. `path` is absolute, or begins with `~`. */
function refusedPath(whole: string): Refusal | null {
  if (HOST_ROOT.test(whole)) return { code: "escape", text: "leads out of the sandbox" };
  const path = rootless(whole);
  if (PROCESS_SECRETS.test(path)) return { code: "secrets", text: "shows another process's environment or memory" };
  if (SHADOW.test(path)) return { code: "secrets", text: "holds the system's passwords" };
  if (OTHER_KEYS.test(path)) return { code: "secrets", text: "holds somebody's keys" };
  if (SSH_KEYS.test(path)) return { code: "secrets", text: "holds private keys" };
  if (RAW_DEVICE.test(path)) return { code: "disk", text: "is a raw device" };
  if (SOCKET.test(path)) return { code: "escape", text: "is the door to the container engine, which gives the whole machine" };
  if (HOST_HOOK.test(path)) return { code: "escape", text: "makes the host run a program" };
  if (path.startsWith("/etc/sudoers")) return { code: "privilege", text: "says who may take more rights" };
  if (path === "/proc/sysrq-trigger" || path.startsWith("/sys/power/")) return { code: "power", text: "controls the machine" };
  return null;
}

/** The same for an argument, also where the path hangs on something: `of=/dev/sda`, `-f/etc/shadow`, `@/etc/shadow`. */
export function refusedArgument(arg: Arg, cwds: string[]): Refusal | null {
  if (/\s/.test(arg.value) || !(/[/~]/.test(arg.value) || cwds.some((cwd) => /^\/(?:proc|etc|dev|sys)\b/.test(cwd)))) return null;
  const starts = [0, arg.value.indexOf("=") + 1, arg.value.indexOf("@") + 1, arg.value.startsWith("-") ? 2 : 0];
  const piece = /^[a-z]+:\/\/(?=\/)/.exec(arg.value);
  if (piece !== null) starts.push(piece[0].length);
  for (const start of new Set(starts)) {
    const path = arg.value.slice(start);
    const seen = path.startsWith("~") ? [normalise("/", path).slice(1)] : cwds.map((cwd) => normalise(cwd, path));
    for (const one of seen) {
      const refusal = refusedPath(one);
      if (refusal !== null) return refusal;
    }
  }
  return null;
}

const NAMED_SECRET = /(?:ENVIRON|environ|getenv|process\.env|\bENV\b|\benv\b)[^;]{0,20}?(?:SLACK_|DISCORD_|OPENAI_|TOKEN|SECRET|KEY)/;
const OPENED_DEVICE = /['"]\/dev\/(?:sd|hd|vd|xvd|nvme|mmcblk)[a-z\d]+['"]/;
const OPENED_SECRET = /\/etc\/g?shadow\b|\/proc\/[^\s'"]*\/environ\b/;
/** The whole environment, not one variable of it. */
const DUMPED =
  /\bos\.environ\b(?!\s*(?:\[|\.(?:get|setdefault|pop|update)\b))|\bprocess\.env\b(?!\s*(?:\.|\[|\?\.))|%ENV\b|\bENV\.(?:to_h|each|inspect|to_a|map|select|keys|values)\b|\b(?:puts|p|print|pp)\s*\(?\s*ENV\b(?!\s*[[.])|\bgetenv\(\s*\)|\bprint_r\(\s*\$_(?:ENV|SERVER)|\$_ENV\s*\)|\bphpinfo\s*\(|\bos\.getenvb?\(\s*\)|Deno\.env\.toObject/;
const FORKS =
  /\bfork\s+while\b|\bwhile\b.{0,20}\bfork\b|\bloop\s*(?:\{|do)\s*(?:Process\.)?fork\b|\bfor\s*\(\s*;\s*;\s*\).{0,20}\bfork\b|\bfork\(\)\s*for\b/s;
const WIPES =
  /\b(?:rmtree|rmSync|rmdirSync|rm_rf|rm_r|remove_dir|remove_entry|remove_entry_secure|rimraf|remove_tree|removeSync|rmdir|rm)\b[^;\n]{0,20}?\(?\s*['"](?:\/|~\/?|\/\*|\/(?:etc|usr|bin|lib|var|home|root|boot|opt)\/?)['"]|\bunlink\s+glob\s*\(?\s*['"]\/\*/;
const JQ_ENVIRONMENT = /\$ENV\b|(?<![.\w$])env\b(?!\s*:)/;
const BACKTICKS = /`([^`]+)`/g;
const PIPES = /"([^"]+)"(?=\s*\|&?\s*getline)|(?<=\|&?\s*)"([^"]+)"/g;
const CALLS = /\b(?:(?:system|exec)\s*\(?|(?:popen|exec\w+|spawn\w*|run|call|check_output)\s*\(\s*\[?)\s*(['"`])(.+?)\1/gs;

/** What code in the line (`awk '...'`, `python3 -c '...'`) plainly does that is always refused. */
export function refusedCode(name: string, code: string): Refusal | null {
  if (name === "jq") {
    const filter = code.replace(/"(?:[^"\\]|\\[^(])*"/g, '""');
    return JQ_ENVIRONMENT.test(filter) ? { code: "secrets", text: "shows the environment" } : null;
  }
  if (NAMED_SECRET.test(code) || /\bin\s+ENVIRON\b/.test(code)) return { code: "secrets", text: "shows secrets of the environment" };
  if (DUMPED.test(code)) return { code: "secrets", text: "shows the environment" };
  if (OPENED_SECRET.test(code)) return { code: "secrets", text: "opens a file of secrets" };
  if (/\bsocket\b.*(?:\bdup2\b|\bpty\.spawn\b|\/bin\/(?:ba)?sh\b)/s.test(code)) return { code: "escape", text: "gives others a shell" };
  if (OPENED_DEVICE.test(code)) return { code: "disk", text: "opens a raw device" };
  if (FORKS.test(code)) return { code: "forkbomb", text: "starts itself again and again" };
  return WIPES.test(code) ? { code: "wipe", text: "wipes a root or a home folder" } : null;
}

/** Command lines that code in the line hands to a shell, as far as they stand there literally. */
export function calledCommands(name: string, code: string): string[] {
  const ways = [CALLS, ...(/^(?:ruby|php|perl)$/.test(name) ? [BACKTICKS] : []), ...(name.endsWith("awk") ? [PIPES] : [])];
  return ways.flatMap((way) => [...code.matchAll(way)].map((match) => match.slice(1).findLast((group) => group !== undefined) ?? ""));
}
