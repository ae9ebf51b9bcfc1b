import { mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fork } from "node:child_process";
import { once } from "node:events";
import { afterEach, beforeEach, expect, it } from "vitest";
import { hostId } from "../../src/redis/claim.ts";

let state: string;
beforeEach(() => {
  state = mkdtempSync(join(tmpdir(), "deckhand-host-id-"));
});
afterEach(() => rmSync(state, { recursive: true, force: true }));

it("a host is known by its state folder: one id, made once, for our eyes only", () => {
  const id = hostId(state);
  expect(id).toMatch(/^[0-9a-f]{8}-[0-9a-f-]{27}$/);
  expect(hostId(state)).toBe(id);
  expect(statSync(join(state, "host-id")).mode & 0o777).toBe(0o600);
  expect(readdirSync(state)).toEqual(["host-id"]);
});

it("processes that make it at the same moment agree on one", async () => {
  const source = `
    import { hostId } from ${JSON.stringify(join(import.meta.dirname, "../../src/redis/claim.ts"))};
    process.once("message", (state) => process.send(hostId(state), () => process.disconnect()));
    process.send("up");`;
  const file = join(state, "child.ts");
  writeFileSync(file, source);
  const fresh = mkdtempSync(join(state, "fresh-"));
  const children = await Promise.all(
    [1, 2, 3, 4].map(async () => {
      const child = fork(file);
      await once(child, "message");
      return child;
    }),
  );
  const told = children.map(async (child) => (await once(child, "message"))[0] as string);
  for (const child of children) child.send(fresh);
  expect(new Set(await Promise.all(told))).toEqual(new Set([readFileSync(join(fresh, "host-id"), "utf8").trim()]));
  expect(readdirSync(fresh)).toEqual(["host-id"]);
});

it("one that is damaged, or a folder that is not there, is told with STATE_UNUSABLE", () => {
  writeFileSync(join(state, "host-id"), "");
  expect(() => hostId(state)).toThrow(/host-id is damaged; remove it/);
  expect(() => hostId(join(state, "nowhere"))).toThrow(expect.objectContaining({ code: "STATE_UNUSABLE" }));
});
