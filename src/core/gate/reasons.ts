import type { Arg } from "./args.ts";
import { hostsOf } from "./grants-from.ts";
import { show } from "./finding.ts";

const MOST_NAMED = 4;
const SENDS = /^(?:-d|--data(?:-\w+)?|-F|--form|-T|--upload-file|--post-data|--post-file|--json)(?:=|$)/;

/** What a command that always asks does with these words, for a person; null when the table's own text says it all. */
export function described(called: string, args: Arg[]): string | null {
  const words = args.filter((arg) => !/^-./.test(arg.value));
  switch (called) {
    case "rm":
    case "unlink":
    case "shred":
      return deletes(args, words);
    case "curl":
    case "wget": {
      const sends =
        args.some((arg) => SENDS.test(arg.value)) ||
        args.some((arg, at) => /^(?:-X|--request)$/.test(args[at - 1]?.value ?? "") && arg.value !== "GET");
      return `${sends ? "sends data to" : "downloads from"} ${hosts(called, args)}`;
    }
    case "ssh":
      return `runs commands on ${hosts(called, args)}`;
    case "scp":
    case "sftp":
    case "rsync":
      return `copies from or to ${hosts(called, args)}`;
    case "git clone":
      return `copies a repository from ${hosts(called, args)}`;
    case "git push":
      return words[0] === undefined ? null : `sends commits to ${show(words.map((arg) => arg.text).join(" "))}`;
    default:
      return null;
  }
}

function deletes(args: Arg[], words: Arg[]): string | null {
  if (words.length === 0) return null;
  const unknown = words.find((arg) => arg.kind === "free");
  if (unknown !== undefined) return `deletes, but could not read what ${show(unknown.text)} is`;
  const recursive = args.some((arg) => /^-[a-zA-Z]*[rR]|^--recursive$/.test(arg.value));
  const named = words.slice(0, MOST_NAMED).map((arg) => show(arg.text).slice(1, -1));
  const rest = words.length > MOST_NAMED ? ` and ${words.length - MOST_NAMED} more` : "";
  const kind = recursive
    ? words.length === 1
      ? "a folder"
      : `${words.length} folders`
    : words.length === 1
      ? "a file"
      : `${words.length} files`;
  return `deletes ${kind}${recursive ? " recursively" : ""}: ${named.join(", ")}${rest}`;
}

/** `example.com`, or that it cannot be read. */
function hosts(program: string, args: Arg[]): string {
  const found = hostsOf(program, args).map((grant) => grant.slice("network=".length));
  if (found.includes("*")) return "a host that cannot be read from the line";
  return found.map((host) => host.replace(/:(?:80|443|22)$/, "")).join(", ");
}
