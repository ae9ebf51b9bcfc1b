/** Files that usually hold credentials: what they say would be posted to the thread. `HEAD:.env` names one too. */
const PRIVATE_FILE =
  /(?:^|[/:])(?:\.env(?:\.(?!example$|sample$|template$)[^/]*)?|\.envrc|\.npmrc|\.pypirc|\.netrc|\.pgpass|\.htpasswd|\.git-credentials|\.(?:aws|docker|kube)\/(?:credentials|config|config\.json)|id_(?:rsa|dsa|ecdsa|ed25519)|[^/]*\.(?:pem|key|p12|pfx|jks|keystore))$/;
/** Names that a wildcard is tried on. */
const NAMES = [
  ".env",
  ".env.local",
  ".envrc",
  ".npmrc",
  ".pypirc",
  ".netrc",
  ".pgpass",
  ".htpasswd",
  ".git-credentials",
  "id_rsa",
  "id_ed25519",
];
const ENDINGS = ["pem", "key", "p12", "pfx", "jks", "keystore"];

/** Whether a file usually holds credentials. */
export function isPrivate(path: string): boolean {
  return PRIVATE_FILE.test(path);
}

/** Whether a pattern aims at such files. `*` and `src/*` do not, although they may meet one. */
export function mayBePrivate(pattern: string): boolean {
  if (isPrivate(pattern)) return true;
  const last = pattern.slice(pattern.lastIndexOf("/") + 1);
  const dot = last.lastIndexOf(".");
  return aims(last, NAMES) || (dot >= 0 && aims(last.slice(dot + 1), ENDINGS));
}

function aims(pattern: string, names: string[]): boolean {
  if (!/\w/.test(pattern.replace(/\[[^\]]*\]/g, "x")) && !pattern.startsWith(".")) return false;
  // What stands in brackets counts as any character.
  const parts = pattern.replace(/\[[^\]]*\]/g, "?").split(/([*?])/);
  const source = parts.map((part) => (part === "*" ? ".*" : part === "?" ? "." : part.replace(/[^\w]/g, "\\$&"))).join("");
  // A wildcard does not stand for a dot at the beginning.
  return names.some((name) => name.startsWith(".") === pattern.startsWith(".") && new RegExp(`^${source}$`).test(name));
}
