import { expect, test } from "vitest";
import { type Rule, bash, say } from "../../src/model/script.ts";
import { audit, breaks, settled } from "../support/audit.ts";
import { type Corridor, type Said, openCorridor } from "../support/corridor.ts";
import { type RoleProcess, startRole } from "../support/crew.ts";
import { until } from "../support/redis.ts";
import { PLATFORMS, type Platform } from "../support/stage.ts";
import { uniqueSleep } from "../support/workspace.ts";

/** A thread tells the truth also while nobody is there to work on it. */

const NOBODY = /^No worker serves the workspace "api" now\. This (?:starts|goes on) by itself as soon as one does\./;

const rules: Rule[] = [
  { when: /hello/, steps: [() => say("hello back")] },
  {
    when: /append/,
    steps: [() => bash("rm -f old; echo ran >> fx.txt"), () => say("It is appended.")],
  },
  { when: /wait/, steps: [() => bash(`echo begun > begun; ${uniqueSleep()}`), () => say("It was interrupted.")] },
];

/** A deck of which nothing is started, and roles that end with the test. */
async function withDeck(
  platform: Platform,
  play: (deck: Corridor, start: (role: "gateway" | "worker") => Promise<RoleProcess>) => Promise<void>,
) {
  const deck = await openCorridor({ platform, rules, start: false });
  const running: RoleProcess[] = [];
  const start = async (role: "gateway" | "worker"): Promise<RoleProcess> => {
    const started = await startRole(deck, role);
    running.push(started);
    return started;
  };
  try {
    await play(deck, start);
  } finally {
    for (const role of running) await role.kill();
    await deck.close();
  }
}

async function answeredOnce(deck: Corridor, said: Said, sent: string[]): Promise<void> {
  expect(breaks(await settled(() => audit(deck, said, sent)))).toEqual([]);
  expect(said.posts().filter(({ text }) => NOBODY.test(text))).toEqual([]);
}

/** A command that waits is under way, and the thread says so. */
async function midway(deck: Corridor): Promise<Said> {
  const said = await deck.mention("wait");
  await said.shows(/^Running: echo begun/);
  await until("it runs", () => deck.files.has("begun"));
  return said;
}

test.concurrent.each(PLATFORMS)(
  "on %s: a task for a workspace that nobody serves says so, and is answered once when a worker comes",
  async (platform) => {
    await withDeck(platform, async (deck, start) => {
      await start("gateway");
      const said = await deck.mention("append a line");
      await said.shows(NOBODY);
      const other = await deck.mention("hello", { channel: "C2" });
      await other.shows(NOBODY);
      expect([said, other].map((each) => each.posts().length)).toEqual([1, 1]);
      await start("worker");
      await other.shows(/hello back/);
      await said.press("approve");
      await said.shows(/It is appended\./);
      await Promise.all([answeredOnce(deck, said, ["append a line"]), answeredOnce(deck, other, ["hello"])]);
      expect(deck.files.read("fx.txt")).toBe("ran\n");
    });
  },
  120_000,
);

test.concurrent.each(PLATFORMS)(
  "on %s: a worker that vanishes in the middle of a command does not leave it running for ever in the thread",
  async (platform) => {
    await withDeck(platform, async (deck, start) => {
      await start("gateway");
      const worker = await start("worker");
      const said = await midway(deck);
      await worker.kill();
      await said.shows(NOBODY, 60_000);
      await start("worker");
      await said.shows(/may have run, wholly or in part; it was not run again\./);
      await said.shows(/It was interrupted\./);
      await answeredOnce(deck, said, ["wait"]);
    });
  },
  120_000,
);

test.concurrent.each(PLATFORMS)(
  "on %s: gateway and worker are killed: a gateway that comes back alone brings the status up to date, a worker goes on",
  async (platform) => {
    await withDeck(platform, async (deck, start) => {
      const both = [await start("gateway"), await start("worker")];
      const said = await midway(deck);
      await Promise.all(both.map((each) => each.kill()));
      await start("gateway");
      await said.shows(NOBODY, 60_000);
      await start("worker");
      await said.shows(/It was interrupted\./);
      await answeredOnce(deck, said, ["wait"]);
    });
  },
  120_000,
);

test.concurrent.each(PLATFORMS)(
  "on %s: gateway and worker are killed and come back: no status stays as it was",
  async (platform) => {
    await withDeck(platform, async (deck, start) => {
      const both = [await start("gateway"), await start("worker")];
      const said = await midway(deck);
      await Promise.all(both.map((each) => each.kill()));
      await Promise.all([start("worker"), start("gateway")]);
      await said.shows(/It was interrupted\./, 60_000);
      await answeredOnce(deck, said, ["wait"]);
    });
  },
  120_000,
);

test.concurrent("a workspace whose worker is only exchanged is not called unserved", async () => {
  await withDeck("slack", async (deck, start) => {
    deck.env["DECKHAND_LOCK_MS"] = "8000"; // time enough for the next one to come
    await start("gateway");
    const first = await start("worker");
    const hello = await deck.mention("hello");
    await hello.shows(/hello back/);
    await first.end();
    const said = await deck.mention("hello", { channel: "C2" });
    await said.shows(/^On it\./);
    await start("worker");
    await said.shows(/hello back/);
    await answeredOnce(deck, said, ["hello"]);
  });
}, 120_000);
