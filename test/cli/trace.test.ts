import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { bash, say } from "../../src/model/script.ts";
import { type Corridor, type Said, openCorridor } from "../support/corridor.ts";
import { type RoleProcess, startRole } from "../support/crew.ts";
import { processesWith, uniqueSleep } from "../support/workspace.ts";
import { deckhand } from "./kit.ts";

const LONG = uniqueSleep();
let deck: Corridor;
let said: Said;
const running: RoleProcess[] = [];

/** One turn with everything in it: a look, an approval, a denial, a crash; then a second turn that is refused something. */
beforeAll(async () => {
  deck = await openCorridor({
    rules: [
      {
        when: /rebuild/,
        steps: [
          () => bash("ls", "First a look."),
          () => bash("rm -f x; echo built > out.txt && cat out.txt"),
          () => bash("rm -r old"),
          () => bash(`rm -f x; echo begun > begun.txt; ${LONG}`),
          () => say("Built, but I cannot tell how far the last command came."),
        ],
      },
      { when: /reboot/, steps: [() => bash("sudo reboot"), () => say("That is not possible here.")] },
    ],
    start: false,
  });
  running.push(await startRole(deck, "gateway"));
  const worker = await startRole(deck, "worker");
  said = await deck.mention("rebuild it");
  await pressOn(/echo built/, "approve");
  await pressOn(/rm -r old/, "deny");
  await pressOn(/echo begun/, "approve");
  await deck.twin.waitFor(() => deck.files.has("begun.txt") && processesWith(LONG).length > 0);
  await worker.kill();
  running.push(await startRole(deck, "worker"));
  await said.shows(/I cannot tell how far/);
  await deck.say("reboot then", { thread: said.root });
  await said.shows(/not possible here/);
}, 90_000);

afterAll(async () => {
  for (const role of running) await role.end();
  await deck.close();
});

async function pressOn(command: RegExp, action: "approve" | "deny"): Promise<void> {
  const card = await said.shows(new RegExp(`${command.source}[\\s\\S]*\\[ Approve \\]`));
  await deck.twin.press({ channel: "C1", ts: card.ts, actionId: action, user: "U2" });
}

/** Without what differs from run to run: ids, times, counts of tokens, the length of the sleep. */
function still(text: string): string {
  return text
    .replaceAll(said.conversation, "CONVERSATION")
    .replaceAll(LONG, "sleep LONG")
    .replace(/\d{4}-\d\d-\d\dT[\d:.]+Z/g, "TIME")
    .replace(/\b\d+\.\d s/g, "N s")
    .replace(/"(ms|waitedMs|prompt|completion)": \d+/g, '"$1": 0')
    .replace(/tokens \d+ in, \d+ out/g, "tokens N in, N out")
    .replace(/call [0-9A-Za-z]{9} /g, "call ID ")
    .replace(/"id": "[0-9A-Za-z]{9}"/g, '"id": "ID"')
    .replace(/"id": "[0-9A-Za-z]{22}"/g, '"id": "APPROVAL"');
}

const trace = (...args: string[]) => deckhand(["trace", ...args], { env: deck.env });

describe("deckhand trace", () => {
  test("tells turn, step and call with verdict, approval, denial and crash, in lines", async () => {
    const { code, stdout, stderr } = await trace(said.conversation);
    expect({ code, stderr }).toEqual({ code: 0, stderr: "" });
    await expect(still(stdout)).toMatchFileSnapshot("trace.golden.txt");
  });

  test("tells the same as JSON", async () => {
    const { code, stdout } = await trace(said.conversation, "--json");
    expect(code).toBe(0);
    expect(JSON.parse(stdout)).toMatchObject({ conversation: said.conversation, turns: [{ turn: 1 }, { turn: 2 }] });
    await expect(still(stdout)).toMatchFileSnapshot("trace.golden.json");
  });

  test("knows a conversation that there is not: exit 2 and the form of the names", async () => {
    const { code, stdout, stderr } = await trace("slack:T9:C9:1.1");
    expect(stderr).toMatch(/^There is no conversation slack:T9:C9:1\.1\. .*slack:TEAM:CHANNEL:TS.*\(BAD_CONVERSATION\)\n$/);
    expect({ code, stdout }).toEqual({ code: 2, stdout: "" });
  });

  test.each([["C1"], ["slack:T1:C1"], ["slack:T1:C1:1.1}"], [""], ["slack:T1:C1:1.1", "slack:T1:C1:2.2"]])(
    "takes no name of another form: %j",
    async (...names) => {
      const { code, stderr } = await trace(...names);
      expect(stderr).toMatch(/slack:/);
      expect(code).toBe(2);
    },
  );
});
