import { expect, test } from "vitest";
import { scriptFiles } from "../../../src/core/gate/script-files.ts";

const place = { workspace: "/w", cwd: "/w/sub", posture: "careful" as const };

test.each([
  ["./deploy.sh --now", ["/w/sub/deploy.sh"]],
  ["bash -x ../run.sh | tee log", ["/w/run.sh"]],
  ["python3 tools/x.py; node /w/y.js", ["/w/sub/tools/x.py", "/w/y.js"]],
  [". ./env.sh && nice /w/bin/go", ["/w/sub/env.sh", "/w/bin/go"]],
  ["cd /w/other && ./a.sh", ["/w/sub/a.sh", "/w/other/a.sh"]],
  ["bash -c './inner.sh'", ["/w/sub/inner.sh"]],
])("%s runs files of the workspace", (command, files) => {
  expect(scriptFiles(command, place)).toEqual(expect.arrayContaining(files));
});

test.each(["ls -la", "/usr/bin/env", "cat ./deploy.sh", "python3 -c 'print(1)'", "bash /tmp/x.sh"])("%s runs none", (command) => {
  expect(scriptFiles(command, place)).toEqual([]);
});
