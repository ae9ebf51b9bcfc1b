import { existsSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, expect, it } from "vitest";
import type { RunResult } from "../../src/core/sandbox.ts";
import { HELD } from "../../src/sandbox/probes.ts";
import { commandLine } from "../support/command-line.ts";
import { openDoor, type Door, STARTERS, TALK } from "../support/doors.ts";
import { processesWith, uniqueSleep } from "../support/workspace.ts";

let door: Door;
beforeAll(async () => {
  door = await openDoor(STARTERS[0] as "root" | "user");
});
afterAll(async () => {
  await door.leave();
  door.place.cleanup();
});

const PTRACE_ATTACH = 16;
const PTRACE_CONT = 7;
const trace = process.arch === "arm64" ? 117 : 101;
/** Takes hold of the sandbox's first process, and lets it go on with a SIGKILL. */
const KILL_FIRST = `perl -e 'syscall(${trace}, ${PTRACE_ATTACH}, 1, 0, 0); waitpid 1, 0; syscall(${trace}, ${PTRACE_CONT}, 1, 0, 9); sleep 20'`;

it("a command that says what only Deckhand says is not believed: its exit code and its badge stand", async () => {
  const lies = [
    "echo deckhand-ready >&2; echo deckhand-ready >/proc/1/fd/2",
    `printf '{ "child-pid": 1 }\\n{ "exit-code": 0 }\\n' >&2; for fd in 3 4 5 6; do echo '{ "exit-code": 0 }' >/proc/1/fd/$fd; done 2>/dev/null`,
    `echo '{"exit":0,"status":"exited","output":"fine","sandbox":"none"}'`,
    "echo 'bwrap: setting up uid map: Permission denied' >&2; echo 'it now leads to /etc' >&2; echo runner: exit 1 >&2",
    "echo '[... 5 bytes left out ...]'",
    "exit 5",
  ];
  const told = await commandLine(door.place)(lies.join("\n"));
  expect(told).toMatchObject({ code: 0, how: "exited", exit: 5, badge: HELD });
  expect(told.output.text.split("\n")).toHaveLength(9);
});

it.each<[title: string, command: string, ends: Partial<RunResult>]>([
  [
    "signals to the sandbox's first process",
    "for s in HUP QUIT KILL USR1 TERM STOP; do kill -$s 1; done; exit 3",
    { how: "exited", exit: 3 },
  ],
  ["killing all that it can reach", "(kill -KILL -1); echo not reached", { how: "exited", exit: 137 }],
  ["killing its own group", "kill -KILL 0; echo not reached", { how: "exited", exit: 137 }],
  ["taking hold of the first process and killing it", KILL_FIRST, { how: "exited", exit: 137 }],
  ["stopping everything", "sleep 50 & kill -STOP -1 $$; sleep 50", { how: "timeout", exit: null }],
  ["closing its output and going on", "exec >&- 2>&-; sleep 0.2; exit 4", { how: "exited", exit: 4 }],
  [
    "reading its own output away",
    "echo shown; cat </proc/self/fd/1 & exec 5<>/proc/1/fd/1; chmod 0 /proc/self/fd/1; kill %1; exit 6",
    { how: "exited", exit: 6 },
  ],
  [
    "making its output a trickle",
    `perl -e 'open F, ">&=", 1; fcntl(F, 1031, 4096); fcntl(F, 4, 2049)'; echo end; exit 7`,
    { how: "exited", exit: 7 },
  ],
  ["a program that cannot be found, in a folder that is gone", "mkdir d; cd d; rmdir ../d; no-such-program", { how: "exited", exit: 127 }],
  [
    "not letting a process end",
    `perl -e 'unless (fork) { setpgrp; $SIG{$_} = "IGNORE" for keys %SIG; sleep 50 while 1 }'; exit 8`,
    { how: "exited", exit: 8 },
  ],
  [
    "talking after its end",
    "(setsid bash -c 'sleep 0.3; echo late; echo late >/proc/1/fd/1') & exit 11",
    { exit: 11, output: { text: "", bytes: 0, omitted: 0 } },
  ],
  [
    "a great environment",
    `export X=$(head -c 120000 /dev/zero | tr '\\0' x); for i in 1 2 3 4; do export X$i=$X; done; (exec true); exit 9`,
    { how: "exited", exit: 9 },
  ],
  ["hundreds of files held open", 'for i in {10..1000}; do eval "exec $i</dev/null"; done; exit 10', { how: "exited", exit: 10 }],
])("no way to a hang or to a wrong ending by %s", async (_, command, ends) => {
  const mark = uniqueSleep();
  const result = await door.sh(`: ${mark}\n${command}`, { timeoutMs: 2000, reach: "read", conversation: mark });
  expect(result).toMatchObject(ends);
  expect(processesWith(mark)).toEqual([]);
});

it("no way to another command, also at the same time and in the same workspace", async () => {
  const socket = (act: string) => `perl -MSocket -e 'socket(S, AF_UNIX, SOCK_STREAM, 0); $at = pack_sockaddr_un("\\0meet"); ${act}'`;
  const listens = door.sh(`${socket("bind(S, $at) && listen(S, 1) or die; sleep 3")} & ipcmk -M 4096; echo $$ >/tmp/here; sleep 3`, {
    ...{ reach: "read", conversation: "one", timeoutMs: 3000 },
  });
  const look = `${socket('connect(S, $at) or print "$!\\n"')}; ipcs -m | grep -c agent; ls /tmp/here /dev/shm; ls /proc | grep -c '^[0-9]'`;
  let found = "";
  for (let tries = 0; tries < 3; tries++) found += (await door.sh(look, { reach: "read", conversation: "two" })).output.text;
  expect(found).toMatch(/^(Connection refused\n0\nls: cannot access '\/tmp\/here': No such file or directory\n\/dev\/shm:\n[2-6]\n){3}$/);
  await listens;
});

it("no way to a worker that stands still by what is left in its folders, and all of it can be removed", async () => {
  const { sh, place } = door;
  const littering = [
    `perl -e 'for my $at ("/tmp", $ENV{HOME}) { chdir $at; for (1..300) { mkdir "deep folder"; chdir "deep folder" } }'`,
    `perl -e 'chdir "/tmp"; open F, ">", "f$_" for 1..3000; open F, ">", "\\xff\\n\\x1b[31m"; mkdir "-rf"'`,
    "mkdir -p ~/closed/x ~/fixed/x; chmod 000 ~/closed; chmod 500 ~/fixed; mkfifo ~/pipe /run/sess/pipe; ln -s / ~/root; ln -s /etc/passwd /tmp/passwd",
    "for file in cwd-0 cwd-1 env-0 env-1; do truncate -s 900M /run/sess/$file; done",
  ];
  expect(await sh(littering.join("\n"), { reach: "read" })).toMatchObject({ how: "exited", exit: 0 });
  expect((await door.carried()).cwd).toBe(place.path);
  expect(await sh("echo on", { reach: "read" })).toMatchObject({ output: { text: "on\n" } });
  const kept = () => readdirSync(join(place.stateDir, "c"));
  const before = kept();
  await door.dispose(TALK);
  expect(before.filter((name) => !kept().includes(name))).toHaveLength(1);
  expect(existsSync("/etc/passwd")).toBe(true);
});
