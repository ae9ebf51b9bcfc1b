import { readdirSync, readFileSync } from "node:fs";
import { hostname } from "node:os";
import { join } from "node:path";
import type { Config } from "../config.ts";
import type { Access } from "../core/access.ts";
import { DeckhandError, messageOf } from "../core/errors.ts";
import type { Hands } from "../core/hands.ts";
import { answerAfter, answerEar, liveEar } from "../core/live.ts";
import type { Live, Log } from "../core/log.ts";
import { notedTogether } from "../core/noting.ts";
import type { Learned, Tool, Trace } from "../core/ports.ts";
import { PROMPTS, type Prompts } from "../core/prompt.ts";
import { redactor } from "../core/redactor.ts";
import { LIMITS } from "../limits.ts";
import { openModels } from "./models.ts";
import type { OpenSandbox } from "./sandbox.ts";
import { realpathOf, systemClock, systemIds } from "../system.ts";

/** What a worker works with: the measured sandbox, the tools, the model. */

/** Every file in `src/tools` is a tool: adding one is adding a file. */
export async function loadTools(folder: string = join(import.meta.dirname, "..", "tools")): Promise<Map<string, Tool>> {
  const tools = new Map<string, Tool>();
  for (const file of readdirSync(folder)
    .filter((f) => f.endsWith(".ts"))
    .sort()) {
    const tool = await readTool(join(folder, file));
    if (tools.has(tool.spec.name)) throw new DeckhandError("TOOL_BROKEN", `${file}: there is already a tool "${tool.spec.name}"`);
    tools.set(tool.spec.name, tool);
  }
  return tools;
}

/** The file's `tool`. Throws TOOL_BROKEN with the file and what is wrong with it. */
async function readTool(file: string): Promise<Tool> {
  const broken = (why: string, cause?: unknown) => new DeckhandError("TOOL_BROKEN", `${file}: ${why}`, { cause });
  const module = await import(file).catch((thrown: unknown) => {
    throw broken(messageOf(thrown), thrown);
  });
  const { tool } = module as { tool?: Partial<Tool> };
  if (!tool) throw broken("it does not export `tool`");
  if (!/^[\w-]{1,64}$/.test(tool.spec?.name ?? "")) throw broken("its spec.name must be 1 to 64 letters, digits, _ or -");
  const missing = (["check", "judge", "run"] as const).filter((part) => typeof tool[part] !== "function");
  if (missing.length > 0) throw broken(`it lacks the function ${missing.join(", ")}`);
  return tool as Tool;
}

/** The texts that the model is told; each is a file of `src/prompts`. */
export function readPrompts(folder: string = join(import.meta.dirname, "..", "prompts")): Prompts {
  return Object.fromEntries(PROMPTS.map((name) => [name, readFileSync(join(folder, `${name}.md`), "utf8")])) as Prompts;
}

interface HandParts extends OpenSandbox {
  config: Config;
  log: Log;
  trace: Trace;
  access: Access;
  appended: Hands["appended"];
  /** Where what the model's endpoint teaches is kept. Left out: in this process alone. */
  learned?: Learned;
  /** Left out: other processes are told. */
  live?: Hands["live"] | undefined;
  writing?: Hands["writing"];
}

function tellLive(live: Live, { log, trace }: HandParts): void {
  log.tellLive(live).catch((thrown: unknown) => {
    // The next lines are told again, and the result has them all.
    trace.info("live-not-told", { conversation: live.conversation, error: messageOf(thrown) });
  });
}

export async function buildHands(parts: HandParts): Promise<Hands> {
  const { config, live, writing, learned, ...rest } = parts;
  const { openaiModel } = await import("../model/openai.ts");
  return {
    ...rest,
    log: { ...parts.log, rules: notedTogether(parts.log.rules, systemClock) },
    ...openModels(config, (options) => openaiModel({ ...options, trace: parts.trace, ...(learned ? { learned } : {}) })),
    prompts: readPrompts(),
    tools: await loadTools(),
    clock: systemClock,
    ids: systemIds,
    redact: redactor(config.secrets),
    posture: config.posture,
    rules: config.rules,
    limits: config.limits,
    prices: config.prices,
    realpath: realpathOf,
    host: hostname(),
    live: live ?? ((run) => liveEar((text) => tellLive({ ...run, text }, parts), systemClock)),
    writing:
      writing ??
      (({ conversation, read }) => answerEar((told) => tellLive({ conversation, call: answerAfter(read), ...told }, parts), systemClock)),
    approvalMs: config.approvalMs,
    stopPollMs: LIMITS.stopPoll,
    retry: {
      tries: LIMITS.modelTries,
      baseMs: LIMITS.modelRetryBase,
      maxMs: LIMITS.modelRetryMax,
      retryAfterMaxMs: LIMITS.modelRetryAfterMax,
    },
  };
}
