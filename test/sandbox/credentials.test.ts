import { spawnSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, it, onTestFinished } from "vitest";
import { gitCredentialEnv } from "../../src/sandbox/credentials.ts";
import { commandEnv } from "../../src/sandbox/launch.ts";

const VALUE = `t0k"en'$(touch x)%s`;

/** Asks git for the credential of an address, in a repository whose own helper writes down what it is told. */
function ask(address: string, act = "fill"): { text: string; told: string } {
  const folder = mkdtempSync(join(tmpdir(), "deckhand-git-"));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  const settings = gitCredentialEnv([
    { env: "SOME_TOKEN", host: "git.example" },
    { env: "OTHER", host: null },
  ]);
  const env = { ...commandEnv(folder, true, settings), SOME_TOKEN: VALUE };
  const git = (args: string[], input = "") => spawnSync("git", args, { cwd: folder, env, input, encoding: "utf8" });
  git(["init", "-q"]);
  writeFileSync(join(folder, "told"), "");
  git(["config", "credential.helper", `!f() { cat >> ${folder}/told; }; f`]);
  git(["config", "credential.https://git.example.helper", `!f() { cat >> ${folder}/told; }; f`]);
  const { stdout } = git(["credential", act], `url=${address}\n${act === "fill" ? "" : "username=a\npassword=b\n"}\n`);
  return { text: stdout, told: readFileSync(join(folder, "told"), "utf8") };
}

it("git gets the value for its host, and no other helper hears of it", () => {
  const { text, told } = ask("https://git.example/a.git");
  expect(text).toContain(`password=${VALUE}\n`);
  expect(told).toBe("");
  expect(ask("https://git.example/a.git", "approve").told).toBe("");
});

it.each([
  "https://other.example/",
  "http://git.example/",
  "https://git.example:8443/",
  "https://git.example.evil.example/",
  "https://www.git.example/",
])("git gets nothing for %s", (address) => expect(ask(address).text).not.toContain("t0k"));

it("the value is in none of git's settings", () => {
  expect(JSON.stringify(gitCredentialEnv([{ env: "SOME_TOKEN", host: "git.example" }]))).not.toContain(VALUE);
  expect(gitCredentialEnv([{ env: "SOME_TOKEN", host: null }])).toEqual({});
});
