import { DeckhandError } from "../core/errors.ts";
import { LIMITS } from "../limits.ts";

/** How a Redis stands, as it tells itself. */
export interface Health {
  /** It can lose work: nothing may start on it. REDIS_UNSAFE each. */
  unsafe: DeckhandError[];
  /** What keeps it from taking work now, or soon will: REDIS_LOADING, REDIS_DISK, REDIS_FULL. It may pass. */
  troubles: DeckhandError[];
  /** Share of `maxmemory` that is in use; 0 when there is no such limit. */
  fill: number;
}

/** Reads the text of INFO. Pure. */
export function readHealth(text: string): Health {
  const info = parseInfo(text);
  const fill = fillOf(info);
  const full = fill < LIMITS.redisWarn ? [] : [new DeckhandError("REDIS_FULL", `${percent(fill)} of its memory is in use`)];
  return { unsafe: unsafeIn(info), troubles: [...loading(info), ...disk(info), ...full], fill };
}

/** For an operator: the memory in use, and of how much. */
export function memoryLine(text: string): string {
  const info = parseInfo(text);
  const limit = Number(info.get("maxmemory") ?? 0);
  const used = `${(Number(info.get("used_memory") ?? 0) / 1_000_000).toFixed(1)} MB used`;
  return limit > 0 ? `${used}, ${percent(fillOf(info))} of maxmemory` : `${used}, no maxmemory`;
}

function unsafeIn(info: Map<string, string>): DeckhandError[] {
  const problems: string[] = [];
  const version = info.get("redis_version") ?? "unknown";
  const [major = 0, minor = 0] = version.split(".").map(Number);
  if (!(major > 6 || (major === 6 && minor >= 2))) problems.push(`it is version ${version}; install 6.2 or newer`);
  const role = info.get("role");
  if (role !== "master")
    problems.push(`it is a ${role ?? "server of unknown role"}, which takes no writes; put the master's address into REDIS_URL`);
  const policy = info.get("maxmemory_policy");
  if (policy !== "noeviction")
    problems.push(`it throws data away when it is full (maxmemory-policy ${policy}); set \`maxmemory-policy noeviction\``);
  if (info.get("aof_enabled") !== "1") problems.push("it forgets everything when it ends (appendonly no); set `appendonly yes`");
  return problems.map((problem) => new DeckhandError("REDIS_UNSAFE", problem));
}

function loading(info: Map<string, string>): DeckhandError[] {
  if ((info.get("loading") ?? "0") === "0") return [];
  return [new DeckhandError("REDIS_LOADING", `${info.get("loading_loaded_perc") ?? "0.00"} %`)];
}

/** With `appendfsync always` a Redis that cannot write ends instead; then nothing answers. */
function disk(info: Map<string, string>): DeckhandError[] {
  const failed = (field: string): boolean => (info.get(field) ?? "ok") !== "ok";
  const what = [
    ...(failed("aof_last_write_status") ? ["the last write to its file failed"] : []),
    ...(failed("aof_last_bgrewrite_status") ? ["it could not rewrite its file, which grows meanwhile"] : []),
    ...(failed("rdb_last_bgsave_status") ? ["it could not save a snapshot"] : []),
  ];
  return what.length === 0 ? [] : [new DeckhandError("REDIS_DISK", what.join("; "))];
}

/** What Redis itself compares with `maxmemory`. */
function fillOf(info: Map<string, string>): number {
  const limit = Number(info.get("maxmemory") ?? 0);
  const used = Number(info.get("used_memory") ?? 0) - Number(info.get("mem_not_counted_for_evict") ?? 0);
  return limit > 0 ? used / limit : 0;
}

function percent(share: number): string {
  return `${Math.round(share * 100)} %`;
}

function parseInfo(text: string): Map<string, string> {
  const lines = text.split(/\r?\n/).filter((line) => line.includes(":"));
  return new Map(lines.map((line) => [line.slice(0, line.indexOf(":")), line.slice(line.indexOf(":") + 1)]));
}
