import { readFileSync } from "node:fs";
import { beforeEach, expect, it } from "vitest";
import type { RunResult, RunSpec } from "../../../src/core/sandbox.ts";
import { LIMITS } from "../../../src/limits.ts";
import { cgroupsOff } from "../../../src/sandbox/cgroup.ts";
import { behindEachDoor, TALK } from "../../support/doors.ts";
import { processesWith, uniqueSleep } from "../../support/workspace.ts";

const FILES = ["cwd", "cwd-0", "cwd-1", "env", "env-0", "env-1"].map((name) => `/run/sess/${name}`).join(" ");
const SHOW = 'pwd; echo "$COLOUR"';

behindEachDoor((door) => {
  /** The next command of the conversation, with what the one before left. */
  async function next(command: string, spec: Partial<RunSpec> = {}): Promise<RunResult> {
    const { cwd, env } = await door().carried();
    return await door().sh(command, { cwd, env, ...spec });
  }

  beforeEach(async () => {
    await door().dispose(TALK);
    await next('mkdir -p sub && cd sub && export COLOUR="it\'s\nred"');
  });

  it("61 the folder and exported variables carry over", async () => {
    const { path } = door().place;
    expect((await next(SHOW)).output.text).toBe(`${path}/sub\nit's\nred\n`);
    expect((await next(`cd "$OLDPWD"; cd ..; export COLOUR=blue; exit 7`)).exit).toBe(7);
    expect((await next(SHOW)).output.text).toBe(`${path}\nblue\n`);
  });

  it.each([
    ["62 links in the place of what is carried are not followed", "ln -s /etc/passwd"],
    ["63 FIFOs in its place are not waited for", "mkfifo"],
    ["63 folders in its place are no folders to start in", "mkdir"],
  ])("%s", async (_, put) => {
    expect(await next(`rm -rf /run/sess/*; for file in ${FILES}; do ${put} $file; done`)).toMatchObject({ how: "exited", exit: 0 });
    expect(await door().carried()).toMatchObject({ cwd: door().place.path, env: {}, notes: [expect.any(String), expect.any(String)] });
    expect((await next(SHOW)).output.text).toBe(`${door().place.path}\n\n`);
  });

  it("64 what would change later programs does not carry; a changed PATH is told, and no approved command gets it", async () => {
    const names = [
      "LD_PRELOAD",
      "LD_AUDIT",
      "BASH_ENV",
      "ENV",
      "PROMPT_COMMAND",
      "GIT_SSH_COMMAND",
      "NODE_OPTIONS",
      "PYTHONSTARTUP",
      "PERL5OPT",
    ];
    await next(
      `echo 'echo evil' >/tmp/rc; export ${names.map((name) => `${name}=/tmp/rc`).join(" ")} PATH=/tmp/evil:$PATH; ls() { echo evil; }; export -f ls`,
    );
    const { env, notes } = await door().carried();
    expect(env).toEqual({ COLOUR: "it's\nred", PATH: "/tmp/evil:/usr/local/bin:/usr/bin:/bin" });
    expect(notes.join("\n")).toContain("LD_PRELOAD");
    const show = `env | grep -E '^(${names.join("|")}|BASH_FUNC.*|PATH)='; ls -d /`;
    expect((await next(show)).output.text).toBe("PATH=/tmp/evil:/usr/local/bin:/usr/bin:/bin\n/\n");
    expect((await next(show, { reach: "approved" })).output.text).toBe("PATH=/usr/local/bin:/usr/bin:/bin\n/\n");
  });

  it("65 a folder that is gone is not started in", async () => {
    await next("mkdir gone && cd gone && rmdir ../gone");
    expect(await door().carried()).toMatchObject({ cwd: door().place.path, notes: [expect.stringContaining("gone") as string] });
    expect((await next("pwd")).output.text).toBe(`${door().place.path}\n`);
  });

  it("66 limits cannot be raised", async () => {
    const { output } = await next("ulimit -Hu; ulimit -Hn; ulimit -u 100000; ulimit -n 100000; ulimit -c 1");
    expect(output.text).toMatch(new RegExp(`^${LIMITS.commandProcesses}\n${LIMITS.commandFiles}\n`));
    expect(output.text.match(/cannot modify limit/g)).toHaveLength(3);
  });

  it.skipIf(cgroupsOff() !== null)("67 all processes of a command share one ceiling of memory", async () => {
    const sleep = uniqueSleep();
    const stop = new AbortController();
    const limit = { value: Number.POSITIVE_INFINITY };
    await next(`echo begun; ${sleep}`, {
      ...{ signal: stop.signal },
      onChunk: () => {
        const group = /^0::(.*)$/m.exec(readFileSync(`/proc/${processesWith(sleep).at(-1)}/cgroup`, "utf8"))?.[1];
        limit.value = Number(readFileSync(`/sys/fs/cgroup${group}/memory.max`, "utf8"));
        stop.abort();
      },
    } as Partial<RunSpec>);
    expect(limit.value).toBeLessThanOrEqual(LIMITS.commandMemoryTotal);
  });
});
