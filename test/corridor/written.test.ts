import { afterAll, beforeAll, expect, test, vi } from "vitest";
import { delta, type FaultServer, finish, startFaultServer } from "../model/fault-server.ts";
import { type Corridor, openCorridor } from "../support/corridor.ts";

vi.setConfig({ testTimeout: 90_000, hookTimeout: 120_000 });

const SECRET = "geheimes-Wort-9s8d7f6g";
const WORDS = `The key is ${SECRET}, and all ships are at sea; ${"the sea is calm and wide, ".repeat(20)}they said.`;

let service: FaultServer;
let deck: Corridor;
beforeAll(async () => {
  service = await startFaultServer();
  const env = { OPENAI_BASE_URL: service.url, OPENAI_MODEL: "m", OPENAI_API_KEY: SECRET };
  deck = await openCorridor({ rules: [], platform: "slack", env });
});
afterAll(async () => {
  await deck.close();
  await service.close();
});

test("the thread shows when a busy service is asked again, then the answer as it is written, and the answer whole even when edits fail", async () => {
  let asked = 0;
  const pieces = WORDS.match(/.{1,6}/gs) ?? [];
  service.next = (request) => {
    if (request.startsWith("GET")) return { status: 404, body: "{}" };
    if (asked++ === 0) return { status: 429, headers: { "retry-after": "4" }, body: '{"error":{"message":"slow down"}}' };
    return { frames: [...pieces.flatMap((piece) => [delta({ content: piece }), { __wait: 60 }]), finish("stop"), "[DONE]"] };
  };
  const said = await deck.mention("how is the fleet?", { channel: "C1" });
  await said.shows(/The model's service refuses more requests right now \(429\); asking again at \d\d:\d\d:\d\d UTC\./);
  const status = await said.shows(/^Writing …\n/);
  expect((await said.entries()).map(({ type }) => type)).not.toContain("model");
  expect(status.text).toContain("[ Stop ]");
  expect(status.text).not.toContain(SECRET.slice(0, 8));
  deck.stage.trouble({ with: "edit", how: "refused", times: 100 });
  await said.shows(/^The key is \[secret\], and all ships are at sea[\s\S]* they said\.$/);
  expect(said.posts()).toHaveLength(2);
});
