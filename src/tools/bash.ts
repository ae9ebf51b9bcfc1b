import { judge } from "../core/gate.ts";
import type { Tool } from "../core/ports.ts";
export const tool: Tool = {
  spec: { name: "bash", description: "Runs one bash command", parameters: { type: "object", properties: { command: { type: "string" }, timeout_seconds: { type: "integer" } }, required: ["command"] } },
  check(args) {
    const { command, timeout_seconds: t } = args;
    if (typeof command !== "string") return { problem: "command must be a string" };
    return { act: { title: command, timeoutMs: typeof t === "number" ? t * 1000 : 120_000 } };
  },
  judge: (act, place) => judge(act.title, place),
  run: (act, at, options) => at.sandbox.run({ conversation: at.conversation, workspace: at.workspace, cwd: at.cwd, command: act.title, timeoutMs: act.timeoutMs }, options),
};
