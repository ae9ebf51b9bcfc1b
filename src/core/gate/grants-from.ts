import type { Arg } from "./args.ts";
import type { Finding, Lowered } from "./finding.ts";

const MOST_GRANTS = 16;
const ANYWHERE = "network=*";
const PORTS: Record<string, number> = {
  http: 80,
  https: 443,
  ftp: 21,
  ssh: 22,
  git: 9418,
  "git+ssh": 22,
  ws: 80,
  wss: 443,
  postgres: 5432,
  postgresql: 5432,
  mysql: 3306,
  redis: 6379,
  mongodb: 27017,
};
/** Where programs fetch packages from, when nothing else is set. */
const REGISTRIES: { programs: RegExp; hosts: string[] }[] = [
  { programs: /^(?:npm|npx|pnpm|bun|bunx|corepack)$/, hosts: ["registry.npmjs.org:443"] },
  { programs: /^yarn$/, hosts: ["registry.yarnpkg.com:443", "registry.npmjs.org:443"] },
  {
    programs: /^(?:pip3?|pipx|uvx?|poetry|pipenv|twine|\.venv\/bin\/pip3?|venv\/bin\/pip3?|pdm|hatch|rye)$/,
    hosts: ["pypi.org:443", "files.pythonhosted.org:443"],
  },
  { programs: /^cargo$/, hosts: ["index.crates.io:443", "static.crates.io:443", "crates.io:443"] },
  { programs: /^go$/, hosts: ["proxy.golang.org:443", "sum.golang.org:443", "storage.googleapis.com:443"] },
  { programs: /^(?:gem|bundle|bundler)$/, hosts: ["rubygems.org:443", "index.rubygems.org:443"] },
  { programs: /^composer$/, hosts: ["repo.packagist.org:443", "api.github.com:443", "codeload.github.com:443"] },
  { programs: /^(?:mvn|mvnw|gradle|gradlew)$/, hosts: ["repo.maven.apache.org:443", "plugins.gradle.org:443", "repo1.maven.org:443"] },
  { programs: /^(?:dotnet|nuget)$/, hosts: ["api.nuget.org:443"] },
  { programs: /^gh$/, hosts: ["api.github.com:443", "github.com:443"] },
];
/** Options of programs for the network whose value is no host. */
const VALUES =
  /^-(?:o|O|d|H|X|u|A|e|b|c|i|p|P|l|F|T|m|w|L|D|R|S|E|J|q|B)$|^--(?:data(?:-\w+)?|header|request|user|user-agent|output|referer|cookie|form|max-time|upload-file|post-data)$/;

/** What the sandbox would have to open for a line that asks: hosts and ports, paths outside. Sorted, without doubles. */
export function grantsOf(findings: Finding[], lowered: Lowered[]): string[] {
  const grants = new Set<string>();
  for (const finding of findings) {
    if (finding.verdict !== "ask") continue;
    for (const grant of finding.grants ?? []) grants.add(grant);
    if (finding.code !== "network" && finding.code !== "install") continue;
    if (finding.grants !== undefined && finding.grants.length > 0) continue;
    const command = lowered[finding.command];
    for (const grant of command === undefined ? [ANYWHERE] : hostsOf(programOf(command.argv), command.argv.slice(1))) grants.add(grant);
  }
  if (grants.has(ANYWHERE)) for (const grant of [...grants]) if (grant.startsWith("network=") && grant !== ANYWHERE) grants.delete(grant);
  return [...grants].sort().slice(0, MOST_GRANTS);
}

function programOf(argv: Arg[]): string {
  return argv[0]?.value.replace(/^.*\/(?=[^/]+$)/, "") ?? "";
}

/** The hosts that a command names, or anywhere when it names none that can be read. */
export function hostsOf(called: string, args: Arg[]): string[] {
  const program = called.replace(/ .*$/, "");
  if (args.some((arg) => arg.kind === "free" || arg.glob >= 0)) return [ANYWHERE];
  if (ELSEWHERE.some(({ programs, options }) => programs.test(program) && args.some((arg) => options.test(arg.value)))) return [ANYWHERE];
  const known = REGISTRIES.find((one) => one.programs.test(program))?.hosts ?? [];
  const named = namedHosts(program, args);
  // What comes on top of the registry, and what is fetched from somewhere else but needs others.
  const more =
    args.some((arg) => /^--extra-index-url/.test(arg.value)) ||
    (known.length > 0 && !args.some((arg) => /^(?:-i|--index-url|--registry)(?:=|$)/.test(arg.value)));
  if (named.length > 0) return (more ? [...known, ...named] : named).map((host) => `network=${host}`);
  if (/^(?:ssh|scp|sftp|rsync|curl|wget|nc|ncat|netcat|telnet|ping|http|https|dig|nslookup|host)$/.test(program))
    return bareHost(program, args);
  return known.length === 0 ? [ANYWHERE] : known.map((host) => `network=${host}`);
}

/** Options that lead elsewhere than the words say: jumps, proxies, files of addresses, other transports. */
const ELSEWHERE: { programs: RegExp; options: RegExp }[] = [
  { programs: /^(?:ssh|scp|sftp|mosh|autossh)$/, options: /^-[oJFWSw]/ },
  { programs: /^rsync$/, options: /^(?:-\w*e|--rsh|--rsync-path)/ },
  {
    programs: /^curl$/,
    options: /^(?:-[sSfLkgvi]*[xK]|--(?:proxy|preproxy|socks\w*|config|connect-to|resolve|doh-url)(?:=|$))/,
  },
  { programs: /^wget$/, options: /^(?:-i|-e|-r|-m|--(?:input-file|execute|recursive|mirror|config|span-hosts))/ },
  { programs: /^(?:npm|yarn|pnpm|bun)$/, options: /^(?:@?[\w-]+\/[\w.-]+#|[\w-]+\/[\w.-]+$|(?:github|gitlab|bitbucket|gist):)/ },
  { programs: /^(?:docker|podman|kubectl|helm|aws|gcloud|az|mail|mailx|sendmail|msmtp)$/, options: /^/ },
];
/** Programs to which `name:path` is a place on another machine. */
const REMOTE = /^(?:git|ssh|scp|sftp|rsync|mosh|autossh|ssh-copy-id|ssh-keyscan)$/;

function namedHosts(program: string, args: Arg[]): string[] {
  const port = portOf(program, args);
  return args.flatMap((arg, at) => {
    const before = args[at - 1]?.value ?? "";
    // `-d https://...` is what is sent, not where.
    if (/^(?:curl|wget|http|https)$/.test(program) && VALUES.test(before)) return [];
    const value = /^--(?:registry|index-url|extra-index-url|url)=/.test(arg.value)
      ? arg.value.slice(arg.value.indexOf("=") + 1)
      : arg.value;
    const host = hostOf(value, REMOTE.test(program), port);
    return host === null ? [] : [host];
  });
}

/** `ssh -p 2222`, `scp -P2222`: the port that the words themselves do not name. */
function portOf(program: string, args: Arg[]): string | undefined {
  const option = program === "ssh" ? "-p" : /^(?:scp|sftp)$/.test(program) ? "-P" : undefined;
  if (option === undefined) return undefined;
  const at = args.findIndex((arg) => arg.value.startsWith(option));
  const value = args[at]?.value.slice(option.length) || args[at + 1]?.value;
  return at >= 0 && /^\d{1,5}$/.test(value ?? "") ? value : undefined;
}

/** `https://example.com/x`, and where a program takes them `git@example.com:x/y.git` and `user@host:path`. */
function hostOf(word: string, remote: boolean, ssh: string | undefined): string | null {
  const [, scheme, host, port] =
    /^(?:git\+)?([a-z][a-z0-9.-]*):\/\/(?:[^/@\s\\]*@)?([A-Za-z0-9.-]+|\[[\da-fA-F:]+\])(?::(\d{1,5}))?(?:[/?#]|$)/.exec(word) ?? [];
  if (scheme !== undefined && host !== undefined) {
    const number = port === undefined ? PORTS[scheme] : Number(port);
    return number === undefined ? null : `${host.toLowerCase()}:${number}`;
  }
  if (!remote) return null;
  const there =
    /^(?:[\w.-]+@)?([A-Za-z0-9][A-Za-z0-9.-]*\.[A-Za-z]{2,}):(?!\/\/)\S*$/.exec(word)?.[1] ??
    /^[\w.-]+@([A-Za-z0-9.-]+)(?::\S*)?$/.exec(word)?.[1];
  return there === undefined ? null : `${there.toLowerCase()}:${ssh ?? 22}`;
}

/** A host without a scheme: `ssh web1`, `curl example.com/x`, `nc example.com 25`. */
function bareHost(program: string, args: Arg[]): string[] {
  const words = args.filter((arg, at) => !arg.value.startsWith("-") && !VALUES.test(args[at - 1]?.value ?? "")).map((arg) => arg.value);
  const [target, second] = words;
  const [, host, port] = /^([A-Za-z0-9][A-Za-z0-9.-]*)(?::(\d{1,5}))?(?:\/|$)/.exec(target ?? "") ?? [];
  if (host === undefined || /^(?:ping|dig|nslookup|host|rsync|scp)$/.test(program)) return [ANYWHERE];
  // A number is the value of an option that is not known here.
  if (/^\d+$/.test(host)) return [ANYWHERE];
  const usual: Record<string, number> = { ssh: 22, sftp: 22, telnet: 23, curl: 80, wget: 80, http: 80, https: 443 };
  const number = port ?? portOf(program, args) ?? (/^n/.test(program) ? second : undefined) ?? usual[program];
  return /^\d{1,5}$/.test(String(number)) ? [`network=${host.toLowerCase()}:${number}`] : [ANYWHERE];
}
