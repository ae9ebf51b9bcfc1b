import { readFileSync } from "node:fs";
import { expect, it } from "vitest";
import { LIMITS } from "../../../src/limits.ts";
import { behindEachDoor } from "../../support/doors.ts";
import { childrenOf } from "../../support/workspace.ts";

const ALL = 2_000_000_000;
/** Told by cat, because it does it in a third of the time that `yes` takes. */
const FLOOD = "yes | head -c 10000000 >/tmp/y; echo first; for i in {1..200}; do cat /tmp/y; done; echo last";
const CODES: [command: string, exit: number][] = [
  ["exit 3", 3],
  ["touch file; ./file", 126],
  ["no-such-program-at-all", 127],
  ["kill -KILL $$", 137],
  ["kill -SEGV $$", 139],
  ["kill -TERM $$", 143],
];

behindEachDoor(
  (door) => {
    it("53 two GB of output: all counted, the beginning and the end kept, little memory taken", async () => {
      const { sh, worker } = door();
      await sh("echo warm; yes | head -c 5000000");
      const pids = [worker.pid, ...childrenOf(worker.pid)];
      const before = pids.map(resident);
      const { how, output } = await sh(FLOOD, { timeoutMs: 120_000, reach: "read" });
      expect(how).toBe("exited");
      expect(output.bytes).toBe(ALL + 11);
      expect(output.text).toMatch(/^first\n(y\n)+\[\.\.\. \d+ bytes left out \.\.\.\]\n(y\n)+last\n$/);
      const note = `[... ${output.omitted} bytes left out ...]\n`;
      expect(output.text.length - note.length + output.omitted).toBe(output.bytes);
      expect(output.text.length).toBeLessThanOrEqual(LIMITS.outputHead + LIMITS.outputTail);
      const grown = pids.reduce((sum, pid, at) => sum + resident(pid) - (before[at] ?? 0), 0);
      expect(grown).toBeLessThan(150_000);
    });

    it("54 random bytes come out as text", async () => {
      const { output } = await door().sh("head -c 300000 /dev/urandom", { reach: "read" });
      expect(output.bytes).toBe(300_000);
      expect(output.text.isWellFormed()).toBe(true);
      expect(output.text).not.toMatch(/(?![\t\n])\p{Cc}/u);
    });

    it("55 a thousand lines, to standard output and error in turn, stay in order", async () => {
      const { output } = await door().sh("for i in {1..500}; do echo o$i; echo e$i >&2; done", { reach: "read" });
      expect(output.text).toBe(Array.from({ length: 500 }, (_, at) => `o${at + 1}\ne${at + 1}\n`).join(""));
    });

    it("56 reading the input ends at once", async () => {
      const result = await door().sh("cat; read -r line || echo no input", { reach: "read" });
      expect(result).toMatchObject({ exit: 0, output: { text: "no input\n" } });
    });

    it("57 NUL is replaced, colours go, progress stays as it stood at the end", async () => {
      const { output } = await door().sh(String.raw`printf 'a\0b\xffc \e[31mred\e[0m\n\e]0;title\a10%%\r100%%\n'`, { reach: "read" });
      expect(output.text).toBe("a\uFFFDb\uFFFDc red\n100%\n");
    });

    it.each(CODES)("58 `%s` gives %i", async (command, exit) => {
      expect(await door().sh(command, { reach: command.includes("touch") ? "approved" : "read" })).toMatchObject({ how: "exited", exit });
    });

    it("59 what keeps a command from starting is told as that; a command that says the same is not believed", async () => {
      const { sh, place } = door();
      const refused = await sh("echo ran", { cwd: `${place.path}/nowhere` });
      expect(refused).toMatchObject({
        how: "refused",
        exit: null,
        output: { text: "" },
        why: expect.stringContaining("BAD_INPUT") as string,
      });
      const words = "bwrap: setting up uid map: Permission denied";
      expect(await sh(`echo "${words}" >&2; exit 1`)).toMatchObject({ how: "exited", exit: 1, output: { text: `${words}\n` } });
    });

    it("60 a command of 140 kB is refused, and says why", async () => {
      const refused = await door().sh(`: ${"x".repeat(140_000)}`);
      expect(refused).toMatchObject({ how: "refused", exit: null, why: expect.stringMatching(/140002 bytes is longer/) as string });
    });
  },
  { floodBytes: 2 * ALL },
);

/** Kilobytes. */
function resident(pid: number): number {
  return Number(/^VmRSS:\s+(\d+)/m.exec(readFileSync(`/proc/${pid}/status`, "utf8"))?.[1]);
}
