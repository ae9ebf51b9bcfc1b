import { spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { openCgroups, type Walls } from "../../src/sandbox/cgroup.ts";

/**
 * A worker in a group of its own: opens it, runs each line of bash in a fresh group and prints what came of it as JSON.
 * `wait` as the last line leaves its process running and waits for ever.
 */
const [root = "", limits = "", ...lines] = process.argv.slice(2);
const opened = openCgroups(root, "/proc/self/cgroup", ...(limits === "" ? [] : [JSON.parse(limits) as Walls]));
if ("off" in opened) {
  console.log(JSON.stringify(opened));
  process.exit(0);
}
// A second time, as for the next workspace.
const again = openCgroups(root, "/proc/self/cgroup", ...(limits === "" ? [] : [JSON.parse(limits) as Walls]));
const own = readFileSync("/proc/self/cgroup", "utf8")
  .replace(/^[^]*^0::/m, "")
  .trim();

interface Ran {
  code: number | null;
  output: string;
  group: string;
  oom: boolean;
  left: boolean;
}

async function run(line: string): Promise<Ran> {
  const group = ("off" in again ? opened : again) as Exclude<typeof opened, { off: string }>;
  const cgroup = group.fresh();
  const [file = "", ...words] = cgroup.words;
  const child = spawn(file, [...words, "bash", "-c", line], { stdio: ["ignore", "pipe", "inherit"], detached: true });
  let output = "";
  child.stdout.on("data", (data: Buffer) => {
    output += String(data);
    if (output.includes("waiting")) console.log(JSON.stringify({ own, waiting: output.split(" ")[1]?.trim() }));
  });
  const [code] = (await once(child, "exit")) as [number | null];
  await cgroup.end();
  const folder = cgroup.words.at(-1) ?? "";
  return { code, output, group: folder, oom: cgroup.oomKilled(), left: existsSync(join(folder, "cgroup.procs")) };
}

const ran: Ran[] = [];
for (const line of lines) ran.push(await run(line));
console.log(JSON.stringify({ own, ran }));
