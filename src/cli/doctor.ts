import { accessSync, constants, existsSync, statSync } from "node:fs";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { NOT_SET } from "../app.ts";
import { NO_SANDBOX, openSandbox } from "../app/sandbox.ts";
import { optionsOf } from "../app/models.ts";
import { type Config, readConfig, searchPath } from "../config.ts";
import { CHANNEL } from "../config/values.ts";
import { DeckhandError, NotStarted, asDeckhandError } from "../core/errors.ts";
import type { Fact } from "../core/ports.ts";
import type { EndpointOptions } from "../model/endpoint.ts";
import { countsMoney, limitsLine, priceLine } from "../core/spending.ts";
import { logTrace } from "../system.ts";
import { interruption } from "./keyboard.ts";

/** What was seen when all is well, and the lines of what is wrong otherwise. */
export type Found = { fine: string } | { wrong: string[] };

/** One requirement. */
interface Check {
  name: string;
  look(): Promise<Found>;
}

/** `deckhand doctor`: every requirement checked, each failure with its code and mend; 0 when all is well. */
export async function doctorCommand(args: string[]): Promise<number> {
  const { values, positionals } = parseArgs({ args, allowPositionals: true, options: { live: { type: "string" } } });
  const { live = null } = values;
  if (positionals.length > 0) throw new DeckhandError("BAD_INPUT", "deckhand doctor takes no arguments but --live CHANNEL");
  if (live !== null && !CHANNEL.test(live)) throw new DeckhandError("BAD_INPUT", "--live takes a channel: slack:C0123456 or discord:123");
  const read = await readConfig();
  const checks = [nodeCheck(), ...["git", "setpriv", "flock"].map((program) => programCheck(program))];
  if (!("config" in read) || read.config.sandbox === "bwrap") checks.push(programCheck("bwrap", new DeckhandError("SANDBOX_MISSING")));
  checks.push(socatCheck(), cgroupCheck());
  if ("config" in read) checks.push(fine("configuration", "read"), ...configChecks(read.config, live));
  else checks.push(broken("configuration", ...read.problems.map((problem) => new DeckhandError("CONFIG", problem))));
  const seen: Found[] = [];
  const tell = (name: string, found: Found): void => {
    seen.push(found);
    if ("fine" in found) process.stdout.write(`ok    ${name}: ${found.fine}\n`);
    else for (const line of found.wrong) process.stdout.write(`FAIL  ${name}: ${line}\n`);
  };
  for (const check of checks) tell(check.name, await look(check));
  if (live !== null && "config" in read) {
    const signal = interruption();
    await (await import("./live.ts")).liveCheck(read.config, live, { tell, signal });
    if (signal.aborted) return 130;
  }
  const failures = seen.filter((found) => "wrong" in found).length;
  process.stdout.write(failures === 0 ? "Everything is in place.\n" : `${failures} of ${seen.length} checks failed.\n`);
  return failures === 0 ? 0 : 1;
}

async function look(check: Check): Promise<Found> {
  try {
    return await check.look();
  } catch (thrown) {
    return { wrong: thrown instanceof NotStarted ? thrown.lines : [asDeckhandError(thrown).line()] };
  }
}

function fine(name: string, what: string): Check {
  return { name, look: async () => ({ fine: what }) };
}

function broken(name: string, ...wrong: DeckhandError[]): Check {
  return { name, look: async () => ({ wrong: wrong.map((error) => error.line()) }) };
}

function nodeCheck(): Check {
  const [major = 0, minor = 0] = process.versions.node.split(".").map(Number);
  const old = major < 22 || (major === 22 && minor < 18);
  return old ? broken("node", new DeckhandError("NODE_OLD", process.versions.node)) : fine("node", process.versions.node);
}

function programCheck(program: string, missing = new DeckhandError("PROGRAM_MISSING", program)): Check {
  const found = findProgram(program);
  return found === undefined ? broken(program, missing) : fine(program, found);
}

/** Without it there is one thing less that a person can approve; everything else works. */
function socatCheck(): Check {
  return fine("socat", findProgram("socat") ?? "not installed; network grants need it: `apt-get install socat`");
}

function findProgram(program: string): string | undefined {
  return searchPath()
    .map((folder) => join(folder, program))
    .find(isProgram);
}

function isProgram(file: string): boolean {
  try {
    accessSync(file, constants.X_OK);
    return statSync(file).isFile();
  } catch {
    return false; // not there, or not for us: the next folder may have it
  }
}

/** Tells of this very process: a worker that the service manager starts may have what a terminal has not. */
function cgroupCheck(): Check {
  return {
    name: "cgroup",
    async look() {
      const { cgroupsOff } = await import("../sandbox/cgroup.ts");
      const off = cgroupsOff();
      return {
        fine: off === null ? "memory and processes of each command are limited as a whole" : `no limits for a command as a whole: ${off}`,
      };
    },
  };
}

function configChecks(config: Config, live: string | null): Check[] {
  return [
    {
      name: "redis",
      async look() {
        const { lookAtRedis } = await import("../redis/check.ts");
        const { wrong, troubles, promise } = await lookAtRedis(config.redisUrl, { loopbackIsSafe: config.sandbox === "bwrap" });
        return wrong.length + troubles.length > 0 ? { wrong: [...wrong, ...troubles] } : { fine: promise };
      },
    },
    ...(config.sandbox === "none" ? [fine("sandbox", NO_SANDBOX)] : []),
    ...config.workspaces.map((workspace) => workspaceCheck(config, workspace)),
    ...(config.workspaces.length > 0 ? [claimsCheck(config)] : []),
    ...(config.workspaces.length === 0 ? [broken("workspaces", NOT_SET.workspace)] : []),
    ...config.models.all.map((model, index) => modelCheck(config, model, index === 0 ? "model" : `model ${model.name}`)),
    limitsCheck(config),
    accessCheck(config),
    ...chatChecks(config, live),
  ];
}

function modelCheck(config: Config, model: Config["models"]["all"][number], name: string): Check {
  return {
    name,
    async look() {
      const { knownOf, modelHealth } = await import("../model/health.ts");
      const options = optionsOf(model, config);
      return { fine: [await modelHealth(options), ...knownOf(options, await learnedOf(config, options))].join("; ") };
    },
  };
}

/** A limit in money holds nothing back while a price is not known. */
function limitsCheck({ limits, prices, model, models }: Config): Check {
  return {
    name: "limits",
    async look() {
      const { nameOfModel } = await import("../model/endpoint.ts");
      const priced = models.all.map((each) => {
        const by = nameOfModel({ ...model, model: each.model, baseUrl: each.baseUrl ?? model.baseUrl });
        return { model: each.model, price: priceLine(by, prices) };
      });
      const unknown = countsMoney(limits) ? priced.filter(({ price }) => price === null) : [];
      if (unknown.length > 0) return { wrong: unknown.map((each) => new DeckhandError("PRICE_UNKNOWN", each.model).line()) };
      return { fine: [limitsLine(limits), ...priced.map((each) => `price of ${each.model}: ${each.price ?? "unknown"}`)].join("; ") };
    },
  };
}

/** What the model's endpoint taught the workers; nothing while Redis does not answer, which is told above. */
async function learnedOf({ redisUrl }: Config, model: EndpointOptions): Promise<Fact[]> {
  const { nameOfModel } = await import("../model/endpoint.ts");
  const { redisLearned } = await import("../redis/learned.ts");
  const learned = redisLearned({ url: redisUrl, trace: logTrace("silent", []) });
  return await learned.read(nameOfModel(model), Date.now()).catch(() => []);
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

/** Which host has each workspace, and how many workers serve it now. */
function claimsCheck({ redisUrl, stateDir, workspaces }: Config): Check {
  return {
    name: "claims",
    async look() {
      const { claimed, hostId, readClaims } = await import("../redis/claim.ts");
      const { readWorkers } = await import("../redis/presence.ts");
      const own = existsSync(join(stateDir, "host-id")) ? hostId(stateDir) : null;
      const names = workspaces.map((workspace) => workspace.name);
      const trace = logTrace("silent", []);
      const asked = Promise.all([readClaims(redisUrl, trace, names), readWorkers(redisUrl, trace, names)]);
      const known = await asked.catch((thrown: unknown) => {
        if (asDeckhandError(thrown).code === "REDIS_DOWN") return null; // told above
        throw thrown;
      });
      if (known === null) return { fine: "not known while Redis does not answer" };
      const [claims, workers] = known;
      const all = [...claims].map(([name, by]) => ({ name, by, served: servedBy(workers.get(name)?.length ?? 0) }));
      const wrong = all.flatMap(({ name, by, served }) => (by === null || by.host === own ? [] : [claimed(name, by, served).line()]));
      if (wrong.length > 0) return { wrong };
      const ours = all.map(({ name, by, served }) => `${name} ${by === null ? "is free" : `belongs to this host (${by.name})`}, ${served}`);
      return { fine: ours.join("; ") };
    },
  };
}

function servedBy(workers: number): string {
  if (workers === 0) return "nobody serves it now";
  return workers === 1 ? "1 worker serves it now" : `${workers} workers serve it now`;
}

function accessCheck(config: Config): Check {
  const { workspaces, users, approvers } = config;
  // A workspace with a list of its own does without the general one.
  const own = (which: "users" | "approvers") => workspaces.length > 0 && workspaces.every((w) => (w[which] ?? []).length > 0);
  const unset = [
    ...(users.length > 0 || own("users") ? [] : ["nobody may ask: set DECKHAND_USERS"]),
    ...(approvers.length > 0 || own("approvers") ? [] : ["nobody may approve: set DECKHAND_APPROVERS"]),
  ];
  if (unset.length === 0) return fine("access", "somebody may ask and somebody may approve");
  return broken("access", ...unset.map((text) => new DeckhandError("CONFIG", text)));
}

function chatChecks({ slack, discord, workspaces }: Config, live: string | null): Check[] {
  const checks: Check[] = [];
  if (slack) {
    const health = async () => (await import("../chat/slack/health.ts")).slackHealth(slack);
    checks.push(chatCheck("slack", "tokens, scopes and Socket Mode", health));
  }
  if (discord) {
    const watch = [...new Set([...workspaces.flatMap((w) => w.channels), ...(live === null ? [] : [live])])];
    const health = async () => (await import("../chat/discord/health.ts")).discordHealth({ ...discord, watch });
    checks.push(chatCheck("discord", "token, intents and permissions", health));
  }
  return checks.length > 0 ? checks : [broken("chat", NOT_SET.chat)];
}

function chatCheck(name: string, what: string, health: () => Promise<string[]>): Check {
  return {
    name,
    async look() {
      const wrong = await health();
      return wrong.length > 0 ? { wrong } : { fine: what };
    },
  };
}
