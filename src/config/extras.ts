import { z } from "zod";
import { hostAndPort, plainHost } from "../core/grants.ts";
import { SHORTEST_SECRET } from "../core/redactor.ts";
import { steersPrograms } from "../core/variables.ts";
import { workspacePath } from "./values.ts";

/** What a workspace gives to its commands beside its folder: the pieces of `deckhand.yaml` for that. */

/** A secret that a command gets when its card says so. */
export interface Credential {
  /** Deckhand's own variable that holds the value. */
  from: string;
  /** The command's variable. */
  env: string;
  /** The host for which git uses it; null: git does not. */
  host: string | null;
  value: string;
}

/** Deckhand's environment: what a variable says, null when it is unset; and those that no command may ever get. */
export interface Variables {
  value(name: string): string | null;
  isOwn(name: string): boolean;
}

const SAY = {
  read: "must be an absolute path, such as /opt/node",
  network: "is written HOST:PORT, such as registry.npmjs.org:443",
  name: "a credential's name has only letters, digits, _ and -",
  from: "must be the name of an environment variable of Deckhand in capitals, such as GITHUB_TOKEN; the value itself never stands here",
  env: "must be the name of an environment variable, such as GITHUB_TOKEN",
  steers: "is a variable that changes what programs do; take another name",
  host: "must be the name of a host, such as github.com",
};

export const PATHS = z.array(
  z
    .string()
    .refine((text) => workspacePath(text) !== null, SAY.read)
    .transform((text) => workspacePath(text) ?? text),
);

export const HOSTS = z.array(
  z.string().transform((text, context) => {
    const found = hostAndPort(text);
    if (found !== null) return found;
    context.addIssue({ code: "custom", message: SAY.network });
    return z.NEVER;
  }),
);

export const CREDENTIALS = z.record(
  z.string().regex(/^[\w-]{1,64}$/, SAY.name),
  z.strictObject({
    from: z.string().regex(/^[A-Z_][A-Z0-9_]*$/, SAY.from),
    env: z
      .string()
      .regex(/^[A-Za-z_][A-Za-z0-9_]*$/, SAY.env)
      .refine((name) => !steersPrograms(name), SAY.steers),
    host: z
      .string()
      .refine((text) => plainHost(text) !== null, SAY.host)
      .transform((text) => text.toLowerCase())
      .optional(),
  }),
);

/** With their values; each problem begins with the credential's name. */
export function readCredentials(
  written: z.infer<typeof CREDENTIALS>,
  variables: Variables,
  report: (problem: string) => void,
): Record<string, Credential> {
  const all = Object.entries(written);
  const seen = new Set<string>();
  for (const [name, { env, host }] of all) {
    for (const what of [env, ...(host === undefined ? [] : [`host ${host}`])]) {
      if (seen.has(what)) report(`${name}: another credential is for ${what}, too`);
      seen.add(what);
    }
  }
  return Object.fromEntries(
    all.map(([name, { from, env, host }]) => {
      const value = variables.value(from) ?? "";
      const problem = wrong(from, value, variables);
      if (problem !== null) report(`${name}: from: ${problem}`);
      return [name, { from, env, host: host ?? null, value }];
    }),
  );
}

function wrong(from: string, value: string, variables: Variables): string | null {
  if (variables.isOwn(from)) return `${from} is Deckhand's own and goes to no command; make one for this`;
  if (value === "") return `${from} is not set; set it for Deckhand, or take the credential away`;
  if (!/^[\x20-\x7E]+$/.test(value)) return `what ${from} holds must be one line of plain ASCII`;
  return value.length < SHORTEST_SECRET
    ? `what ${from} holds is too short to be kept out of outputs: ${SHORTEST_SECRET} characters at least`
    : null;
}
