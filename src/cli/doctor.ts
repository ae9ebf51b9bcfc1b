import { execa } from "execa";
import { openSandbox } from "../app.ts";
import { type Config, readConfig } from "../config.ts";
import { DeckhandError, NotStarted, asDeckhandError } from "../core/errors.ts";

/** One requirement: `look` gives what it saw when all is well, and the lines of what is wrong otherwise. */
interface Check {
  name: string;
  look(): Promise<{ fine: string } | { wrong: string[] }>;
}

/** `deckhand doctor`: every requirement checked, each failure with its code and mend; 0 when all is well. */
export async function doctorCommand(args: string[]): Promise<number> {
  if (args.length > 0) throw new DeckhandError("BAD_INPUT", "deckhand doctor takes no arguments");
  const read = readConfig();
  const checks = [nodeCheck(), ...["git", "setpriv", "flock", "prlimit"].map(programCheck)];
  if ("config" in read) checks.push(fine("configuration", "read"), ...configChecks(read.config));
  else
    checks.push({ name: "configuration", look: async () => ({ wrong: read.problems.map((p) => new DeckhandError("CONFIG", p).line()) }) });
  let failures = 0;
  for (const check of checks) {
    const found = await look(check);
    if ("fine" in found) process.stdout.write(`ok    ${check.name}: ${found.fine}\n`);
    else for (const line of found.wrong) process.stdout.write(`FAIL  ${check.name}: ${line}\n`);
    failures += "fine" in found ? 0 : 1;
  }
  process.stdout.write(failures === 0 ? "Everything is in place.\n" : `${failures} of ${checks.length} checks failed.\n`);
  return failures === 0 ? 0 : 1;
}

async function look(check: Check): ReturnType<Check["look"]> {
  try {
    return await check.look();
  } catch (thrown) {
    return { wrong: thrown instanceof NotStarted ? thrown.lines : [asDeckhandError(thrown).line()] };
  }
}

function fine(name: string, what: string): Check {
  return { name, look: async () => ({ fine: what }) };
}

function nodeCheck(): Check {
  const [major = 0, minor = 0] = process.versions.node.split(".").map(Number);
  const old = major < 22 || (major === 22 && minor < 18);
  if (!old) return fine("node", process.versions.node);
  return { name: "node", look: async () => ({ wrong: [new DeckhandError("NODE_OLD", process.versions.node).line()] }) };
}

function programCheck(program: string): Check {
  return {
    name: program,
    async look() {
      const { exitCode } = await execa(program, ["--version"], { reject: false });
      return exitCode === 0 ? { fine: "installed" } : { wrong: [new DeckhandError("PROGRAM_MISSING", program).line()] };
    },
  };
}

function configChecks(config: Config): Check[] {
  const checks: Check[] = [
    {
      name: "redis",
      async look() {
        const { checkRedis } = await import("../redis/check.ts");
        const wrong = await checkRedis(config.redisUrl, { loopbackIsSafe: config.sandbox === "bwrap" });
        return wrong.length > 0 ? { wrong } : { fine: "durable, does not evict" };
      },
    },
    ...config.workspaces.map((workspace) => workspaceCheck(config, workspace)),
    {
      name: "model",
      async look() {
        const { modelHealth } = await import("../model/health.ts");
        return { fine: await modelHealth(config.model) };
      },
    },
    accessCheck(config),
    slackCheck(config),
  ];
  if (config.workspaces.length === 0) {
    const wrong = [new DeckhandError("CONFIG", "no workspace: set DECKHAND_WORKSPACES=name=/path").line()];
    checks.push({ name: "workspaces", look: async () => ({ wrong }) });
  }
  return checks;
}

function workspaceCheck(config: Config, workspace: Config["workspaces"][number]): Check {
  return {
    name: `workspace ${workspace.name}`,
    async look() {
      const opened = await openSandbox(config, [workspace]);
      await opened.sandbox.close();
      return { fine: opened.workspaces.get(workspace.name)?.badge ?? "" };
    },
  };
}

function accessCheck(config: Config): Check {
  const unset = [
    ...(config.users.length > 0 || config.workspaces.every((w) => w.users) ? [] : ["nobody may ask: set DECKHAND_USERS"]),
    ...(config.approvers.length > 0 || config.workspaces.every((w) => w.approvers) ? [] : ["nobody may approve: set DECKHAND_APPROVERS"]),
  ];
  const wrong = unset.map((text) => new DeckhandError("CONFIG", text).line());
  return { name: "access", look: async () => (wrong.length > 0 ? { wrong } : { fine: "somebody may ask and somebody may approve" }) };
}

function slackCheck(config: Config): Check {
  return {
    name: "slack",
    async look() {
      if (!config.slack)
        return { wrong: [new DeckhandError("CONFIG", "no chat platform: set SLACK_BOT_TOKEN and SLACK_APP_TOKEN").line()] };
      const { slackHealth } = await import("../chat/slack/health.ts");
      const wrong = await slackHealth(config.slack);
      return wrong.length > 0 ? { wrong } : { fine: "tokens, scopes and Socket Mode" };
    },
  };
}
