import { type Dirent, existsSync, lstatSync, readdirSync, realpathSync, type Stats } from "node:fs";
import { basename, normalize } from "node:path";
import { DeckhandError, messageOf } from "../core/errors.ts";
import { within } from "../core/gate/paths.ts";
import { visible } from "../core/visible.ts";
import { homes } from "./user.ts";
import { holds, SHARED, SYSTEM } from "./workspace.ts";

export interface PathGrantOptions {
  /** Deckhand's state folder. */
  stateDir: string;
  /** Deckhand's other files and folders: the program, its configuration. */
  apart: readonly string[];
  /** Folders of the workspaces that are not the command's own. */
  workspaces: readonly string[];
  /** Home folders of people. Those of this machine's accounts when left out. */
  homes?: readonly string[];
}

/** The system's own beside those that can be no workspace: what is started by the clock, and the kernel's other names. */
const MORE_SYSTEM = ["/root", "/lost+found", "/var/spool", "/var/run", "/var/lock", "/var/lib/docker", "/var/lib/containerd"];

/** Names of files and folders that hold keys or passwords, wherever they stand. */
const KEYS =
  /^(?:\.(?:ssh|gnupg|aws|azure|kube|docker|oci|netrc|git-credentials|npmrc|yarnrc\.yml|pypirc|pgpass|my\.cnf|htpasswd|vault-token|terraform\.d|password-store|mozilla|thunderbird|envrc)|_netrc|\.env(?:\.(?!example$|sample$|template$).*)?|id_(?:rsa|dsa|ecdsa|ed25519).*|keyrings|credentials(?:\.(?:json|toml|ya?ml|xml|ini|csv|db))?|.*\.(?:pem|key|p12|pfx|jks|keystore|kdbx|ppk))$/i;
/** The same for two names, one in the other. */
const KEYS_BELOW =
  /^(?:\.config\/(?:gcloud|gh|glab-cli|hub|op|sops|git|google-chrome|chromium)|\.m2\/settings.*\.xml|\.gem\/credentials)$/i;

/**
 * The real path of a file or folder that an approval may open to one command. Throws GRANT_REFUSED for everything that
 * belongs to the system, to Deckhand, to another workspace, to a whole home, for keys, for links, and for what is
 * neither file nor folder. Looks into a folder itself, not into those in it.
 */
export function checkPathGrant(path: string, options: PathGrantOptions): string {
  const refuse = (why: string) => new DeckhandError("GRANT_REFUSED", `${visible(path)} (${why})`);
  const stat = look(path, refuse);
  if (SHARED.includes(path) || [...SYSTEM, ...MORE_SYSTEM].some((folder) => within(path, folder))) throw refuse("a system folder");
  for (const [own, what] of belongings(options)) {
    if (holds(own, path) || holds(path, own)) throw refuse(what);
  }
  // The accounts of a directory service are not in the list.
  if (/^\/home\/[^/]+$/.test(path)) throw refuse("a whole home folder");
  for (const home of options.homes ?? homes().map(({ folder }) => folder)) {
    if (holds(path, home)) throw refuse(holds(home, path) ? "a whole home folder" : "there are home folders in it");
    // What starts at the next login, too.
    if (path.startsWith(`${existsSync(home) ? realpathSync(home) : home}/.`)) throw refuse("somebody's own settings and keys");
  }
  const key = keyIn(path.split("/").slice(1));
  if (key !== null) throw refuse(`${key} holds keys`);
  if (stat.isDirectory()) lookInto(path, refuse);
  return path;
}

/** Throws when it is not at this very path, or is no file and no folder. */
function look(path: string, refuse: (why: string) => DeckhandError): Stats {
  if (!path.startsWith("/") || path.includes("\0")) throw refuse("not an absolute path");
  let stat: Stats;
  let at: string;
  try {
    stat = lstatSync(path);
    at = realpathSync(path);
  } catch (thrown) {
    throw (thrown as NodeJS.ErrnoException).code === "ENOENT" ? refuse("it is not there") : refuse(messageOf(thrown));
  }
  if (at !== path)
    throw refuse(at === normalize(path).replace(/(?<=.)\/$/, "") ? `write it as ${visible(at)}` : `it leads to ${visible(at)}`);
  if (!stat.isFile() && !stat.isDirectory()) throw refuse("neither a file nor a folder");
  // Each of its names is as good as the other, and nobody sees the others.
  if (stat.isFile() && stat.nlink > 1) throw refuse("a file with more than one name");
  return stat;
}

function belongings({ stateDir, apart, workspaces }: PathGrantOptions): [path: string, what: string][] {
  return [
    [stateDir, "Deckhand's state folder"],
    ...apart.map((own): [string, string] => [own, "Deckhand's own files"]),
    ...workspaces.map((own): [string, string] => [own, "another workspace"]),
  ];
}

function keyIn(names: string[]): string | null {
  return names.find((name, at) => KEYS.test(name) || KEYS_BELOW.test(`${names[at - 1]}/${name}`)) ?? null;
}

function lookInto(path: string, refuse: (why: string) => DeckhandError): void {
  let entries: Dirent[];
  try {
    entries = readdirSync(path, { withFileTypes: true });
  } catch (thrown) {
    throw refuse(messageOf(thrown));
  }
  for (const entry of entries) {
    if (keyIn([basename(path), entry.name]) !== null) throw refuse(`keys are in it: ${visible(entry.name)}`);
    if (entry.isSocket()) throw refuse(`a socket is in it: ${visible(entry.name)}`);
  }
}
