import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { cgroupsOff, openCgroups } from "../../src/sandbox/cgroup.ts";

/** Only files: what can be read and how it is understood. Real groups: cgroup-real.test.ts. */
let root: string;
let self: string;
beforeEach(() => {
  root = mkdtempSync(join(tmpdir(), "deckhand-cgroup-"));
  self = join(root, "self");
});
afterEach(() => rmSync(root, { recursive: true, force: true }));

interface Tree {
  own?: string;
  controllers?: string;
  procs?: string;
}

function tree({
  own = "/system.slice/deckhand.service",
  controllers = "cpu io memory pids",
  procs = String(process.pid),
}: Tree = {}): string {
  const base = join(root, own);
  mkdirSync(base, { recursive: true });
  writeFileSync(join(root, "cgroup.controllers"), "cpu io memory pids\n");
  writeFileSync(join(base, "cgroup.controllers"), `${controllers}\n`);
  writeFileSync(join(base, "cgroup.procs"), `${procs}\n`);
  writeFileSync(join(base, "cgroup.subtree_control"), "\n");
  writeFileSync(self, `0::${own}\n`);
  return base;
}

describe("limits for all of a command are off, with the reason,", () => {
  it("where cgroup v2 is not mounted", () => {
    writeFileSync(self, "4:memory:/x\n0::/\n");
    expect(cgroupsOff(root, self)).toBe(`cgroup v2 is not mounted at ${root}`);
    expect(openCgroups(root, self)).toEqual({ off: `cgroup v2 is not mounted at ${root}` });
  });

  it.each(["4:memory:/only-v1\n", "0::/../../elsewhere\n", "0::/gone (deleted)\n", ""])("where our group cannot be seen: %j", (text) => {
    tree();
    writeFileSync(self, text);
    expect(cgroupsOff(root, self)).toBe(`the cgroup of this process is not below ${root}`);
  });

  it("where there is no file that tells our group", () => {
    tree();
    expect(cgroupsOff(root, join(root, "nothing"))).toMatch(/is not below/);
  });

  it("where the controllers were not handed on", () => {
    const base = tree({ controllers: "cpu pids" });
    expect(cgroupsOff(root, self)).toBe(`the controllers memory are not enabled in the group ${base}`);
  });

  it("where other processes share the group, as in a terminal", () => {
    const base = tree({ procs: `17\n${process.pid}` });
    expect(openCgroups(root, self)).toEqual({
      off: `other processes share the group ${base} (such as 17): start Deckhand from a systemd unit of its own with Delegate=yes`,
    });
  });

  it("where processes that we cannot see share it", () => {
    tree({ procs: `0\n${process.pid}` });
    expect(cgroupsOff(root, self)).toMatch(/such as 0/);
  });

  it("where the group lacks what a group has", () => {
    const base = tree();
    rmSync(join(base, "cgroup.subtree_control"));
    expect(cgroupsOff(root, self)).toMatch(/is not delegated to uid \d+: start Deckhand from a systemd unit of its own with Delegate=yes/);
  });

  it("where entering a group of our own fails", () => {
    tree();
    // A plain folder has no cgroup.procs, and none is made up.
    expect(openCgroups(root, self)).toEqual({
      off: expect.stringMatching(/cannot be used: ENOENT.*worker-\d+-\d+\/cgroup\.procs/) as string,
    });
  });
});

it("looking changes nothing and finds nothing in the way of a group that is ours alone", () => {
  tree();
  expect(cgroupsOff(root, self)).toBeNull();
});

it("when no group can be made any more, a run is refused with SANDBOX_CGROUP", () => {
  const base = tree();
  const leaf = join(base, `worker-${process.pid}-${startOf(process.pid)}`);
  mkdirSync(leaf);
  writeFileSync(join(leaf, "cgroup.procs"), "");
  const opened = openCgroups(root, self);
  if ("off" in opened) throw new Error(opened.off);
  expect(() => opened.fresh()).toThrow(expect.objectContaining({ code: "SANDBOX_CGROUP" }));
});

function startOf(pid: number): string {
  return (
    readFileSync(`/proc/${pid}/stat`, "utf8")
      .replace(/^.*\) /s, "")
      .split(" ")[19] ?? ""
  );
}
