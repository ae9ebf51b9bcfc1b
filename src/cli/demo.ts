import { ExecaError, execa } from "execa";
import { chmodSync, mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { delimiter, join } from "node:path";
import { startApp } from "../app.ts";
import { SCOPES } from "../chat/slack/manifest.ts";
import { loadConfig, searchPath } from "../config.ts";
import { DeckhandError } from "../core/errors.ts";
import { bash, conversationScript, say } from "../model/script.ts";
import { startScriptedModel } from "../model/scripted.ts";
import { logTrace, systemClock } from "../system.ts";
import { readable } from "../twin/slack/transcript.ts";
import { type SlackTwin, startSlackTwin } from "../twin/slack/twin.ts";
import { askAt, interruption } from "./keyboard.ts";
import { startOwnRedis } from "./own-redis.ts";

/** Nobody's numbers: in the demo, commands of a Deckhand that was started by root run as this user. */
const NOBODY = 65_534;
const APPROVE_AFTER_MS = 10_000;
const CHANNEL = "C1";
const TASK = "which git branch is this? Then create test_output with 3 files in it";

const script = conversationScript([
  {
    when: /test_output/,
    steps: [
      () => bash("git branch --show-current", "First the branch."),
      () =>
        bash(
          "mkdir test_output && touch test_output/a.txt test_output/b.txt test_output/c.txt",
          "Now the files; this changes the workspace.",
        ),
      ({ lastResult }) =>
        lastResult.startsWith("Not run")
          ? say("The branch is **main**. I made no files, because you did not approve it.")
          : bash("ls -l test_output"),
      () => say("The branch is **main**, and `test_output` now holds 3 files: `a.txt`, `b.txt` and `c.txt`."),
    ],
  },
]);

/** `deckhand demo`: Redis, a loopback Slack, a scripted model and the product itself; a scripted person asks. */
export async function demoCommand(args: string[]): Promise<number> {
  if (args.length > 0) throw new DeckhandError("BAD_INPUT", "deckhand demo takes no arguments");
  // The terminal may be closed in the middle, too.
  const signal = interruption("SIGHUP");
  const closers: (() => Promise<void> | void)[] = [];
  try {
    await play(closers, signal);
    return signal.aborted ? 130 : 0;
  } catch (thrown) {
    if (signal.aborted) return 130;
    throw thrown;
  } finally {
    for (const close of closers.reverse()) await close();
  }
}

async function play(closers: (() => Promise<void> | void)[], signal: AbortSignal): Promise<void> {
  const root = realpathSync(mkdtempSync(join(tmpdir(), "deckhand-demo-")));
  closers.push(() => rmSync(root, { recursive: true, force: true }));
  const workspace = await makeWorkspace(root);
  const redis = await startOwnRedis();
  closers.push(() => redis.stop());
  const model = await startScriptedModel(script);
  closers.push(() => model.close());
  const twin = await startSlackTwin({ appScopes: [...SCOPES] });
  closers.push(() => twin.close());
  twin.addUser({ id: "U1", name: "Ann" });
  twin.addChannel({ id: CHANNEL, name: "deck" });
  const config = loadConfig({
    SLACK_BOT_TOKEN: twin.botToken,
    SLACK_APP_TOKEN: twin.appToken,
    SLACK_API_URL: twin.apiUrl,
    OPENAI_BASE_URL: model.baseUrl,
    OPENAI_MODEL: "scripted",
    REDIS_URL: redis.url,
    DECKHAND_WORKSPACES: `demo=${workspace}`,
    DECKHAND_USERS: "slack:*",
    DECKHAND_APPROVERS: "slack:U1",
    DECKHAND_STATE: join(root, "state"),
    PATH: searchPath().join(delimiter),
  });
  const app = await startApp(config, "all", logTrace("error", config.secrets), signal);
  closers.push(() => app.stop());
  await conversation(twin, workspace, signal);
}

/** A small git repository that a user other than root can use. */
async function makeWorkspace(root: string): Promise<string> {
  const workspace = join(root, "workspace");
  mkdirSync(workspace);
  mkdirSync(join(root, "state"));
  writeFileSync(join(workspace, "README.md"), "# A workspace for the demo\n");
  // Nobody's own settings: they may sign commits or run hooks.
  const git = execa({ cwd: workspace, env: { GIT_CONFIG_GLOBAL: "/dev/null", GIT_CONFIG_SYSTEM: "/dev/null" } });
  try {
    await git`git init -q -b main`;
    await git`git add .`;
    await git`git -c user.name=Demo -c user.email=demo@localhost commit -qm ${"A first commit"}`;
  } catch (thrown) {
    if (thrown instanceof ExecaError && thrown.code === "ENOENT") throw new DeckhandError("PROGRAM_MISSING", "git", { cause: thrown });
    throw thrown;
  }
  if (process.getuid?.() === 0) {
    chmodSync(root, 0o711);
    await execa`chown -R ${NOBODY}:${NOBODY} ${workspace}`;
  }
  return workspace;
}

async function conversation(twin: SlackTwin, workspace: string, signal: AbortSignal): Promise<void> {
  write("A loopback Slack, Redis, a scripted model and Deckhand are running. This is the thread:\n");
  const asked = await twin.say({ channel: CHANNEL, user: "U1", text: `<@${twin.botUserId}> ${TASK}` });
  const shown = new Map<string, string>();
  const show = (): void => {
    signal.throwIfAborted();
    for (const message of twin.thread(CHANNEL, asked.ts)) {
      const text = readable(message).replaceAll(`<@${twin.botUserId}>`, "@Deckhand");
      const before = shown.get(message.ts);
      if (before === text) continue;
      shown.set(message.ts, text);
      if (before !== undefined) write(changed(before, text));
      else write(`${message.bot_id ? "Deckhand" : "Ann"}\n${text.replace(/^/gm, "    ")}\n`);
    }
  };
  const card = await twin.waitFor(() => {
    show();
    return twin.thread(CHANNEL, asked.ts).find((m) => readable(m).includes("[ Approve ]"));
  }, 60_000);
  const yes = await decide(signal);
  await twin.press({ channel: CHANNEL, ts: card.ts, actionId: yes ? "approve" : "deny", user: "U1" });
  await twin.waitFor(() => {
    show();
    return (
      [...shown.values()].some((text) => /^(Done|Not done|Stopped) · /.test(text)) &&
      [...shown.values()].some((text) => text.includes("The branch is"))
    );
  }, 60_000);
  write(`That was a real run: the commands ran in ${workspace}, in the sandbox. It is removed now.\n`);
}

/** An edited message in one line: what it says now and did not say before. */
function changed(before: string, after: string): string {
  const old = new Set(before.split("\n"));
  const fresh = after.split("\n").filter((line) => !old.has(line));
  return `    (edited: ${fresh.join(" ") || "fewer lines"})\n`;
}

/** The keyboard's answer; approved by itself when nobody is there. */
async function decide(signal: AbortSignal): Promise<boolean> {
  if (!process.stdin.isTTY) {
    write(`(Nobody is at the keyboard: Ann presses Approve in ${APPROVE_AFTER_MS / 1000} s.)\n`);
    await systemClock.sleep(APPROVE_AFTER_MS, signal);
    signal.throwIfAborted();
    return true;
  }
  for (;;) {
    const answer = await askAt(process.stdout, "You are Ann. Approve? [y/n] ", signal);
    signal.throwIfAborted();
    const word = answer === null ? "n" : answer.trim().toLowerCase();
    if (word === "y" || word === "n") return word === "y";
  }
}

function write(text: string): void {
  process.stdout.write(`${text}\n`);
}
