import type { Bench } from "./figure.ts";
import { fsync } from "./fsync.ts";
import { gate } from "./gate.ts";
import { mention } from "./mention.ts";
import { posting } from "./posting.ts";
import { press } from "./press.ts";
import { sandboxFlood } from "./sandbox-flood.ts";
import { sandboxParallel } from "./sandbox-parallel.ts";
import { sandboxStart } from "./sandbox-start.ts";
import { sandboxStop } from "./sandbox-stop.ts";
import { step } from "./step.ts";

/** Every bench, in the order of the table. */
export const BENCHES: Bench[] = [
  ...[gate, sandboxStart, sandboxParallel, sandboxFlood, sandboxStop],
  ...[fsync, posting, mention, press, step],
];
