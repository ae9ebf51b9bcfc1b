import { Redis } from "ioredis";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { Live } from "../../src/core/log.ts";
import { redisLog } from "../../src/redis/log.ts";
import { keptTrace, startRedis, until } from "../support/redis.ts";
import { LOGS, type LogDoor, arrival, newThread } from "./log-doors.ts";

describe.each(LOGS)("what is seen of a running command through the log in %s", (_name, open) => {
  let door: LogDoor;
  beforeAll(async () => {
    door = await open();
  });
  afterAll(async () => {
    await door.close();
  });

  const live = (text: string): Live => ({ conversation: newThread(), call: "call00001", text });

  it("every listener hears it as it was told, in order", async () => {
    const { log } = door;
    const heard: Live[][] = [[], []];
    const off = await Promise.all(heard.map((list) => log.onLive((told) => list.push(told))));
    const told = [live("one\n"), live('漢字 "quoted" \u0000 \\ é\n'), live(""), { ...live(""), wait: { why: "busy", at: 1 } }];
    for (const each of told) await log.tellLive(each);
    await until("both have heard all", () => heard.every((list) => list.length === told.length));
    expect(heard).toEqual([told, told]);
    for (const each of off) await each();
  });

  it("a listener that has gone hears nothing more", async () => {
    const { log } = door;
    const heard: Record<"gone" | "stays", string[]> = { gone: [], stays: [] };
    const off = await log.onLive(({ text }) => heard.gone.push(text));
    const offToo = await log.onLive(({ text }) => heard.stays.push(text));
    await off();
    await log.tellLive(live("after"));
    await until("the other has heard it", () => heard.stays.length > 0);
    expect(heard).toEqual({ gone: [], stays: ["after"] });
    await offToo();
  });

  it("is told without a listener, and kept nowhere", async () => {
    const { log } = door;
    const told = live("nobody");
    await log.ingest(arrival(told.conversation, "do it"));
    const before = await log.read(told.conversation, 0);
    await log.tellLive(told);
    expect(await log.read(told.conversation, 0)).toEqual(before);
  });

  it("is not taken for a hint, nor a hint for it", async () => {
    const { log } = door;
    const hints: string[] = [];
    const heard: Live[] = [];
    const off = [await log.onHint((conversation) => hints.push(conversation)), await log.onLive((each) => heard.push(each))];
    const told = live("one");
    const thread = newThread();
    await log.ingest(arrival(thread, "do it"));
    await log.tellLive(told);
    await until("both are heard", () => hints.length > 0 && heard.length > 0);
    expect({ hints: new Set(hints), heard }).toEqual({ hints: new Set([thread]), heard: [told] });
    for (const each of off) await each();
  });
});

describe("what is seen of a running command through Redis", () => {
  it("is heard again after Redis was away, and is told in vain meanwhile", async () => {
    const server = await startRedis();
    const log = redisLog({ url: server.url, trace: keptTrace() });
    const heard: string[] = [];
    await log.onLive(({ text }) => heard.push(text));
    const live = { conversation: newThread(), call: "call00001" };
    await server.kill();
    await expect(log.tellLive({ ...live, text: "meanwhile" })).rejects.toMatchObject({ code: "REDIS_DOWN" });
    await server.restart();
    await until("it is heard again", async () => {
      await log.tellLive({ ...live, text: "again" }).catch(() => {}); // not back yet
      return heard.includes("again");
    });
    expect(heard).not.toContain("meanwhile");
    await log.close();
    await server.stop();
  });

  it("is not confused by what somebody else says on its channel", async () => {
    const server = await startRedis();
    const log = redisLog({ url: server.url, trace: keptTrace() });
    const heard: string[] = [];
    await log.onLive(({ text }) => heard.push(text));
    const client = new Redis(server.url);
    for (const words of ["no JSON", "null", "{}", '{"conversation":1}']) await client.publish("{dh}:live", words);
    await log.tellLive({ conversation: newThread(), call: "call00001", text: "ours" });
    await until("ours is heard", () => heard.length > 0);
    expect(heard).toEqual(["ours"]);
    await Promise.all([log.close(), client.quit()]);
    await server.stop();
  });
});
