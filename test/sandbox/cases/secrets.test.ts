import { spawn } from "node:child_process";
import { once } from "node:events";
import { chmodSync, mkdtempSync, rmSync } from "node:fs";
import { afterAll, expect, it, onTestFinished } from "vitest";
import { behindEachDoor, TOKEN } from "../../support/doors.ts";
import { processesWith, uniqueSleep } from "../../support/workspace.ts";

const GIT = ["COUNT", "KEY_0", "KEY_1", "VALUE_0", "VALUE_1"].map((name) => `GIT_CONFIG_${name}`);
const NAMES = ["CI", ...GIT, "GIT_PAGER", "GIT_TERMINAL_PROMPT", "HOME", "LANG", "PAGER", "PATH", "PWD", "TERM", "USER"];

/** Outside of /tmp, which is each conversation's own. */
const given = mkdtempSync("/var/tmp/deckhand-");
chmodSync(given, 0o755);
afterAll(() => rmSync(given, { recursive: true }));

const credentials = { deploy: { env: "DEPLOY_KEY", value: "not-for-other-eyes" } };

behindEachDoor(
  (door) => {
    it("35 the environment is exactly the list, and no process in reach knows the bot's token", async () => {
      const { sh } = door();
      const { output } = await sh("cat /proc/1/environ; echo; env -0", { reach: "read" });
      const [first = "", own = ""] = output.text.split("\n");
      expect(namesIn(first)).toEqual(new Set(NAMES));
      expect(namesIn(own)).toEqual(new Set([...NAMES, "SHLVL", "_"]));
      const looked = await sh("cat /proc/*/environ /proc/*/cmdline | tr '\\0' '\\n' | grep -c 'xox[b]-'; ls /proc/*/environ | wc -l", {
        reach: "read",
      });
      expect(looked.output.text).toMatch(/^0\n[1-9]\d*\n$/);
      expect(looked.output.text).not.toContain(TOKEN);
    });

    it("36 nothing is open but input, output and error, whatever was mounted and handed over", async () => {
      const { sh } = door();
      const grants = [`read=${given}`, "credential=deploy"];
      const show = "ls /proc/1/fd; echo; ls /proc/$$/fd; :";
      await sh("git init -q . && mkdir -p .husky && touch .husky/pre-commit", { reach: "approved" });
      for (const spec of [{ reach: "read" }, { reach: "contained" }, { reach: "approved", grants }] as const) {
        const { output } = await sh(show, { ...spec, env: { COLOUR: "red" } });
        expect([spec.reach, output.text]).toEqual([spec.reach, "0\n1\n2\n\n0\n1\n2\n"]);
      }
    });

    it("37 only the command's own processes are there", async () => {
      const { output } = await door().sh("sleep 5 & for p in /proc/[0-9]*; do cat $p/comm; done | sort -u", { reach: "read" });
      expect(output.text).toMatch(/^bash\n(cat\n)?(sh\n)?sleep\n(sort\n)?$/);
      const sleep = uniqueSleep();
      const seconds = sleep.slice("sleep ".length);
      const other = spawn("sleep", [seconds]);
      onTestFinished(() => void other.kill());
      await once(other, "spawn");
      expect(processesWith(sleep)).toEqual([other.pid]);
      // Written so that it does not find itself.
      const found = await door().sh(`cat /proc/[0-9]*/cmdline | tr '\\0' '\\n' | grep -cx '[1]${seconds.slice(1)}'`, { reach: "read" });
      expect(found.output.text).toBe("0\n");
    });
  },
  (place) => ({ credentials: { [place.path]: credentials } }),
);

/** The names of variables that stand between NULs, which output shows as this. */
function namesIn(variables: string): Set<string> {
  const each = variables.split("\uFFFD").filter(Boolean);
  return new Set(each.map((one) => one.replace(/=.*$/, "")));
}
