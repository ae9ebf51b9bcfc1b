import { afterEach, describe, expect, it } from "vitest";
import { areOurs, discordPeople } from "../../../src/chat/discord/people.ts";
import { discordApi } from "../../../src/chat/discord/api.ts";
import { realClock } from "../slack/kit.ts";
import { ADA, GENERAL, openRoom, type Room } from "./kit.ts";

let room: Room | undefined;
afterEach(() => room?.close());

const user = { id: ADA, username: "ada", global_name: "Ada" };

async function person(member: Parameters<ReturnType<typeof discordPeople>>[2], isOurs = true, who: object = {}): Promise<unknown> {
  room = await openRoom({ started: false });
  const people = discordPeople({ api: discordApi(room.twin), clock: realClock, isOurs: () => isOurs });
  return await people({ ...user, ...who }, room.twin.guildId, member);
}

describe("who somebody is", () => {
  it("is a member by the name that they have there, with their roles", async () => {
    expect(await person({ nick: "Ada L.", roles: ["7", "8"] })).toEqual({
      key: `discord:${ADA}`,
      name: "Ada L.",
      kind: "member",
      roles: ["discord:role:7", "discord:role:8"],
    });
  });

  it.each([
    ["has not agreed to the rules yet", { roles: [], pending: true }, "guest"],
    ["came for one voice channel", { roles: [], flags: 1 << 4 }, "guest"],
  ])("is a guest who %s", async (_, member, kind) => {
    expect(await person(member)).toMatchObject({ kind });
  });

  it("is no member in a server that is not ours", async () => {
    expect(await person({ roles: ["7"] }, false)).toMatchObject({ kind: "external" });
  });

  it("is a bot when Discord says so", async () => {
    expect(await person({ roles: [] }, true, { bot: true })).toMatchObject({ kind: "bot" });
  });

  it("is looked up when the history does not tell, once in a while", async () => {
    room = await openRoom({ started: false });
    const people = discordPeople({ api: discordApi(room.twin), clock: realClock, isOurs: () => true });
    const both = [await people(user, room.twin.guildId, null), await people(user, room.twin.guildId, null)];
    expect(both).toMatchObject([{ kind: "member" }, { kind: "member" }]);
    expect(room.twin.calls("GET /guilds/*/members/*")).toHaveLength(1);
  });

  it("must be known: when Discord does not say, nothing is kept", async () => {
    room = await openRoom({ started: false });
    const people = discordPeople({ api: discordApi(room.twin), clock: realClock, isOurs: () => true });
    room.twin.fault({ route: "GET /guilds/*/members/*", status: 500, times: 3 });
    await expect(people(user, room.twin.guildId, null)).rejects.toThrow();
    expect(await people(user, room.twin.guildId, null)).toMatchObject({ kind: "member" });
  });
});

it("the people of several servers are ours only when channels say where the bot works", () => {
  expect(areOurs([], 1)).toBe(true);
  expect(areOurs([], 2)).toBe(false);
  expect(areOurs([GENERAL], 2)).toBe(true);
});
