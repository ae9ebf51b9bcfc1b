import { existsSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { bash, say } from "../../src/model/script.ts";
import { type Corridor, type Said, openCorridor } from "../support/corridor.ts";
import { PLATFORMS } from "../support/stage.ts";

describe.each(PLATFORMS)("on %s", (platform) => {
  let deck: Corridor;

  beforeAll(async () => {
    deck = await openCorridor({
      platform,
      rules: [
        { when: /^\w+: no, list/, steps: [() => bash("ls"), () => say("listed instead")] },
        {
          when: /append (\w+)/,
          steps: [() => bash("rm -f old; echo ran >> effect.txt"), ({ lastResult }) => say(`Result: ${lastResult}`)],
        },
        { when: /reboot/, steps: [() => bash("sudo reboot"), ({ lastResult }) => say(`Result: ${lastResult}`)] },
        { when: /deploy/, steps: [() => bash("rm -f old; sh deploy.sh"), ({ lastResult }) => say(`Result: ${lastResult}`)] },
        { when: /fetch/, steps: [() => bash("git ls-remote http://x.example/a"), ({ lastResult }) => say(`Result: ${lastResult}`)] },
      ],
    });
  });

  afterAll(() => deck.close());

  const effect = (): string => deck.files.read("effect.txt");
  const whispers = (user: string): string[] => deck.stage.whispers(user);
  const heard = (user: string, pattern: RegExp) => deck.stage.waitFor(() => whispers(user).some((text) => pattern.test(text)));

  async function ask(channel: string): Promise<{ said: Said; card: string }> {
    deck.files.remove("effect.txt");
    const said = await deck.mention("append a line", { channel });
    const { ts } = await said.shows(/\[ Approve \]/);
    return { said, card: ts };
  }

  const cardText = (said: Said, ts: string): string => said.text({ ts });

  describe("a risky command", () => {
    test("waits with the whole command, the reason and the place on its card, and runs once when it is approved", async () => {
      const { said, card } = await ask("C1");
      expect(cardText(said, card)).toMatch(
        /May I run this for Ann\?\n {2}\| rm -f old; echo ran >> effect\.txt\nWhy I ask: .+\nWhere: workspace api .*sandboxed: no network, workspace only/,
      );
      expect(existsSync(join(deck.workspace, "effect.txt"))).toBe(false);
      await said.press("approve", "U2");
      await said.shows(/Result: \(no output\)/);
      expect(effect()).toBe("ran\n");
      await deck.stage.waitFor(() => /Approved by Bob · .* UTC$/.test(cardText(said, card)));
      expect(cardText(said, card)).not.toContain("[ Approve ]");
      await heard("U2", /Approved\. It runs now, once\./);
    });

    test("is not run when it is denied, and the model is told", async () => {
      const { said, card } = await ask("C2");
      await said.press("deny");
      await said.shows(/Result: Not run: Ann denied it\. Do not try another way round it\./);
      expect(existsSync(join(deck.workspace, "effect.txt"))).toBe(false);
      await deck.stage.waitFor(() => /Denied by Ann/.test(cardText(said, card)));
    });

    test("is not decided by somebody who may not, who is told so", async () => {
      const { said, card } = await ask("C3");
      await deck.stage.press({ channel: "C3", root: said.root, ts: card, action: "approve", user: "U3" });
      await heard("U3", /You are not on the list of people who may decide this\. Nothing was changed\./);
      expect((await said.entries()).at(-1)?.type).toBe("approval-asked");
      await said.press("deny");
      await said.shows(/Result: Not run/);
    });

    test("pressed twice at once runs once, and the second press is answered", async () => {
      const { said, card } = await ask("C4");
      const press = (user: string) => deck.stage.press({ channel: "C4", root: said.root, ts: card, action: "approve", user });
      await Promise.all([press("U1"), press("U2")]);
      await said.shows(/Result: /);
      expect(effect()).toBe("ran\n");
      const texts = () => [...whispers("U1").slice(-1), ...whispers("U2").slice(-1)];
      await deck.stage.waitFor(
        () => texts().some((t) => /Already approved by/.test(t)) && texts().some((t) => /It runs now, once/.test(t)),
      );
    });

    test("is withdrawn when the requester writes something new", async () => {
      const { said, card } = await ask("C5");
      await deck.say("no, list the files", { channel: "C5", thread: said.root });
      await said.shows(/listed instead/);
      await deck.stage.waitFor(() => /Not run: Ann wrote something new instead/.test(cardText(said, card)));
      expect(cardText(said, card)).not.toContain("[ Approve ]");
      expect(existsSync(join(deck.workspace, "effect.txt"))).toBe(false);
    });

    test("keeps what others write until it is decided, and says so", async () => {
      const { said } = await ask("C6");
      await deck.say("looks good to me", { channel: "C6", thread: said.root, user: "U2" });
      await said.shows(/Bob, I keep this for when the request above is decided\./);
      expect((await said.entries()).some((e) => e.type === "approval-decided")).toBe(false);
      await said.press("approve");
      await said.shows(/Result: |nothing about that/);
      expect(effect()).toBe("ran\n");
    });

    test("is approved with the script that it runs: changed since then, it does not run", async () => {
      deck.files.write("deploy.sh", "echo harmless\n");
      const said = await deck.mention("deploy it", { channel: "C9" });
      await said.shows(/\[ Approve \]/);
      deck.files.write("deploy.sh", "echo harmful > harm.txt\n");
      await said.press("approve");
      await said.shows(/^Result: Not run: the circumstances changed/);
      expect(deck.files.has("harm.txt")).toBe(false);
    });

    test("that needs the network says on its card what approving opens, and the thread says where it tried to go", async () => {
      const said = await deck.mention("fetch the page", { channel: "C7" });
      await said.shows(/If approved, in this run only: it may connect to x\.example:80\./);
      await said.press("approve");
      await said.shows(/Network: x\.example:80 \(refused: /);
    });

    test("expires as a decision of its own", async () => {
      const short = await openCorridor({
        platform,
        rules: [{ when: /append/, steps: [() => bash("rm -f old; echo ran >> effect.txt"), ({ lastResult }) => say(lastResult)] }],
        env: { DECKHAND_APPROVAL_HOURS: "0.0003" },
      });
      try {
        const said = await short.mention("append a line");
        await said.shows(/nobody decided in time/);
        await said.shows(/Expired without an answer/);
        expect((await said.entries()).find((e) => e.type === "approval-decided")).toMatchObject({ decision: "expired" });
      } finally {
        await short.close();
      }
    });
  });

  test("a refused command never runs and nobody is asked", async () => {
    const said = await deck.mention("reboot the machine", { channel: "C8" });
    await said.shows(/Result: Not run: this is never allowed here/);
    expect((await said.entries()).map((e) => e.type)).not.toContain("approval-asked");
    expect(said.lines().join("\n")).toMatch(/\| \$ sudo reboot\n/);
  });
});
