import type { Upload } from "./body.ts";
import { walk } from "./components.ts";
import { readContent } from "./content.ts";
import { changeMessage, makeMessage, storeMessage } from "./messages.ts";
import { bits } from "./permissions.ts";
import type { Json } from "./refusal.ts";
import { refuse, refuseForm } from "./refusal.ts";
import { shownChannel, shownMember, shownMessage, shownUser } from "./shown.ts";
import type { TwinChannel, TwinMessage, World } from "./state.ts";
import { DM, EPHEMERAL, isThread, LOADING } from "./state.ts";

const TOKEN_MS = 15 * 60_000;
const COMPONENT = 3;
const MODAL_SUBMIT = 5;

export const REPLY = 4;
export const DEFERRED_REPLY = 5;
export const DEFERRED_UPDATE = 6;
export const UPDATE = 7;
export const MODAL = 9;

export interface Press {
  /** The channel or thread; found by the message when not given. */
  channel?: string;
  messageId: string;
  customId: string;
  user: string;
  /** The person's screen still shows an earlier form of the message. */
  stale?: boolean;
}

/** What the app did in time. `type` is the callback's: 4 reply, 5 deferred reply, 6 deferred update, 7 update, 9 modal. */
export interface Outcome {
  acked: boolean;
  type?: number;
  deferred: boolean;
  /** The reply that the person alone saw. */
  ephemeral?: string;
  /** Names an opened modal for `submitModal`. */
  modal?: string;
}

export interface Submission {
  modal: string;
  user: string;
  /** custom_id -> what was typed. */
  values: Record<string, string>;
}

export interface Interaction {
  id: string;
  token: string;
  type: number;
  user: string;
  channel: TwinChannel;
  /** The message whose component was used. */
  message?: TwinMessage | undefined;
  at: number;
  /** The type of the first answer. */
  acked?: number;
  /** What `@original` means. */
  original?: TwinMessage | undefined;
  settle: (outcome: Outcome) => void;
}

/** What people do with buttons and modals, and what the app may answer. */
export class Interactions {
  readonly modals = new Map<string, { body: Json; interaction: Interaction }>();
  readonly #world: World;
  readonly #ackMs: number;
  readonly #dispatch: (body: Json, channel: TwinChannel) => boolean;
  readonly #known = new Map<string, Interaction>();

  /** `dispatch` gives false when there is nobody who could ever hear it. */
  constructor(world: World, ackMs: number, dispatch: (body: Json, channel: TwinChannel) => boolean) {
    this.#world = world;
    this.#ackMs = ackMs;
    this.#dispatch = dispatch;
  }

  /** A person uses a button. Throws when the message does not show it. */
  press(press: Press): Promise<Outcome> {
    const message = this.#message(press);
    const earlier = press.stale ? (this.#world.earlier.get(message.id) ?? []) : [];
    const shown = [message.components, ...earlier.toReversed()].flatMap((components) => walk(components));
    const used = shown.find(({ value }) => value.custom_id === press.customId && value.disabled !== true)?.value;
    if (!used || message.author !== this.#world.botUserId)
      throw new Error(`no button ${press.customId} in ${message.id}: ${JSON.stringify(message.components)}`);
    const data = { component_type: used.type, custom_id: used.custom_id, id: used.id };
    return this.#start(COMPONENT, press.user, message, data);
  }

  /** A person sends a modal that a press has opened. */
  submitModal({ modal, user, values }: Submission): Promise<Outcome> {
    const open = this.modals.get(modal);
    if (!open) throw new Error(`no modal ${modal}`);
    this.modals.delete(modal);
    const inputs = walk(open.body.components as Json[]).filter(({ value }) => value.type === 4);
    const components = inputs.map(({ value: { custom_id } }) => ({
      type: 1,
      components: [{ type: 4, custom_id, value: values[String(custom_id)] ?? "" }],
    }));
    const { message } = open.interaction;
    if (!message) throw new Error(`modal ${modal} belongs to no message`);
    return this.#start(MODAL_SUBMIT, user, message, { custom_id: open.body.custom_id, components });
  }

  #message({ channel, messageId }: Press): TwinMessage {
    const lists = channel === undefined ? [...this.#world.messages.values()] : [this.#world.in(channel)];
    const message = lists.flat().find(({ id, type }) => id === messageId && type !== 21);
    if (!message) throw new Error(`no message ${messageId}`);
    return message;
  }

  #start(type: number, user: string, message: TwinMessage, data: Json): Promise<Outcome> {
    const world = this.#world;
    const channel = world.channels.get(message.channel_id) as TwinChannel;
    if (!world.users.has(user)) throw new Error(`no user ${user}`);
    return new Promise((resolve) => {
      const timer = setTimeout(() => settle({ acked: false, deferred: false }), this.#ackMs);
      const settle = (outcome: Outcome): void => {
        clearTimeout(timer);
        resolve(outcome);
      };
      const id = world.snowflake();
      const interaction: Interaction = { id, token: world.secret(), type, user, channel, message, at: world.now(), settle };
      this.#known.set(interaction.id, interaction);
      if (!this.#dispatch(this.#payload(interaction, data), channel)) settle({ acked: false, deferred: false });
    });
  }

  #payload({ id, token, type, user, channel, message }: Interaction, data: Json): Json {
    const world = this.#world;
    const direct = channel.type === DM;
    const who = shownUser(world, user);
    const person = direct ? { user: who } : { member: { ...shownMember(world, user), user: who, permissions: String(bits([])) } };
    const { guildId } = world;
    return structuredClone({
      id,
      token,
      type,
      version: 1,
      application_id: world.applicationId,
      channel_id: channel.id,
      channel: { ...shownChannel(world, channel), permissions: "0" },
      ...(direct ? {} : { guild_id: guildId, guild: { id: guildId, locale: "en-US", features: [] }, guild_locale: "en-US" }),
      ...person,
      ...(message ? { message: shownMessage(world, message, true) } : {}),
      data,
      locale: "en-US",
      app_permissions: String(bits([...world.permissions].filter((each) => world.may(channel, each)))),
      entitlements: [],
      authorizing_integration_owners: direct ? { "1": user } : { "0": guildId },
      context: direct ? 1 : 0,
      attachment_size_limit: 10 * 1024 * 1024,
    });
  }

  /** The first answer. Throws 10062 when it is late or unknown, 40060 when there was one. */
  respond(id: string, token: string, body: Json, files: Upload[]): Interaction {
    const interaction = this.#known.get(id);
    if (!interaction || interaction.token !== token) throw refuse(10062);
    if (interaction.acked !== undefined) throw refuse(40060);
    if (this.#world.now() - interaction.at > this.#ackMs) {
      interaction.settle({ acked: false, deferred: false });
      throw refuse(10062);
    }
    const type = Number(body.type);
    const outcome = this.#answer(interaction, type, (body.data ?? {}) as Json, files);
    interaction.acked = type;
    interaction.settle({ acked: true, type, deferred: type === DEFERRED_REPLY || type === DEFERRED_UPDATE, ...outcome });
    return interaction;
  }

  #answer(interaction: Interaction, type: number, data: Json, files: Upload[]): Partial<Outcome> {
    if (type === DEFERRED_UPDATE || type === UPDATE) {
      interaction.original = interaction.message;
      if (type === UPDATE && interaction.message) this.edit(interaction.message, data, files);
      return {};
    }
    if (type === REPLY) {
      interaction.original = this.send(interaction, data, files);
      const alone = (interaction.original.flags & EPHEMERAL) !== 0;
      return alone ? { ephemeral: interaction.original.content } : {};
    }
    if (type === DEFERRED_REPLY) {
      const flags = LOADING | (Number(data.flags ?? 0) & EPHEMERAL);
      interaction.original = this.#keep(interaction, { flags, content: "" });
      return {};
    }
    if (type === MODAL && interaction.type !== MODAL_SUBMIT) {
      checkModal(data);
      this.modals.set(interaction.id, { body: data, interaction });
      return { modal: interaction.id };
    }
    throw refuseForm([{ path: ["type"], code: "BASE_TYPE_CHOICES", message: "Value must be one of (4, 5, 6, 7, 9)." }]);
  }

  /** Another message by the interaction: for all, or with flag 64 for its person alone. */
  send(interaction: Interaction, data: Json, files: Upload[]): TwinMessage {
    return this.#keep(interaction, readContent(data, { world: this.#world, interaction: true, files }));
  }

  #keep(interaction: Interaction, content: Partial<TwinMessage>): TwinMessage {
    const world = this.#world;
    const { applicationId, botUserId } = world;
    const by = { author: botUserId, webhook_id: applicationId, application_id: applicationId };
    const draft = { channel_id: interaction.channel.id, ...by, ...content };
    if (((content.flags ?? 0) & EPHEMERAL) === 0) return storeMessage(world, draft);
    const message = makeMessage(world, draft);
    world.ephemerals.push({ user: interaction.user, message });
    world.changed();
    return message;
  }

  /** Changes a message through the interaction. Throws 50083 in an archived thread. */
  edit(message: TwinMessage, data: Json, files: Upload[]): void {
    const world = this.#world;
    const content = readContent(data, { world, interaction: true, files, before: message });
    const change = { ...content, flags: content.flags & ~LOADING };
    if ((message.flags & EPHEMERAL) !== 0) {
      Object.assign(message, change);
      world.changed();
      return;
    }
    const channel = world.channels.get(message.channel_id);
    if (channel && isThread(channel) && channel.thread.archived) throw refuse(50083);
    changeMessage(world, message, change);
  }

  /** The interaction behind a webhook's address. Throws 50027 after 15 minutes, 10015 before the first answer. */
  byToken(token: string): Interaction {
    const interaction = [...this.#known.values()].find((each) => each.token === token);
    if (!interaction || this.#world.now() - interaction.at > TOKEN_MS) throw refuse(50027);
    if (interaction.acked === undefined) throw refuse(10015);
    return interaction;
  }
}

function checkModal(data: Json): void {
  const errors = [];
  for (const [name, max] of [
    ["title", 45],
    ["custom_id", 100],
  ] as const) {
    const value = data[name];
    if (typeof value !== "string" || value === "")
      errors.push({ path: ["data", name], code: "BASE_TYPE_REQUIRED", message: "This field is required" });
    else if (value.length > max)
      errors.push({ path: ["data", name], code: "BASE_TYPE_MAX_LENGTH", message: `Must be ${max} or fewer in length.` });
  }
  const rows = Array.isArray(data.components) ? (data.components as Json[]) : [];
  if (rows.length < 1 || rows.length > 5)
    errors.push({ path: ["data", "components"], code: "BASE_TYPE_BAD_LENGTH", message: "Must be between 1 and 5 in length." });
  if (errors.length > 0) throw refuseForm(errors);
}
