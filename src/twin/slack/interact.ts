import { randomUUID } from "node:crypto";
import type { Call, Method } from "./method.ts";
import { need, objectArg, optional } from "./method.ts";
import { ownPost } from "./chat.ts";
import type { Hub, Outcome } from "./socket.ts";
import { changeMessage, removeMessage, storeMessage } from "./messages.ts";
import type { Json, StoredView, TwinMessage, World } from "./state.ts";
import { escapeText, Refusal } from "./state.ts";
import { checkContent, checkView } from "./validate.ts";

const TRIGGER_MS = 3_000;
const RESPONSE_USES = 5;
const RESPONSE_MS = 30 * 60_000;

export interface Press {
  channel: string;
  ts: string;
  actionId: string;
  user: string;
  /** Which of several buttons with the same action id. */
  value?: string;
  /** The person's screen still shows an earlier form of the message. */
  stale?: boolean;
}

export interface Submission {
  viewId: string;
  user: string;
  /** block_id -> action_id -> what was typed. */
  values: Record<string, Record<string, string>>;
}

export const viewMethods: Record<string, Method> = {
  "views.open": { tier: 100, run: openView },
  "views.update": { tier: 100, run: updateView },
};

/** Buttons and modals: what a person does with them, and what the app may do with that. */
export class Interactivity {
  readonly #world: World;
  readonly #hub: Hub;
  readonly #url: string;
  readonly #triggers = new Map<string, { user: string; until: number; used: boolean }>();
  readonly #responses = new Map<string, { message: TwinMessage; user: string; uses: number; until: number }>();

  constructor(world: World, hub: Hub, url: string) {
    this.#world = world;
    this.#hub = hub;
    this.#url = url;
  }

  trigger(user: string): string {
    const id = `${Date.now()}.${randomUUID()}`;
    this.#triggers.set(id, { user, until: Date.now() + TRIGGER_MS, used: false });
    return id;
  }

  /** Spends a trigger id, gives whose it was. Throws Slack's three refusals. */
  spend(id: string): string {
    const trigger = this.#triggers.get(id);
    if (!trigger) throw new Refusal("invalid_trigger_id");
    if (trigger.used) throw new Refusal("exchanged_trigger_id");
    if (trigger.until < Date.now()) throw new Refusal("expired_trigger_id");
    trigger.used = true;
    return trigger.user;
  }

  #base(user: string): Json {
    const person = this.#world.users.get(user);
    if (!person) throw new Error(`no user ${user}`);
    return {
      user: { id: user, username: person.name, name: person.name, team_id: person.teamId ?? this.#world.teamId },
      team: { id: this.#world.teamId, domain: "twin" },
      enterprise: null,
      is_enterprise_install: false,
      api_app_id: this.#world.appId,
      token: "verification",
      trigger_id: this.trigger(user),
    };
  }

  /** A person presses a button of a message of the app. Throws when the message does not show that button. */
  async press(press: Press): Promise<{ acked: boolean }> {
    const message = this.#world.message(press.channel, press.ts);
    const { block, element } = this.#button(message, press);
    const { channel: _channel, metadata: _metadata, ...shown } = structuredClone(message as TwinMessage);
    const response = randomUUID();
    this.#responses.set(response, {
      message: message as TwinMessage,
      user: press.user,
      uses: RESPONSE_USES,
      until: Date.now() + RESPONSE_MS,
    });
    const outcome = await this.#hub.sendInteractive(
      {
        type: "block_actions",
        ...this.#base(press.user),
        container: { type: "message", message_ts: press.ts, channel_id: press.channel, is_ephemeral: false, thread_ts: shown.thread_ts },
        channel: { id: press.channel, name: this.#world.channels.get(press.channel)?.name },
        message: shown,
        state: { values: {} },
        response_url: `${this.#url}/response/${response}`,
        actions: [{ ...element, block_id: block.block_id, action_ts: this.#world.ts() }],
      },
      false,
    );
    return { acked: outcome.acked };
  }

  #button(message: TwinMessage | undefined, press: Press): { block: Json; element: Json } {
    const earlier = press.stale ? (this.#world.earlier.get(`${press.channel}:${press.ts}`) ?? []) : [];
    for (const blocks of [message?.blocks, ...earlier.toReversed()]) {
      for (const block of message?.app_id === this.#world.appId ? (blocks ?? []) : []) {
        const elements = [...((block.elements as Json[] | undefined) ?? []), block.accessory as Json | undefined];
        const element = elements.find(
          (each) => each?.action_id === press.actionId && (press.value === undefined || each.value === press.value),
        );
        if (element) return { block, element };
      }
    }
    throw new Error(`no button ${press.actionId} in ${press.channel} ${press.ts}: ${JSON.stringify(message) ?? "no such message"}`);
  }

  /** A person sends a modal. Gives what the app answered: `response_action` and its like. */
  async submit(submission: Submission): Promise<Outcome> {
    const view = this.#world.views.get(submission.viewId);
    if (!view) throw new Error(`no view ${submission.viewId}`);
    const values = Object.fromEntries(
      Object.entries(submission.values).map(([block, actions]) => [
        block,
        Object.fromEntries(Object.entries(actions).map(([action, value]) => [action, { type: "plain_text_input", value }])),
      ]),
    );
    const { user: _user, ...shown } = view;
    const payload = { type: "view_submission", ...this.#base(submission.user), view: { ...shown, state: { values } }, response_urls: [] };
    const outcome = await this.#hub.sendInteractive(payload, true);
    const action = outcome.response.response_action;
    if (action === "update") Object.assign(view, outcome.response.view);
    else if (outcome.acked && action !== "errors") this.#world.views.delete(view.id);
    this.#world.changed();
    return outcome;
  }

  /** A POST to a response_url. Throws Refusal. */
  respond(id: string, body: Json): void {
    const response = this.#responses.get(id);
    if (!response) throw new Refusal("invalid_response_url");
    if (response.until < Date.now() || response.uses < 1) throw new Refusal("used_url");
    response.uses -= 1;
    const { message, user } = response;
    if (body.delete_original === true) return removeMessage(this.#world, message);
    const { text = "", blocks, attachments } = checkContent(body, "post");
    const content = { text: escapeText(text, true), blocks, attachments };
    if (body.replace_original === true) return changeMessage(this.#world, message, this.#world.botUserId, content);
    const thread_ts = optional(body, "thread_ts");
    if (body.response_type === "in_channel")
      storeMessage(this.#world, { channel: message.channel, ...ownPost(this.#world), ...content, thread_ts });
    else this.#world.ephemerals.push({ channel: message.channel, user, text: content.text, blocks, thread_ts });
    this.#world.changed();
  }
}

function stored(world: World, view: Json, base: { id: string; user: string; root: string }): StoredView {
  const blocks = (view.blocks as Json[]).map((block) => ({ ...block, block_id: block.block_id ?? world.id("blk") }));
  const shown = { ...view, blocks, id: base.id, user: base.user, root_view_id: base.root, hash: `${Date.now()}.${world.id("h")}` };
  world.views.set(base.id, { ...shown, team_id: world.teamId, app_id: world.appId, bot_id: world.botId, state: { values: {} } });
  world.changed();
  return world.views.get(base.id) as StoredView;
}

function openView({ args, world, spendTrigger }: Call): Json {
  const view = objectArg(args, "view");
  const trigger = need(args, "trigger_id");
  checkView(view);
  const id = world.id("V");
  return { view: stored(world, view, { id, user: spendTrigger(trigger), root: id }) };
}

function updateView({ args, world }: Call): Json {
  const view = objectArg(args, "view");
  const old =
    world.views.get(optional(args, "view_id") ?? "") ??
    [...world.views.values()].find((each) => each.external_id === (optional(args, "external_id") ?? null));
  if (!old) throw new Refusal("not_found");
  if (optional(args, "hash") !== undefined && args.hash !== old.hash) throw new Refusal("hash_conflict");
  checkView(view);
  return { view: stored(world, view, { id: old.id, user: old.user, root: old.id }) };
}
