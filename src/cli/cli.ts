import { resolve } from "node:path";
import { DeckhandError, NotStarted, asDeckhandError } from "../core/errors.ts";
import { realpathOf } from "../system.ts";

interface Command {
  usage: string;
  help: string;
  run(args: string[]): Promise<number>;
}

/** Each command is loaded when it is asked for: most need none of the SDKs. */
const COMMANDS: Record<string, Command> = {
  start: {
    usage: "start [--role all|gateway|worker]",
    help: "serve the chat and run the work",
    run: async (args) => (await import("./start.ts")).startCommand(args),
  },
  run: {
    usage: 'run [--workspace DIR] [--approve ask|never|auto] [--json] "task"',
    help: "one conversation in this terminal, without chat and Redis",
    run: async (args) => (await import("./run.ts")).runCommand(args),
  },
  judge: {
    usage: "judge [--workspace DIR] [--posture careful|contained]",
    help: 'JSON lines {"command"} on standard input -> the gate\'s verdicts',
    run: async (args) => (await import("./judge.ts")).judgeCommand(args),
  },
  sandbox: {
    usage: "sandbox [--workspace DIR] [--approved] [--grant GRANT] -- COMMAND",
    help: "run a command as a worker would, without the gate; one JSON line",
    run: async (args) => (await import("./sandbox.ts")).sandboxCommand(args),
  },
  demo: {
    usage: "demo",
    help: "everything at once with no account: a mention, an approval, an answer",
    run: async (args) => (await import("./demo.ts")).demoCommand(args),
  },
  doctor: {
    usage: "doctor [--live CHANNEL]",
    help: "check every requirement and say how to mend what is missing; --live also tries it all in a channel, with one press of yours",
    run: async (args) => (await import("./doctor.ts")).doctorCommand(args),
  },
  trace: {
    usage: "trace CONVERSATION [--json]",
    help: "what happened in a conversation: steps, calls, approvals, results, times",
    run: async (args) => (await import("./trace.ts")).traceCommand(args),
  },
  retry: {
    usage: "retry CONVERSATION",
    help: "let a conversation go on that was set aside because its worker ended again and again",
    run: async (args) => (await import("./retry.ts")).retryCommand(args),
  },
  rules: {
    usage: "rules [revoke NAME] [--json]",
    help: "the rules of deckhand.yaml and those that people stored, with owner, end and hits; or take a stored one back",
    run: async (args) => (await import("./rules.ts")).rulesCommand(args),
  },
  manifest: {
    usage: "manifest slack | manifest discord [APPLICATION_ID]",
    help: "what to set on the platform's pages: Slack's app manifest, or Discord's intents, permissions and invite link",
    run: async (args) => (await import("./manifest.ts")).manifestCommand(args),
  },
};

/** Names of the commands, for the README's test. */
export const COMMAND_NAMES = Object.keys(COMMANDS);

const EXIT = { usage: 2, notStarted: 3, interrupted: 130 } as const;

/** Codes that mean "not started": configuration, programs, Redis, sandbox, workspace, tools, tokens. */
const NOT_STARTED = /^(CONFIG|NODE|PROGRAM|REDIS|SANDBOX|RUN_AS|STATE|TOOL|WORKSPACE|SLACK|DISCORD)/;

/**
 * Runs `deckhand ARGS` and gives the exit code: 0 done, 1 failed, 2 usage, 3 not started, 130 interrupted.
 * Problems go to standard error as one line each with their code.
 */
export async function cli(args: string[]): Promise<number> {
  const [name = "", ...rest] = args;
  mindClosedPipes(name);
  if (["--help", "-h", "help"].includes(name)) return print(usage(), process.stdout, 0);
  const command = Object.hasOwn(COMMANDS, name) ? COMMANDS[name] : undefined;
  if (!command) return print(name ? `There is no command "${name}".\n${usage()}` : usage(), process.stderr, EXIT.usage);
  const options = rest.includes("--") ? rest.slice(0, rest.indexOf("--")) : rest;
  if (options.includes("--help") || options.includes("-h")) return print(`deckhand ${command.usage}\n  ${command.help}`, process.stdout, 0);
  try {
    return await command.run(rest);
  } catch (thrown) {
    if (isUsage(thrown)) return print(`${(thrown as Error).message}\nUse: deckhand ${command.usage}`, process.stderr, EXIT.usage);
    if (thrown instanceof NotStarted) return print(thrown.lines.join("\n"), process.stderr, EXIT.notStarted);
    const error = asDeckhandError(thrown);
    const code =
      error.code === "BAD_INPUT" || error.code === "BAD_CONVERSATION" ? EXIT.usage : NOT_STARTED.test(error.code) ? EXIT.notStarted : 1;
    return print(error.line(), process.stderr, code);
  }
}

/** Who reads our output may go before its end, as `head` does: then we go too, but for a server. */
function mindClosedPipes(command: string): void {
  process.stdout.on("error", () => {
    if (command !== "start") process.exit(EXIT.interrupted);
  });
  process.stderr.on("error", () => {}); // there is nobody left to tell
}

function isUsage(thrown: unknown): boolean {
  return thrown instanceof TypeError && "code" in thrown && String(thrown.code).startsWith("ERR_PARSE_ARGS");
}

/** One of the allowed words, or a usage error that lists them. */
export function oneOf<T extends string>(option: string, value: string, allowed: readonly T[]): T {
  const found = allowed.find((word) => word === value);
  if (found === undefined) throw new DeckhandError("BAD_INPUT", `${option} takes ${allowed.join(", ")}, not "${value}"`);
  return found;
}

/** The real folder that an option names, seen from where the command was typed. */
export function folderAt(option: string): string {
  const path = resolve(option);
  return realpathOf(path) ?? path;
}

function usage(): string {
  const lines = Object.values(COMMANDS).map((c) => `  deckhand ${c.usage}\n      ${c.help}`);
  return `Deckhand: a hand on deck for a team's chat.\n\n${lines.join("\n")}`;
}

function print(text: string, to: NodeJS.WriteStream, code: number): number {
  to.write(`${text}\n`);
  return code;
}
