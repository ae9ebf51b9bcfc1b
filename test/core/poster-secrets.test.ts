import { beforeEach, describe, expect, test } from "vitest";
import type { NewEntry } from "../../src/core/entry.ts";
import type { Log } from "../../src/core/log.ts";
import type { Clock } from "../../src/core/ports.ts";
import { drainPosts } from "../../src/core/poster.ts";
import { redactor } from "../../src/core/redactor.ts";
import { LIMITS } from "../../src/limits.ts";
import { memoryLog } from "../../src/memory.ts";
import { memoryLimiter } from "../../src/memory-queue.ts";
import { systemIds } from "../../src/system.ts";
import { PaperChat } from "../support/paper-chat.ts";
import { ann } from "../support/random-log.ts";
import { noise, TOKENS } from "../support/secrets.ts";

const key = "slack:T1:C1:1.1";
const KNOWN = `hunter-${noise(30, 5)}`;
const SECRETS = [KNOWN, ...TOKENS.map(([, token]) => token)];
let now = 1_000_000;
const clock: Clock = { now: () => now, sleep: async () => {} };
let log: Log;
let chat: PaperChat;
let epoch: number;
let ops: number;

async function begin(): Promise<void> {
  log = memoryLog(clock);
  chat = new PaperChat();
  ops = 0;
  const opened = { type: "opened", platform: "slack", thread: key, channel: "slack:C1", workspace: "api" } as const;
  const entry = { type: "message", event: "e1", by: { ...ann, name: `Ann ${KNOWN}` }, text: KNOWN, to: "bot" } as const;
  await log.ingest({ conversation: key, event: "e1", at: clock.now(), opened, entry, wakes: true });
  const taken = await log.takeover(key, { key: "", token: "" });
  epoch = taken.kind === "taken" ? taken.epoch : 0;
}

beforeEach(begin);

async function add(...news: NewEntry[]): Promise<void> {
  await log.append(key, epoch, `op${(ops += 1)}`, clock.now(), news);
}

async function drain(): Promise<string> {
  const trace = { info: () => {}, warn: () => {}, error: () => {} };
  const chats = new Map([["slack", chat]]);
  const deps = {
    log,
    limiter: memoryLimiter(),
    clock,
    ids: systemIds,
    trace,
    chats,
    banner: null,
    redact: redactor([KNOWN]),
    abandon: async () => {},
  };
  for (let more = true; more; more = (await log.takeDuePosts(now)).length > 0) {
    await drainPosts({ conversation: key, lock: { key: "", token: "" }, signal: new AbortController().signal }, deps);
    // What waits for the thread's own measure.
    now += 2_000;
  }
  return chat.messages.map((message) => `${message.text}\n${message.file ?? ""}`).join("\n");
}

function step(command: string): NewEntry[] {
  const usage = { prompt: null, completion: null, cached: null };
  const calls = [{ id: "a", name: "bash", args: { command }, raw: command }];
  return [
    { type: "model", read: 2, text: `I run ${command}`, calls, finish: "calls", usage, model: "m", ms: 1, tries: 1 },
    { type: "judged", call: "a", verdict: "ask", reasons: [], rule: "r", title: command },
  ];
}

const asked = (command: string): NewEntry => ({
  type: "approval-asked",
  approval: "ap1",
  call: "a",
  command,
  cwd: `/w/${KNOWN}`,
  workspace: "api",
  env: { PATH: KNOWN },
  sandbox: "sandboxed: no network, workspace only",
  grants: [],
  reasons: [{ code: "delete", text: `it deletes ${KNOWN}` }],
  requester: { ...ann, name: KNOWN },
  approvers: ["slack:U2"],
  deadline: clock.now() + 86_400_000,
  digest: "d",
});

function expectHidden(shown: string): void {
  for (const secret of SECRETS) {
    for (let at = Math.max(10, secret.lastIndexOf("/") + 1); at + 8 <= secret.length; at += 1)
      expect(shown).not.toContain(secret.slice(at, at + 8));
  }
}

describe("a thread shows no secret", () => {
  test("in any kind of post, nor in a file", async () => {
    const all = SECRETS.join(" ");
    await log.putBlob("cmd:ap1", new TextEncoder().encode(`echo ${all}`), 1e9);
    await log.putBlob("out", new TextEncoder().encode(`whole: ${all}`), 1e9);
    const output = { text: all, bytes: all.length, omitted: 0, blob: "out" };
    await add(...step(`echo ${all}`), asked(`echo ${all}`));
    expectHidden(await drain());
    await log.decide("ap1", clock.now(), { decision: "denied", by: { ...ann, name: KNOWN }, reason: all });
    await add(
      {
        type: "run-ended",
        call: "a",
        how: "exited",
        exit: 0,
        output,
        ms: 1,
        noticed: [`a hook ${KNOWN}`],
        network: [{ host: KNOWN, port: 443, refused: null }],
      },
      { type: "final", text: `It is ${all}`, answers: [2], reason: "answer" },
      { type: "failed", code: "INTERNAL", text: all, answers: [2] },
    );
    const shown = await drain();
    expectHidden(shown);
    for (const kind of [/whole: \[secret\]/, /It is \[secret\]/, /a hook \[secret\]/, /Network: \[secret\]:443/, /Denied by \[secret\]/]) {
      expect(shown).toMatch(kind);
    }
  });

  test("at any place where a long command or output is cut", async () => {
    for (let at = 0; at < 60; at += 5) {
      const near = (max: number, share: number): string => "x ".repeat(Math.max(0, (max * share - at) / 2));
      for (const max of [LIMITS.postCommand, LIMITS.cardCommand, LIMITS.postOutput, LIMITS.cardSaid, LIMITS.foldedFair, 120]) {
        const text = `${near(max, 0.4)}${KNOWN} ${"y ".repeat(max)}${KNOWN} ${near(max, 0.6)}`;
        await begin();
        await add(...step(text), asked(text));
        await log.decide("ap1", clock.now(), { decision: "approved", by: ann });
        expectHidden(await drain());
        await add({ type: "run-ended", call: "a", how: "exited", exit: 0, output: { text, bytes: text.length, omitted: 0 }, ms: 1 });
        expectHidden(await drain());
      }
    }
  });

  test("in what stands in the log already, when an old card is shown anew", async () => {
    await add(...step(KNOWN), asked(KNOWN));
    await drain();
    await add({ type: "run-ended", call: "a", how: "exited", exit: 0, output: { text: KNOWN, bytes: 9, omitted: 0 }, ms: 1 });
    await log.decide("ap1", clock.now(), { decision: "approved", by: ann });
    expectHidden(await drain());
  });
});

test("what a command left behind and where it connected stands under its output", async () => {
  await add(...step("make"), {
    type: "run-ended",
    call: "a",
    how: "exited",
    exit: 0,
    output: { text: "ok", bytes: 2, omitted: 0 },
    ms: 100,
    noticed: ["It added the hook .git/hooks/pre-commit."],
    network: [
      { host: "a.example", port: 443, refused: null },
      { host: "a.example", port: 443, refused: null },
      { host: "10.0.0.1", port: 22, refused: "a private address" },
    ],
  });
  await drain();
  expect(chat.texts().at(-1)).toMatch(
    /\nok\nexit 0 · 0\.1 s\nNoticed afterwards: It added the hook \.git\/hooks\/pre-commit\.\nNetwork: a\.example:443, 10\.0\.0\.1:22 \(refused: a private address\)$/,
  );
});
