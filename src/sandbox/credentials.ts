/** A secret that a command may get, and where. Its value is kept apart. */
export interface Credential {
  /** The variable that a command finds it in. */
  env: string;
  /** The host that git uses it for; null: git does not use it. */
  host: string | null;
}

/**
 * Settings of git, name and value, with which it uses these for their hosts. The values stand in variables and are
 * written by the shell itself: they are in no process's words.
 */
export function gitCredentialEnv(credentials: readonly Credential[]): Record<string, string> {
  const helpers = credentials.flatMap(({ env, host }) => (host === null ? [] : [[`credential.https://${host}.helper`, helper(env)]]));
  // The empty one comes first and takes all others away: they would be asked before ours, and told what worked.
  return helpers.length === 0 ? {} : Object.fromEntries([["credential.helper", ""], ...helpers]);
}

function helper(env: string): string {
  return `!f() { test "$1" = get && printf 'username=x-access-token\\npassword=%s\\n' "$${env}"; }; f`;
}
