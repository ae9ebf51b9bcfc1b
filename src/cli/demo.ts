import { ExecaError, execa } from "execa";
import { chmodSync, mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { delimiter, join } from "node:path";
import { startApp } from "../app.ts";
import { loadConfig, searchPath } from "../config.ts";
import { DeckhandError } from "../core/errors.ts";
import { bash, conversationScript, say } from "../model/script.ts";
import { startScriptedModel } from "../model/scripted.ts";
import { logTrace, systemClock } from "../system.ts";
import { discordStand, type Stand, slackStand } from "./demo-stands.ts";
import { askAt, interruption } from "./keyboard.ts";
import { startOwnRedis } from "./own-redis.ts";

/** Nobody's numbers: in the demo, commands of a Deckhand that was started by root run as this user. */
const NOBODY = 65_534;
const APPROVE_AFTER_MS = 10_000;
const TASK = "which git branch is this? Then create test_output with 3 files in it, afresh";

const script = conversationScript([
  {
    when: /test_output/,
    steps: [
      () => bash("git branch --show-current", "First the branch."),
      () =>
        bash(
          "rm -rf test_output && mkdir test_output && touch test_output/a.txt test_output/b.txt test_output/c.txt",
          "Now the files, in place of any old ones.",
        ),
      ({ lastResult }) =>
        lastResult.startsWith("Not run")
          ? say("The branch is **main**. I made no files, because you did not approve it.")
          : bash("ls -l test_output"),
      () => say("The branch is **main**, and `test_output` now holds 3 files: `a.txt`, `b.txt` and `c.txt`."),
    ],
  },
]);

/** `deckhand demo`: Redis, a loopback Slack and Discord, a scripted model and the product itself; a scripted person asks on each. */
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
  const stands = await Promise.all([slackStand(), discordStand()]);
  for (const stand of stands) closers.push(() => stand.close());
  const config = await loadConfig({
    ...Object.assign({}, ...stands.map((stand) => stand.env)),
    OPENAI_BASE_URL: model.baseUrl,
    OPENAI_MODEL: "scripted",
    REDIS_URL: redis.url,
    DECKHAND_WORKSPACES: `demo=${workspace}`,
    DECKHAND_USERS: "slack:*,discord:*",
    DECKHAND_APPROVERS: stands.map((stand) => stand.ann).join(","),
    DECKHAND_STATE: join(root, "state"),
    PATH: searchPath().join(delimiter),
  });
  const app = await startApp(config, "all", logTrace("error", config.secrets), signal);
  closers.push(() => app.stop());
  write("A loopback Slack and Discord, Redis, a scripted model and Deckhand are running.\n");
  for (const stand of stands) {
    await conversation(stand, signal);
    // The other person finds the folder as the first did.
    rmSync(join(workspace, "test_output"), { recursive: true, force: true });
  }
  write(`These were real runs: the commands ran in ${workspace}, in the sandbox. It is removed now.\n`);
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

async function conversation(stand: Stand, signal: AbortSignal): Promise<void> {
  write(`---- the thread in ${stand.name} ----\n`);
  const thread = await stand.mention(TASK);
  const shown = new Map<string, string>();
  const show = (): void => {
    signal.throwIfAborted();
    for (const { id, bot, text } of stand.thread(thread)) {
      const before = shown.get(id);
      if (before === text) continue;
      shown.set(id, text);
      if (before !== undefined) write(changed(before, text));
      else write(`${bot ? "Deckhand" : "Ann"}\n${text.replace(/^/gm, "    ")}\n`);
    }
  };
  const card = await stand.waitFor(() => {
    show();
    return stand.thread(thread).find((m) => m.text.includes("[ Approve ]"));
  }, 60_000);
  const yes = await decide(signal);
  await stand.press(thread, card.id, yes ? "Approve" : "Deny");
  await stand.waitFor(() => {
    show();
    const texts = [...shown.values()];
    return texts.some((text) => /^(Done|Not done|Stopped) · /.test(text)) && texts.some((text) => text.includes("The branch is"));
  }, 60_000);
}

/** An edited message in one line: what it says now and did not say before. */
function changed(before: string, after: string): string {
  const old = new Set(before.split("\n"));
  const fresh = after.split("\n").filter((line) => !old.has(line));
  return `    (edited: ${fresh.join(" · ") || "fewer lines"})\n`;
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
