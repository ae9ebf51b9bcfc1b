import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { App, Role } from "../../src/app.ts";
import { type Rule, bash, say } from "../../src/model/script.ts";
import { audit, breaks, settled } from "../support/audit.ts";
import { type Corridor, type Said, openCorridor } from "../support/corridor.ts";
import { type RoleProcess, startRole } from "../support/crew.ts";
import { startHere } from "../support/here.ts";
import { keptTrace, until } from "../support/redis.ts";
import { type Platform, PLATFORMS } from "../support/stage.ts";
import { uniqueSleep } from "../support/workspace.ts";

/** A thread tells the truth also while nobody is there to work on it. */

const NOBODY = /^No worker serves the workspace "api" now\. This (?:starts|goes on) by itself as soon as one does\./;

const rules: Rule[] = [
  { when: /hello/, steps: [() => say("hello back")] },
  { when: /append/, steps: [() => bash("rm -f old; echo ran >> fx.txt"), () => say("It is appended.")] },
  { when: /wait/, steps: [() => bash(`echo begun > begun; ${uniqueSleep()}`), () => say("It was interrupted.")] },
];

/** One after the other: each goes on with whom the one before has started. */
const NEXT = { concurrent: false, timeout: 120_000 };

describe.concurrent.each(PLATFORMS)("on %s", (platform) => {
  /** What does not depend on the platform is tried on one. */
  const only = (where: Platform): Platform[] => (platform === where ? [where] : []);

  let deck: Corridor;
  let gateway: RoleProcess;
  let worker: RoleProcess;
  const kept: App[] = [];
  beforeAll(async () => {
    deck = await openCorridor({ platform, rules, start: false });
    gateway = await startRole(deck, "gateway");
  });
  afterAll(async () => {
    await Promise.all([gateway, worker].map((each) => each.kill()));
    for (const app of kept) await app.stop();
    await deck.close();
  });

  /** Starts one that is not killed. */
  async function comes(role: Role): Promise<void> {
    kept.push(await startHere(deck.env, role, keptTrace()));
  }

  /** A command that waits is under way, and the thread says so. */
  async function midway(channel: string): Promise<Said> {
    deck.files.remove("begun");
    const said = await deck.mention("wait", { channel });
    await said.shows(/^Running: echo begun/);
    await until("it runs", () => deck.files.has("begun"));
    return said;
  }

  async function answeredOnce(said: Said, sent: string): Promise<void> {
    expect(breaks(await settled(() => audit(deck, said, [sent])))).toEqual([]);
    expect(said.posts().filter(({ text }) => NOBODY.test(text))).toEqual([]);
  }

  test("a task for a workspace that nobody serves says so, and is answered once when a worker comes", NEXT, async () => {
    const said = await deck.mention("append a line");
    await said.shows(NOBODY);
    const other = await deck.mention("hello", { channel: "C2" });
    await other.shows(NOBODY);
    expect([said, other].map((each) => each.posts().length)).toEqual([1, 1]);
    worker = await startRole(deck, "worker");
    await other.shows(/hello back/);
    await said.press("approve");
    await said.shows(/It is appended\./);
    await Promise.all([answeredOnce(said, "append a line"), answeredOnce(other, "hello")]);
    expect(deck.files.read("fx.txt")).toBe("ran\n");
  });

  test.each(only("slack"))(
    "a worker that vanishes in the middle of a command does not leave it running for ever in the thread",
    NEXT,
    async () => {
      const said = await midway("C3");
      await worker.kill();
      await said.shows(NOBODY, 60_000);
      worker = await startRole(deck, "worker");
      await said.shows(/may have run, wholly or in part; it was not run again\./);
      await said.shows(/It was interrupted\./);
      await answeredOnce(said, "wait");
    },
  );

  /** A command whose gateway and worker are killed. */
  async function leftAlone(): Promise<Said> {
    const said = await midway("C4");
    await Promise.all([gateway, worker].map((each) => each.kill()));
    return said;
  }

  test.each(only("slack"))("after both were killed a gateway that comes back alone brings the status up to date", NEXT, async () => {
    const said = await leftAlone();
    await comes("gateway");
    await said.shows(NOBODY, 60_000);
    await comes("worker");
    await said.shows(/It was interrupted\./);
    await answeredOnce(said, "wait");
  });

  test.each(only("discord"))("after both were killed and have come back no status stays as it was", NEXT, async () => {
    const said = await leftAlone();
    await Promise.all([comes("worker"), comes("gateway")]);
    await said.shows(/It was interrupted\./, 60_000);
    await answeredOnce(said, "wait");
  });
});
