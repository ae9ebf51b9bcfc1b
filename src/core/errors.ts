/**
 * Every error that a person can meet: a code, what happened, what to do. `{}` takes the detail.
 * README's table of codes is checked against this list by a test.
 */
export const ERRORS = {
  BAD_CONVERSATION: [
    "There is no conversation {}",
    "Use the form slack:TEAM:CHANNEL:TS or discord:SERVER:THREAD; the log lines of `deckhand start` name them.",
  ],
  BAD_INPUT: ["{}", "See `deckhand --help`."],
  CONFIG: ["The configuration has a problem: {}", "Mend it, then run `deckhand doctor`."],
  NODE_OLD: ["Node {} is too old", "Install Node 22.18 or newer, or run `npm ci`, which brings Node 24."],
  PROGRAM_MISSING: ["{} is not installed", "Run `script/bootstrap`."],
  REDIS_DOWN: ["Redis does not answer: {}", "Start it (`redis-server --appendonly yes --appendfsync always` will do) and check REDIS_URL."],
  REDIS_AUTH: ["Redis wants another password: {}", "Write the right one into REDIS_URL: redis://:PASSWORD@HOST:PORT."],
  REDIS_UNSAFE: ["This Redis can lose or leak work: {}", "Mend its configuration; docker-compose.yml shows a right one."],
  REDIS_LOADING: ["Redis is still reading its file after a start: {}", "Wait: everything goes on by itself then."],
  REDIS_FULL: [
    "Redis is nearly full: {}",
    "What runs goes on; no new task is taken from 85 % on. Whoever runs Deckhand can give Redis more memory (`maxmemory`); then ask again.",
  ],
  REDIS_DISK: [
    "Redis cannot write to its disk: {}",
    "Make room there, or mend what keeps it from writing. Meanwhile it takes nothing; what arrives is taken later, and nothing is lost that was taken.",
  ],
  REDIS_FENCED: ["Another worker took this conversation over", "Nothing to do: the other worker goes on."],
  SANDBOX_MISSING: ["bubblewrap is not installed", "Run `script/bootstrap`, or `apt-get install bubblewrap`."],
  SANDBOX_TOOL: [
    "{} is not installed",
    "Run `script/bootstrap`, or install its package (setpriv and flock: util-linux; socat: socat), then run `deckhand doctor`.",
  ],
  SANDBOX_DENIED: [
    "The sandbox cannot start on this machine: {}",
    "Run `deckhand doctor` as the same user, and look at what bubblewrap says: it needs user namespaces and mounts of its own.",
  ],
  SANDBOX_USERNS: [
    "The sandbox cannot start, because this machine lets no ordinary user make namespaces: {}",
    "As root, set it with `sysctl -w` (kernel.unprivileged_userns_clone=1, user.max_user_namespaces=15000), and in /etc/sysctl.d so that it stays.",
  ],
  SANDBOX_APPARMOR: [
    "The sandbox cannot start, because AppArmor keeps bubblewrap from making namespaces: {}",
    "As root, write these lines into /etc/apparmor.d/bwrap: `abi <abi/4.0>,` `include <tunables/global>` `profile bwrap /usr/bin/bwrap flags=(unconfined) {` `userns,` `}`, and load it with `apparmor_parser -r /etc/apparmor.d/bwrap`. Or lift it for all programs: `sysctl -w kernel.apparmor_restrict_unprivileged_userns=0`.",
  ],
  SANDBOX_CONTAINER: [
    "The sandbox cannot start, because this container does not let bubblewrap make namespaces and mounts: {}",
    "Start it with `--security-opt seccomp=unconfined --security-opt apparmor=unconfined --security-opt systempaths=unconfined`, as docker-compose.yml does for the worker (Podman: `seccomp=unconfined`, `unmask=ALL`, `label=disable`), or run the worker outside of a container.",
  ],
  SANDBOX_PROC: [
    "The sandbox cannot have a /proc of its own: {}",
    "In a container, add `--security-opt systempaths=unconfined` (Podman: `unmask=ALL`); in a systemd unit, take ProtectKernelTunables=, ProtectKernelLogs=, ProtectProc= and ProcSubset= away.",
  ],
  SANDBOX_ROOT: [
    "Deckhand runs as root here and cannot become the user that commands run as: {}",
    "Start it as an ordinary user (in a container `--user 1000`), or leave it the capabilities SETUID and SETGID.",
  ],
  SANDBOX_CGROUP: [
    "The limits for the memory and processes of a command cannot be set: {}",
    "Restart Deckhand's systemd unit (it needs Delegate=yes); `deckhand doctor` tells whether limits are on.",
  ],
  SANDBOX_LEAKS: ["The sandbox failed its own test: {}", "Do not use this machine until `deckhand doctor` is green."],
  SANDBOX_RUNNER: [
    "The process that runs commands could not do its work: {}",
    "Ask once more; if it ended, it was started again. If it happens often, look at the memory and disk of this machine.",
  ],
  RUN_AS: ["Commands must not run as root: {}", "Give the folder to another user (`chown -R USER FOLDER`) or set DECKHAND_RUN_AS=USER."],
  WORKSPACE_MISSING: ["The workspace {} is not there", "Create the folder, or mend DECKHAND_WORKSPACES or --workspace."],
  WORKSPACE_UNUSABLE: [
    "The user that commands run as cannot use the workspace {}",
    "Make it writable for that user: `chown -R USER FOLDER`, or set DECKHAND_RUN_AS.",
  ],
  STATE_UNUSABLE: [
    "Deckhand's state folder cannot be used: {}",
    "Set DECKHAND_STATE to a folder that every user may pass through, such as /var/lib/deckhand.",
  ],
  WORKSPACE_REFUSED: [
    "{} cannot be a workspace",
    "Choose a folder of its own (DECKHAND_WORKSPACES or --workspace), not a system folder, not above Deckhand's program, state or configuration.",
  ],
  GRANT_REFUSED: [
    "An approval cannot give that: {}",
    "Do it without, or do it by hand outside of Deckhand; what a workspace may give is said in deckhand.yaml.",
  ],
  WORKSPACE_CLAIMED: [
    "Another host has the workspace {}",
    "A workspace belongs to one host. Stop the workers there and start again a minute after the last has ended, or take the workspace out of DECKHAND_WORKSPACES here.",
  ],
  WORKSPACE_LINKS: [
    "No command runs by itself in this workspace: {}",
    "Put an ordinary file or folder in its place; what Git runs by itself could not be kept read-only otherwise.",
  ],
  TOOL_BROKEN: ["A tool cannot be used: {}", "Mend the file or take it away."],
  PRICE_UNKNOWN: [
    "There is a limit in money, but nobody knows what the model costs: {}",
    "Add its price to `prices` in deckhand.yaml; until then that limit holds nothing back, and only those in tokens do.",
  ],
  MODEL_AUTH: ["The model's service refuses our key (401)", "Set OPENAI_API_KEY to a valid key."],
  MODEL_FORBIDDEN: [
    "The model's service does not let this key use it (403): {}",
    "Check what the key may use, or choose another OPENAI_MODEL.",
  ],
  MODEL_URL: ["Nothing answers at the model's address (404): {}", "Check OPENAI_BASE_URL (it usually ends in /v1) and OPENAI_MODEL."],
  MODEL_QUOTA: [
    "The account of the model's service has no credit left",
    "Top it up or change the key; asking again will not help before that.",
  ],
  MODEL_BUSY: ["The model's service refuses more requests right now (429)", "Ask again in a few minutes."],
  MODEL_DOWN: ["The model does not answer: {}", "Ask again in a few minutes. If it lasts, check OPENAI_BASE_URL and the service's status."],
  MODEL_TIMEOUT: ["The model stopped talking in the middle: {}", "Ask again. If it happens often, the service is overloaded."],
  MODEL_HTML: [
    "The model's address answers with a web page, not with a model",
    "Check OPENAI_BASE_URL: it must be the API's address, usually ending in /v1.",
  ],
  MODEL_EMPTY: ["The model answered with nothing", "Ask again in other words, or choose another OPENAI_MODEL."],
  MODEL_CUT: ["The model's answer was cut off: {}", "Ask again, for a smaller piece of work."],
  MODEL_FILTER: ["The model's service blocked this conversation: {}", "Say it in other words; asking the same again will not help."],
  MODEL_OVERFLOW: ["This conversation is too long for the model", "Start a new thread, or choose a model with a larger window."],
  MODEL_REFUSED: ["The model's service does not accept the request: {}", "Check OPENAI_MODEL and that the model can call functions."],
  MODEL_MISSING: [
    "The model's service has no such model: {}",
    "Set OPENAI_MODEL to a name of its list; a local server has to load (Ollama: pull) the model first.",
  ],
  MODEL_TOOLS: [
    "The model cannot call functions here: {}",
    "Start vLLM with --enable-auto-tool-choice and --tool-call-parser, llama.cpp with --jinja; else choose another OPENAI_MODEL.",
  ],
  MODEL_CALL: [
    "The model wrote a call that its own service could not read: {}",
    "Ask again; if it happens often, choose another OPENAI_MODEL.",
  ],
  MODEL_HISTORY: [
    "The model's service cannot read what was said in this thread before: {}",
    "Start a new thread, and please report it with `deckhand trace` of this one.",
  ],
  SLACK_AUTH: ["Slack refuses the token: {}", "Set SLACK_BOT_TOKEN (xoxb-) and SLACK_APP_TOKEN (xapp-) from the app's pages."],
  SLACK_SCOPE: ["The Slack app lacks what it needs: {}", "Paste `deckhand manifest slack` into the app's manifest, then install it again."],
  SLACK_CHANNEL: [
    "Deckhand may not do in this Slack channel what it needs: {}",
    "Invite it there (`/invite @Deckhand`); see that the id is right, the channel is not archived, and apps may post in it.",
  ],
  SLACK_DOWN: ["Slack does not answer: {}", "A running Deckhand keeps trying. If it lasts, look at this machine's way to slack.com."],
  DISCORD_AUTH: ["Discord refuses the token: {}", "Set DISCORD_TOKEN to the token from the Bot page of the application's pages."],
  DISCORD_INTENTS: [
    "The Discord application lacks what it needs: {}",
    "Switch it on under Bot, Privileged Gateway Intents, in the application's pages.",
  ],
  DISCORD_PERMISSION: [
    "Deckhand may not do in Discord what it needs: {}",
    "Open the link of `deckhand manifest discord` once more, and look at the permissions of the channel itself.",
  ],
  DISCORD_DOWN: ["Discord does not answer: {}", "A running Deckhand keeps trying. If it lasts, look at this machine's way to discord.com."],
  NO_PRESS: [
    "No press of the button arrived within {}",
    "Was it pressed, with no other Deckhand running on this token? On Slack, Interactivity and Socket Mode must be on (`deckhand manifest slack`); on Discord, the application's Interactions Endpoint URL must be empty.",
  ],
  CONVERSATION_PARKED: [
    "The work in this thread ended its worker several times in a row, so it is set aside: `deckhand retry {}` lets it go on",
    "What you asked is kept, and so is what you write meanwhile. Whoever runs Deckhand can see in the worker's log lines what happened, and run that command; `stop` ends it.",
  ],
  CONVERSATION_GOES_ON: ["{} is not parked", "Nothing to do: what is asked there is worked on as always."],
  INTERNAL: ["Something went wrong in Deckhand: {}", "Nothing is lost. Please report it with `deckhand trace` of this thread."],
} as const satisfies Record<string, readonly [what: string, mend: string]>;

export type ErrorCode = keyof typeof ERRORS;

/** An error that we expected: `code` names it, `what` and `mend` are for people. */
export class DeckhandError extends Error {
  readonly code: ErrorCode;
  readonly what: string;
  readonly mend: string;
  /** Milliseconds after which trying again makes sense; undefined when it does not. */
  readonly retryAfterMs: number | undefined;
  /** What the model wrote that its own service could not read. */
  readonly said: string | undefined;

  constructor(code: ErrorCode, detail = "", options: { cause?: unknown; retryAfterMs?: number; said?: string } = {}) {
    const what = ERRORS[code][0].replace("{}", () => detail);
    super(`${code}: ${what}`, options.cause === undefined ? {} : { cause: options.cause });
    this.name = "DeckhandError";
    this.code = code;
    this.what = what;
    this.mend = ERRORS[code][1];
    this.retryAfterMs = options.retryAfterMs;
    this.said = options.said;
  }

  /** One line for a chat or a terminal: what happened, what to do, the code. */
  line(): string {
    return `${this.what}. ${this.mend} (${this.code})`;
  }
}

/** Any thrown thing as one of ours; what we did not expect becomes INTERNAL with its message only. */
export function asDeckhandError(thrown: unknown): DeckhandError {
  if (thrown instanceof DeckhandError) return thrown;
  return new DeckhandError("INTERNAL", messageOf(thrown), { cause: thrown });
}

/** The message of any thrown thing, on one line; never empty, never `[object Object]`. Never throws. */
export function messageOf(thrown: unknown): string {
  const [line = ""] = textOf(thrown).trim().split("\n");
  return line || "unknown";
}

function textOf(thrown: unknown): string {
  if (thrown instanceof AggregateError && !thrown.message) return thrown.errors.map(messageOf).join("; ");
  if (thrown instanceof Error) return thrown.message || thrown.name;
  if (typeof thrown === "string") return thrown;
  try {
    return JSON.stringify(thrown) ?? "";
  } catch {
    return ""; // circular, or a BigInt: there is nothing readable in it
  }
}

/** Nothing was started, for one or more reasons; each line tells what happened and what to do. */
export class NotStarted extends Error {
  readonly lines: string[];
  constructor(lines: string[]) {
    super(lines.join("\n"));
    this.name = "NotStarted";
    this.lines = lines;
  }
}
