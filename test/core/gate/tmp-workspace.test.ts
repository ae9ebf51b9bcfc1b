import { expect, it } from "vitest";
import { judge } from "../../../src/core/gate.ts";

const place = { workspace: "/tmp/box/proj", cwd: "/tmp/box/proj", posture: "careful" } as const;

it.each(['cat "$PWD/../x"', "cat ../x", "cd .. && ls", 'cd "$PWD/.." && ls', "ls /tmp/box/proj/../other"])(
  "asks about the way up out of a workspace in /tmp: %s",
  (line) => {
    expect(judge(line, place).verdict).toBe("ask");
  },
);

it("lets the rest of /tmp be read", () => {
  expect(judge("cat /tmp/build.log", place).verdict).toBe("auto");
});
