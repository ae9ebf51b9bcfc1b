import { randomBytes } from "node:crypto";
import { join } from "node:path";
import { asDeckhandError, DeckhandError } from "../core/errors.ts";
import { type Grant, parseGrant } from "../core/grants.ts";
import type { Reach, RunResult, RunSpec } from "../core/sandbox.ts";
import { bridgePrelude, PROXY_SOCKET, proxyEnv } from "./bridge.ts";
import type { Bind } from "./bwrap-args.ts";
import { type Credential, gitCredentialEnv } from "./credentials.ts";
import { becomes, type RunUser } from "./launch.ts";
import { checkPathGrant, type PathGrantOptions } from "./path-grants.ts";
import { openProxy, type ProxyOptions } from "./proxy.ts";
import type { SandboxOptions, WorkspaceExtras } from "./options.ts";

/** What one run gets beyond the sandbox that every command gets. */
export interface Extra {
  /** Opened by the runner, with no link on the way. */
  opens: { path: string; writable: boolean }[];
  binds: Bind[];
  env: Record<string, string>;
  git: Record<string, string>;
  /** Words for bubblewrap that hold secrets. */
  secretArgs: string[];
  prelude: string;
  /** Ends what was opened for the run. Never rejects. */
  close(): Promise<Pick<RunResult, "network">>;
}

const NOTHING: WorkspaceExtras = { read: [], network: [], credentials: {} };

/** Whether a person stands behind it: then it starts afresh, and gets what it was granted. */
export function isGranted(reach: Reach): boolean {
  return reach === "approved" || reach === "ruled";
}

/** Throws GRANT_REFUSED for what cannot be given. Only an approved run gets grants. */
export async function openGrants(spec: RunSpec, user: RunUser, options: SandboxOptions): Promise<Extra> {
  const own = options.extras?.get(spec.workspace) ?? NOTHING;
  const grants = (spec.grants ?? []).map(parseGrant);
  if (grants.length > 0 && !isGranted(spec.reach)) throw new DeckhandError("GRANT_REFUSED", "only an approved command gets more");
  const limits = limitsOf(spec.workspace, options);
  const opens = [
    ...own.read.map((path) => ({ path: checkPathGrant(path, limits), writable: false })),
    ...grants.flatMap((grant) =>
      grant.kind === "read" || grant.kind === "write"
        ? [{ path: checkPathGrant(grant.path, limits), writable: grant.kind === "write" }]
        : [],
    ),
  ];
  const credentials = grants.flatMap((grant) => (grant.kind === "credential" ? [credentialOf(grant.name, own)] : []));
  const allows = [...own.network, ...grants.flatMap(hostOf)];
  const network = spec.reach === "probe" || allows.length === 0 ? null : await networkFor(allows, user, options);
  return {
    opens,
    binds: network?.binds ?? [],
    env: network?.env ?? {},
    git: gitCredentialEnv(credentials),
    secretArgs: credentials.flatMap(({ env, value }) => ["--setenv", env, value]),
    prelude: network?.prelude ?? "",
    close: async () => (network === null ? {} : await network.close()),
  };
}

/** Why these grants cannot be given in this workspace; null when they can. */
export function lacks(workspace: string, grants: readonly string[], options: SandboxOptions): string | null {
  try {
    const own = options.extras?.get(workspace) ?? NOTHING;
    for (const grant of grants.map(parseGrant)) {
      if (grant.kind === "credential") credentialOf(grant.name, own);
      if (grant.kind === "read" || grant.kind === "write") checkPathGrant(grant.path, limitsOf(workspace, options));
    }
    return null;
  } catch (thrown) {
    return asDeckhandError(thrown).what;
  }
}

function limitsOf(workspace: string, { stateDir, apart = [], extras }: SandboxOptions): PathGrantOptions {
  return { stateDir, apart, workspaces: [...(extras?.keys() ?? [])].filter((path) => path !== workspace) };
}

function hostOf(grant: Grant): ProxyOptions["allows"] {
  return grant.kind === "network" ? [{ host: grant.host, port: grant.port }] : [];
}

function credentialOf(name: string, { credentials }: WorkspaceExtras): Credential & { value: string } {
  const found = credentials[name];
  if (found === undefined) throw new DeckhandError("GRANT_REFUSED", `this workspace has no credential "${name}"`);
  return found;
}

async function networkFor(allows: ProxyOptions["allows"], user: RunUser, options: SandboxOptions) {
  // A short name: a socket's path has room for about 100 characters.
  const socket = join(options.stateDir, "net", randomBytes(6).toString("hex"));
  const proxy = await openProxy({ socket, owner: becomes(user), allows, ...options.network });
  return {
    binds: [{ from: socket, to: PROXY_SOCKET, writable: true }],
    env: proxyEnv(),
    prelude: bridgePrelude(),
    close: async (): Promise<Pick<RunResult, "network">> => {
      await proxy.close();
      return { network: proxy.attempts() };
    },
  };
}
