import type { Inbound } from "../../../src/core/inbound.ts";
import type { Log } from "../../../src/core/log.ts";
import type { Chat, Clock, Reply, Trace } from "../../../src/core/ports.ts";
import { slackChat } from "../../../src/chat/slack/slack.ts";
import { type SlackTwin, type SlackTwinOptions, startSlackTwin } from "../../../src/twin/slack/twin.ts";

export const realClock: Clock = {
  now: () => Date.now(),
  sleep: (ms, signal) =>
    new Promise((resolve) => {
      const done = (): void => {
        clearTimeout(timer);
        resolve();
      };
      const timer = setTimeout(done, ms);
      signal?.addEventListener("abort", done, { once: true });
      if (signal?.aborted) done();
    }),
};

export interface Marks extends Pick<Log, "mark" | "marked" | "threadsSince" | "once"> {
  marks: Map<string, string>;
  threads: string[];
}

/** The part of the log that the wire uses, in memory. */
export function memoryMarks(): Marks {
  const marks = new Map<string, string>();
  const threads: string[] = [];
  const seen = new Set<string>();
  return {
    marks,
    threads,
    mark: async (name, value) => void marks.set(name, value),
    marked: async (name) => marks.get(name) ?? null,
    threadsSince: async () => [...threads],
    once: async (name) => !seen.has(name) && Boolean(seen.add(name)),
  };
}

export interface Told {
  event: string;
  fields: Record<string, unknown>;
}

export function listTrace(): Trace & { told: Told[] } {
  const told: Told[] = [];
  const note = (event: string, fields: Record<string, unknown> = {}): void => void told.push({ event, fields });
  return { told, info: note, warn: note, error: note };
}

export interface Room {
  twin: SlackTwin;
  chat: Chat;
  log: Marks;
  trace: ReturnType<typeof listTrace>;
  /** Every arrival, also the second of the same event. */
  arrived: Inbound[];
  /** Ids of the events, each once, in order of arrival. */
  events(): string[];
  /** Replaces what happens to an arrival before it counts as kept. */
  onArrive(act: (inbound: Inbound) => Promise<Reply>): void;
  close(): Promise<void>;
}

export interface RoomOptions {
  twin?: SlackTwinOptions;
  log?: Marks;
  watch?: string[];
  /** A workspace that is there already; it stays open at `close`. */
  reuse?: SlackTwin;
  started?: boolean;
}

/** A workspace with two people, a channel C1, a direct message D1, and our wire connected to it. */
export async function openRoom(options: RoomOptions = {}): Promise<Room> {
  const twin = options.reuse ?? (await startSlackTwin({ retryDelaysMs: [50, 200, 500], ...options.twin }));
  if (!options.reuse) furnish(twin);
  const log = options.log ?? memoryMarks();
  const trace = listTrace();
  const { botToken, appToken, apiUrl } = twin;
  const chat = slackChat({ botToken, appToken, apiUrl, trace, log, clock: realClock, watch: options.watch ?? ["slack:C1", "discord:9"] });
  const arrived: Inbound[] = [];
  let act: (inbound: Inbound) => Promise<Reply> = async () => ({});
  const room: Room = {
    twin,
    chat,
    log,
    trace,
    arrived,
    events: () => [...new Set(arrived.map((inbound) => inbound.event))],
    onArrive: (next) => {
      act = next;
    },
    close: async () => {
      await chat.stop();
      if (!options.reuse) await twin.close();
    },
  };
  const arrive = async (inbound: Inbound): Promise<Reply> => {
    const reply = await act(inbound);
    arrived.push(inbound);
    return reply;
  };
  if (options.started !== false) {
    await chat.start(arrive);
    await twin.waitFor(() => twin.sockets() === 2);
  }
  return room;
}

export function furnish(twin: SlackTwin): void {
  twin.addUser({ id: "U1", name: "Ada" });
  twin.addUser({ id: "U2", name: "Bob" });
  twin.addChannel({ id: "C1", name: "general" });
  twin.addChannel({ id: "D1", name: "ada" });
}

/** Key of a thread in the twin's workspace. */
export function threadKey(channel: string, ts: string): string {
  return `slack:T1:${channel}:${ts}`;
}
