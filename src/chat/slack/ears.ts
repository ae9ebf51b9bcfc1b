import { App } from "@slack/bolt";
import { channelIds, CHOICES, type Inbound, PRESS_ACTIONS } from "../../core/inbound.ts";
import { lines } from "../../core/lines.ts";
import type { Log } from "../../core/log.ts";
import type { Clock, Reply, Trace } from "../../core/ports.ts";
import { LIMITS } from "../../limits.ts";
import { Backfill } from "./backfill.ts";
import { type Clients, clientOptions, slackLogger } from "./clients.ts";
import { type Reading, readActions, readEvent, type Self } from "./inbound.ts";
import { whisper } from "./out.ts";
import { slackPeople } from "./people.ts";
import { type Delivery, SlackReceiver } from "./receiver.ts";

export interface EarsOptions {
  botToken: string;
  appToken: string;
  apiUrl: string | null;
  trace: Trace;
  log: Pick<Log, "mark" | "marked" | "threadsSince" | "once">;
  clock: Clock;
  /** Channel keys to look through after an absence, as in DECKHAND_CHANNELS; those of other platforms are left out. */
  watch: string[];
}

export interface Ears {
  start(): Promise<void>;
  stop(): Promise<void>;
}

/** The action ids of our buttons. */
const BUTTONS = new RegExp(`^(?:${[...PRESS_ACTIONS, ...CHOICES].join("|")})$`);

type Arrive = (inbound: Inbound) => Promise<Reply>;

const SOCKETS = 2;
/** Slack's first two attempts come within a minute; a look at the history soon after the first is enough. */
const UNACKED_MS = 5_000;
/** After "too many events" Slack goes on within a minute. */
const LEFT_OUT_MS = 60_000;

/** Everything that hears Slack: Bolt's App behind our receiver, the look-up of people, the backfill. */
export function slackEars(options: EarsOptions, clients: Clients, self: Self & { botId: string }, arrive: Arrive): Ears {
  const { trace } = options;
  const logger = slackLogger(trace);
  const hear = hearing(options, clients, self, arrive);
  const backfill = new Backfill({
    ...options,
    client: clients.lookup,
    channels: channelIds("slack", options.watch),
    hear: async (event) => {
      const delivery: Delivery = {};
      await hear(readEvent(event, self), delivery);
      await delivery.after?.();
    },
  });
  const receiver = new SlackReceiver({
    ...options,
    sockets: SOCKETS,
    logger,
    onUp: () => backfill.catchUp(),
    onMissed: () => backfill.catchUp(LEFT_OUT_MS),
    onUnacked: ({ event }) => backfill.missed(event as Record<string, unknown>, UNACKED_MS),
  });
  const app = new App({
    receiver,
    logger,
    clientOptions: clientOptions(options.apiUrl, 0, 10_000),
    // A failing `authorize` would make Bolt drop the event: what it needs is known already.
    authorize: async () => ({ botToken: options.botToken, botId: self.botId, botUserId: self.user, teamId: self.team }),
    ignoreSelf: false,
    convoStore: false,
  });
  app.error(async (error) => {
    throw error;
  });
  const listen = listening(hear, backfill);
  app.event(/^(?:app_mention|message)$/, async ({ event, context }) => {
    await listen(readEvent(event, self), context["delivery"] as Delivery, (context.retryNum ?? 0) > 0);
  });
  app.action(BUTTONS, async ({ body, context }) => {
    await listen(readActions(body, self), context["delivery"] as Delivery, false);
  });
  return {
    start: async () => {
      await app.start();
    },
    stop: async () => {
      await app.stop();
      await backfill.stop();
    },
  };
}

type Hear = (reading: Reading, delivery: Delivery) => Promise<void>;

/** Hears what comes live, and then tells the backfill. */
function listening(hear: Hear, backfill: Backfill): (reading: Reading, delivery: Delivery, again: boolean) => Promise<void> {
  return async (reading, delivery, again) => {
    await hear(reading, delivery);
    if (reading.kind !== "heard" || reading.ts === null) return;
    const { place, ts } = reading;
    const told = delivery.after;
    delivery.after = async () => {
      await told?.();
      // A mention that was not kept at first: replies to it that came meanwhile were nobody's.
      if (again) backfill.catchUp();
      await backfill.saw(place.channel, ts);
    };
  };
}

/** From a reading to the core. Rejects when it was not kept; what the person is told waits in `delivery`. */
function hearing(options: EarsOptions, clients: Clients, self: Self, arrive: Arrive): Hear {
  const { trace, log, clock } = options;
  const people = slackPeople({ client: clients.lookup, team: self.team, clock, trace });
  const inLine = lines();
  /** What is being kept, by event: `app_mention` and `message` bring the same thing at the same time. */
  const underWay = new Map<string, Promise<Reply>>();

  function arriveOnce(inbound: Inbound): Promise<Reply> {
    const event = `${inbound.kind} ${inbound.event}`;
    const arriving = underWay.get(event) ?? arrive(inbound).finally(() => underWay.delete(event));
    underWay.set(event, arriving);
    return arriving;
  }

  return async (reading, delivery) => {
    if (reading.kind === "ignored") return;
    const { place, named, inbound, ts } = reading;
    delivery.onLost = () => whisper(clients, place, "That did not reach me. Please try it once more.");
    const hearIt = async (): Promise<[Inbound, Reply]> => {
      const [by, names] = await Promise.all([people.person(place.user), people.names(named)]);
      const arrived = inbound(by, names);
      return [arrived, await arriveOnce(arrived)];
    };
    // A reply must not overtake the mention that opens its conversation. A press waits for nobody: Slack gives it 3 s.
    const [arrived, { whisper: words }] = await (ts === null ? hearIt() : inLine(`${place.channel}:${place.thread ?? ts}`, ts, hearIt));
    if (!words) return;
    delivery.after = async () => {
      // `app_mention` and `message` bring the same thing, and so may a backfill.
      if (await log.once(`slack:told:${arrived.event}`, LIMITS.seenTime)) await whisper(clients, place, words);
    };
  };
}
