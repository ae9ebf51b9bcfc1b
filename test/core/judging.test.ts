import { expect, test } from "vitest";
import { judgeAct } from "../../src/core/judging.ts";
import { tool } from "../../src/tools/bash.ts";

const place = {
  workspace: "/w",
  cwd: "/w",
  posture: "careful" as const,
  rules: [],
  credentials: [{ name: "github", host: "github.com" }],
};

test.each([
  ["git clone https://github.com/a/b", ["network=github.com:443", "credential=github"]],
  ["git clone https://gitlab.com/a/b", ["network=gitlab.com:443"]],
  ["curl https://github.com.evil.example/", ["network=github.com.evil.example:443"]],
])("%s is asked for with the credential of its host alone", (title, grants) => {
  expect(judgeAct({ tool, act: { title, timeoutMs: 1 } }, place)).toMatchObject({ verdict: "ask", grants });
});
