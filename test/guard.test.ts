import { execFile } from "node:child_process";
import { promisify } from "node:util";
import { describe, expect, it } from "vitest";

const file = (path: string): string => JSON.stringify(new URL(`../src/${path}`, import.meta.url).href);

/** Runs a program with the guard in place; `told` are the traced events. */
async function run(body: string): Promise<{ code: number; told: string[] }> {
  const program = `
    const { guardProcess } = await import(${file("guard.ts")});
    const { socketMode } = await import(${file("chat/slack/guard.ts")});
    const { discordJs } = await import(${file("chat/discord/guard.ts")});
    const note = (event) => console.log(event);
    guardProcess({ info: note, warn: note, error: note }, [socketMode, discordJs]);
    ${body}
    await new Promise((resolve) => setTimeout(resolve, 100));
    console.log("alive");
  `;
  const { code = 0, stdout } = (await promisify(execFile)(process.execPath, ["--input-type=module", "-e", program], {
    cwd: import.meta.dirname,
  }).catch((failed: { code: number; stdout: string }) => failed)) as { code?: number; stdout: string };
  return { code, told: stdout.trim().split("\n") };
}

describe("the guard of the process", () => {
  it("keeps it alive when socket-mode rejects where nobody catches", async () => {
    const rejection = `
      const { SocketModeClient, LogLevel } = await import("@slack/socket-mode");
      const client = new SocketModeClient({ appToken: "xapp-1", logLevel: LogLevel.ERROR });
      client.emit("ws_message", JSON.stringify({ type: "events_api", envelope_id: "e", payload: { type: "app_rate_limited" } }), false);
    `;
    expect(await run(rejection)).toEqual({ code: 0, told: ["slack.rejection-caught", "alive"] });
  }, 30_000);

  it("keeps it alive when discord.js cannot read an event", async () => {
    const rejection = `
      const { Client } = await import("discord.js");
      const { ws } = new Client({ intents: [] });
      ws.status = 0;
      void (async () => ws.handlePacket({ t: "INTERACTION_CREATE", d: null }))();
    `;
    expect(await run(rejection)).toEqual({ code: 0, told: ["discord.rejection-caught", "alive"] });
  }, 30_000);

  it("lets a mistake of ours end it, also below discord.js", async () => {
    const rejection = `
      const { Client } = await import("discord.js");
      const { ws } = new Client({ intents: [] });
      ws.on("MESSAGE_CREATE", () => { throw new Error("a bug of ours"); });
      void (async () => ws.emit("MESSAGE_CREATE"))();
    `;
    expect((await run(rejection)).code).toBe(1);
  }, 30_000);

  it("lets every other rejection end it", async () => {
    expect(await run(`Promise.reject(new Error("a bug of ours"));`)).toEqual({ code: 1, told: ["unhandled-rejection"] });
  }, 30_000);
});
