import { afterEach, expect, test } from "vitest";
import { type Room, openRoom } from "./kit.ts";

/** A reply that is heard before the mention that opens its conversation would be nobody's. */

let room: Room;

afterEach(() => room.close());

const texts = (): string[] => room.arrived.flatMap((each) => ("text" in each ? [`${each.kind} ${each.text}`] : []));

test("a reply waits for its thread's mention, whose look-up of names takes long", async () => {
  room = await openRoom();
  const { twin } = room;
  twin.addUser({ id: "U7", name: "Gus" });
  await twin.say({ channel: "C1", user: "U1", text: `<@${twin.botUserId}> hello` });
  await twin.waitFor(() => texts().length > 0);
  room.arrived.length = 0;
  twin.fault({ method: "users.info", delayMs: 800 });
  const { ts } = await twin.say({ channel: "C1", user: "U1", text: `<@${twin.botUserId}> tell <@U7> the time` });
  await twin.say({ channel: "C1", user: "U1", text: "in UTC", thread: ts });
  await twin.waitFor(() => texts().includes("reply in UTC"));
  expect(texts()[0]).toBe("mention tell @Gus the time");
});

test("an edit that could not be kept is heard later, though no history tells of it", async () => {
  room = await openRoom({ watch: [], twin: { retryDelaysMs: [60_000] } });
  const { twin } = room;
  const { ts } = await twin.say({ channel: "C1", user: "U1", text: `<@${twin.botUserId}> hello` });
  await twin.waitFor(() => texts().length > 0);
  let down = true;
  room.onArrive(async () => {
    if (down) throw new Error("not kept");
    return {};
  });
  await twin.editMessage({ channel: "C1", ts, text: `<@${twin.botUserId}> goodbye` });
  await twin.waitFor(() => room.trace.told.some(({ event }) => event === "slack.not-kept"));
  down = false;
  await twin.waitFor(() => texts().includes("edit goodbye"), 12_000);
}, 40_000);

test("in a channel that is not watched, when a mention is kept only later, what was written after it is looked for", async () => {
  room = await openRoom({ watch: [], twin: { retryDelaysMs: [60_000] } });
  const { twin, log } = room;
  const open: string[] = [];
  let down = true;
  room.onArrive(async (inbound) => {
    if (inbound.kind === "mention" && down) throw new Error("not kept");
    if (inbound.kind === "mention") log.threads.push(inbound.thread.key);
    if (inbound.kind === "reply" && log.threads.includes(inbound.thread.key)) open.push(inbound.text);
    return {};
  });
  const { ts } = await twin.say({ channel: "C1", user: "U1", text: `<@${twin.botUserId}> hello` });
  await twin.say({ channel: "C1", user: "U1", text: "and more", thread: ts });
  // It is heard once more, in vain.
  await twin.waitFor(() => room.trace.told.some(({ event }) => event === "slack.backfill-failed"), 9_000);
  expect(open).toEqual([]);
  down = false;
  await twin.waitFor(() => open.includes("and more"), 12_000);
}, 40_000);
