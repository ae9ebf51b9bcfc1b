import { fork } from "node:child_process";
import { once } from "node:events";
import { Redis } from "ioredis";
import { afterAll, afterEach, beforeAll, describe, expect, it } from "vitest";
import { NotStarted } from "../../src/core/errors.ts";
import { type Claims, claimWorkspaces, readClaims } from "../../src/redis/claim.ts";
import { bullQueue } from "../../src/redis/queue.ts";
import { newThread } from "../contracts/log-doors.ts";
import { keptTrace, lossyProxy, startRedis, type TestRedis, until } from "../support/redis.ts";

const TTL_MS = 1500;
const forever = new AbortController().signal;

describe("a workspace belongs to one host", () => {
  let server: TestRedis;
  let admin: Redis;
  const opened: { close(): Promise<void> }[] = [];
  let names = 0;
  beforeAll(async () => {
    server = await startRedis();
    admin = new Redis(server.url);
    admin.on("error", () => {}); // it is killed below
  });
  afterEach(async () => {
    await Promise.all(opened.splice(0).map((each) => each.close()));
  });
  afterAll(async () => {
    admin.disconnect();
    await server.stop();
  });

  const newName = () => `ws-${++names}`;
  interface Host extends Claims {
    trace: ReturnType<typeof keptTrace>;
    lost: string[];
  }
  async function claim(host: string, workspaces: string[], { ttlMs = TTL_MS, url = server.url } = {}): Promise<Host> {
    const trace = keptTrace();
    const lost: string[] = [];
    const claims = await claimWorkspaces({ url, trace, host, workspaces, lost: (workspace) => lost.push(workspace), ttlMs });
    opened.push(claims);
    return { ...claims, trace, lost };
  }
  async function refusal(host: string, workspaces: string[]): Promise<string[]> {
    const thrown = await claim(host, workspaces).catch((error: unknown) => error);
    expect(thrown).toBeInstanceOf(NotStarted);
    return (thrown as NotStarted).lines;
  }
  const holder = async (workspace: string) => (await readClaims(server.url, keptTrace(), [workspace])).get(workspace);
  /** What it may do there: `done`, or the code of what kept it. */
  async function tries(host: Claims, workspace: string): Promise<string> {
    let done = "nothing";
    try {
      await host.during(workspace, forever, async () => void (done = "done"));
      return done;
    } catch (thrown) {
      return (thrown as { code: string }).code;
    }
  }

  it("the first that comes; another is refused with its name, since when, and what to do", async () => {
    const workspace = newName();
    const first = await claim("a", [workspace]);
    const [line, ...more] = await refusal("b", [workspace]);
    expect(line).toMatch(
      new RegExp(
        `^Another host has the workspace ${workspace}: \\S+, since \\d{4}-\\d\\d-\\d\\d \\d\\d:\\d\\d UTC\\. .*Stop the workers there.*\\(WORKSPACE_CLAIMED\\)$`,
      ),
    );
    expect(more).toEqual([]);
    expect(await holder(workspace)).toMatchObject({ host: "a" });
    expect(await tries(first, workspace)).toBe("done");
  });

  it("a host that is refused one keeps none of the others from anybody", async () => {
    const [taken, free] = [newName(), newName()];
    await claim("a", [taken]);
    expect(await refusal("b", [free, taken])).toHaveLength(1);
    expect(await holder(free)).toBeNull();
    const other = await claim("c", [free]);
    expect(await tries(other, free)).toBe("done");
  });

  it("several workers of one host share it, and one that ends takes nothing from the others", async () => {
    const workspace = newName();
    const [first, second] = [await claim("a", [workspace]), await claim("a", [workspace])];
    const { since } = (await holder(workspace)) as { since: number };
    await first.close();
    await lasts(2 * TTL_MS);
    expect(await tries(second, workspace)).toBe("done");
    await refusal("b", [workspace]);
    expect(await holder(workspace)).toMatchObject({ host: "a", since });
  });

  it("as long as a worker of it lives, and a little longer: then another may have it", async () => {
    const workspace = newName();
    const worker = fork(new URL("./claim-worker.ts", import.meta.url), [server.url, "a", workspace, String(TTL_MS)]);
    expect((await once(worker, "message"))[0]).toBe("claimed");
    await lasts(2 * TTL_MS);
    await refusal("b", [workspace]);
    worker.kill("SIGKILL");
    await once(worker, "exit");
    await refusal("b", [workspace]);
    await until("the claim lapses", async () => (await holder(workspace)) === null);
    expect(await tries(await claim("b", [workspace]), workspace)).toBe("done");
    expect(await refusal("a", [workspace])).toHaveLength(1);
  });

  it("an answer that was lost costs nothing: who asks again has it", async () => {
    const workspace = newName();
    const proxy = await lossyProxy(server.port);
    proxy.loseReplyTo(`host:${workspace}`);
    const first = await claim("a", [workspace], { url: proxy.url }).catch(() => null);
    expect(proxy.lost()).toBe(1);
    const again = first ?? (await claim("a", [workspace], { url: proxy.url }));
    expect(await tries(again, workspace)).toBe("done");
    await Promise.all(opened.splice(0).map((each) => each.close()));
    await proxy.stop();
  });

  it("who lost it to another host is told, ends what it does there and does no more; its other workspaces stay", async () => {
    const [gone, kept] = [newName(), newName()];
    const host = await claim("a", [gone, kept]);
    const begun = Promise.withResolvers<void>();
    const work = host.during(gone, forever, async (signal) => {
      begun.resolve();
      await new Promise((resolve) => signal.addEventListener("abort", resolve));
    });
    await begun.promise;
    await admin.del(`{dh}:host:${gone}`);
    const other = await claim("b", [gone]);
    await expect(work).rejects.toMatchObject({ code: "WORKSPACE_CLAIMED" });
    expect(host.lost).toEqual([gone]);
    expect(await tries(host, gone)).toBe("WORKSPACE_CLAIMED");
    expect(await tries(host, kept)).toBe("done");
    // It does not come back by itself, also when the other one leaves.
    await other.close();
    await until("the claim lapses", async () => (await holder(gone)) === null);
    await lasts(TTL_MS);
    expect(await holder(gone)).toBeNull();
    expect(host.lost).toEqual([gone]);
  });

  it("work is given up before another host can have it, when Redis is away for so long", async () => {
    const workspace = newName();
    const ttlMs = 2 * TTL_MS;
    const host = await claim("a", [workspace], { ttlMs });
    const begun = Promise.withResolvers<void>();
    let over = 0;
    const work = host.during(workspace, forever, async (signal) => {
      begun.resolve();
      await new Promise((resolve) => signal.addEventListener("abort", resolve));
      over = performance.now();
    });
    await begun.promise;
    const lapses = (await admin.pttl(`{dh}:host:${workspace}`)) + performance.now();
    await server.kill();
    await expect(work).rejects.toMatchObject({ code: "REDIS_DOWN" });
    // The last renewal may have come after our look: so much later the claim lapsed at most.
    expect(over).toBeLessThan(lapses + ttlMs / 6);
    expect(await tries(host, workspace)).toBe("REDIS_DOWN");
    await lasts(ttlMs);
    await server.restart();
    // Nobody else came: it goes on.
    await until("it works again", async () => (await tries(host, workspace)) === "done");
    await refusal("b", [workspace]);
    expect(host.lost).toEqual([]);
  });

  it("a wake of a workspace that was lost is given back at once, for the workers of the other host", async () => {
    const workspace = newName();
    const [here, there] = [0, 1].map(() => bullQueue({ url: server.url, trace: keptTrace(), lockMs: 2000, stalledMs: 500 }));
    if (!here || !there) throw new Error("no queues");
    opened.push(here, there);
    const seen: string[] = [];
    const begun = Promise.withResolvers<void>();
    await here.serve([workspace], async ({ signal }) => {
      seen.push("here");
      begun.resolve();
      await new Promise((resolve) => signal.addEventListener("abort", resolve));
    });
    await here.wake(newThread(), workspace);
    await begun.promise;
    await here.leave(workspace);
    await there.serve([workspace], async () => void seen.push("there"));
    await until("the other one has it", () => seen.includes("there"));
    await here.wake(newThread(), workspace);
    await until("the next one too", () => seen.length === 3);
    expect(seen).toEqual(["here", "there", "there"]);
  });
});

it("nobody can be asked: REDIS_DOWN, and nothing stays open", async () => {
  const options = { url: "redis://127.0.0.1:1", trace: keptTrace(), host: "a", workspaces: ["w"], lost: () => {} };
  await expect(claimWorkspaces(options)).rejects.toMatchObject({ code: "REDIS_DOWN" });
  await expect(readClaims(options.url, keptTrace(), ["w"])).rejects.toMatchObject({ code: "REDIS_DOWN" });
});

/** Long enough for whatever would go wrong by itself to do so. */
async function lasts(ms: number): Promise<void> {
  await new Promise((resolve) => setTimeout(resolve, ms));
}
