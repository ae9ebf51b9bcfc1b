import { join } from "node:path";
import { defineConfig } from "vitest/config";

// The tests start hundreds of processes: what one has compiled, the next one finds.
process.env["NODE_COMPILE_CACHE"] ??= join(import.meta.dirname, "node_modules/.cache/compiled");

// Most tests wait for processes and servers, so more of them than there are cores may run at once.
export default defineConfig({
  test: {
    include: ["test/**/*.test.ts"],
    exclude: process.env["DECKHAND_LONG"] ? [] : ["test/**/*.long.test.ts"],
    pool: "forks",
    maxWorkers: 5,
    testTimeout: 90_000,
    hookTimeout: 90_000,
    teardownTimeout: 20_000,
  },
});
