import { judge } from "../core/gate.ts";
import { scriptFiles } from "../core/gate/script-files.ts";
import type { Tool } from "../core/ports.ts";
import { LIMITS } from "../limits.ts";

const SECOND = 1000;
const TIMEOUT = LIMITS.commandTime / SECOND;
const TIMEOUT_MAX = LIMITS.commandTimeMax / SECOND;
const NAMES = new Set(["command", "timeout_seconds"]);

const DESCRIPTION = `Run a bash command in the team's workspace and get its output and exit code. This is your only way to look at files, search, run tests and change things, so use it instead of guessing or of telling people what to type.
- Each call is a fresh, non-interactive bash. The folder it ends in and the variables it exports carry over to your next message's calls; functions, aliases and background processes do not. Calls of one message all start in the same folder.
- There is no network unless a person approves it for that one command, and stdin is closed: a command that waits for input gets none. Use flags such as --yes or -m.
- stdout and stderr come back together, in order. Of a long output you get only the beginning (about ${LIMITS.outputModel / 4000} kB) and the end (about ${(LIMITS.outputModel * 3) / 4000} kB): narrow it with grep, head or sed -n.
- What only reads, or stays inside the workspace, runs at once. What deletes, installs, uses the network, leaves the workspace or cannot be understood from its text waits until a person approves it, and some commands are never run. One plain, small step per call is approved soonest. If a command is denied, do not try to reach the same by another way.
- It ends after ${TIMEOUT} seconds unless you set timeout_seconds, with everything it started; nothing keeps running in the background.`;

/** The `bash` tool: one command line in the sandbox. `act.title` is the command, byte for byte. */
export const tool: Tool = {
  spec: {
    name: "bash",
    description: DESCRIPTION,
    parameters: {
      type: "object",
      properties: {
        command: { type: "string", description: "The command line, exactly as bash shall run it. Several lines are fine." },
        timeout_seconds: {
          type: "integer",
          minimum: 1,
          maximum: TIMEOUT_MAX,
          description: `Seconds after which the command is ended: ${TIMEOUT} when left out, at most ${TIMEOUT_MAX} (more counts as ${TIMEOUT_MAX}).`,
        },
      },
      required: ["command"],
      additionalProperties: false,
    },
  },

  check(args) {
    const { command, timeout_seconds: timeout } = args;
    const problem = problemOfCommand(command) ?? problemOfTimeout(timeout) ?? problemOfNames(args);
    if (problem !== null || typeof command !== "string") return { problem: problem ?? "command must be a string." };
    const seconds = typeof timeout === "number" ? Math.min(timeout, TIMEOUT_MAX) : TIMEOUT;
    return { act: { title: command, timeoutMs: seconds * SECOND } };
  },

  judge(act, place) {
    return judge(act.title, place);
  },

  files(act, place) {
    return scriptFiles(act.title, place);
  },

  run(act, at, options) {
    const { sandbox, ...spec } = at;
    return sandbox.run({ ...spec, command: act.title, timeoutMs: act.timeoutMs }, options);
  },
};

function problemOfCommand(command: unknown): string | null {
  if (command === undefined || command === null) return 'command is missing: give it as a string, such as {"command": "ls -la"}.';
  if (typeof command !== "string") return `command must be a string, not ${kindOf(command)}.`;
  if (command.trim() === "") return "command is empty.";
  if (command.includes("\0")) return "command contains a NUL character, which bash cannot take.";
  if (!command.isWellFormed()) return "command contains half of a surrogate pair, which is not a character.";
  const bytes = new TextEncoder().encode(command).length;
  if (bytes > LIMITS.commandBytes) {
    return `command has ${bytes} bytes, at most ${LIMITS.commandBytes} can be run. Do it in several smaller commands.`;
  }
  return null;
}

function problemOfTimeout(timeout: unknown): string | null {
  // Models that must fill every argument send null for one that they leave out.
  if (timeout === undefined || timeout === null) return null;
  if (typeof timeout === "number" && Number.isInteger(timeout) && timeout >= 1) return null;
  const given = typeof timeout === "number" || typeof timeout === "string" ? JSON.stringify(timeout) : kindOf(timeout);
  return `timeout_seconds must be a whole number of seconds from 1 to ${TIMEOUT_MAX}, not ${given}.`;
}

function problemOfNames(args: Record<string, unknown>): string | null {
  const unknown = Object.keys(args).filter((name) => !NAMES.has(name));
  return unknown.length === 0 ? null : `bash takes only command and timeout_seconds; it does not know ${unknown.join(", ")}.`;
}

function kindOf(value: unknown): string {
  return Array.isArray(value) ? "a list" : value === null ? "null" : typeof value === "object" ? "an object" : `a ${typeof value}`;
}
