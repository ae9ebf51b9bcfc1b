import { expect, test } from "vitest";
import { type Rule, say } from "../../src/model/script.ts";
import { openCorridor } from "../support/corridor.ts";
import { spawnRole, startRole } from "../support/crew.ts";

const BYSTANDERS = 4;

test("a conversation that kills every worker is set aside alone: those beside it, too slow to get on before, are answered", async () => {
  let [deaths, over] = [0, false];
  let kill = async (): Promise<void> => {};
  const rules: Rule[] = [
    { when: /poison$/, steps: [() => (deaths++, void kill(), say("never said"))] },
    { when: /slow (\d)$/, steps: [() => ({ ...say("took its time"), delayMs: 2_500 })] },
  ];
  const deck = await openCorridor({ rules, start: false });
  const gateway = await startRole(deck, "gateway");
  try {
    const slow = [];
    for (let nth = 0; nth < BYSTANDERS; nth += 1) slow.push(await deck.mention(`slow ${nth}`, { channel: `C${nth + 2}` }));
    const poison = await deck.mention("poison");
    const keeping = keepOne();
    await poison.shows(/CONVERSATION_PARKED/, 120_000);
    for (const said of slow) await said.shows(/took its time/, 60_000);
    for (const said of slow) expect((await said.entries()).map(({ type }) => type)).not.toContain("failed");
    expect(deaths).toBe(3);
    over = true;
    await kill();
    await keeping;
  } finally {
    over = true;
    await Promise.all([gateway.kill(), kill()]);
    await deck.close();
  }

  async function keepOne(): Promise<void> {
    while (!over) {
      const worker = spawnRole(deck, "worker");
      kill = worker.kill;
      await worker.gone;
    }
  }
}, 240_000);
