import type { Bench } from "./figure.ts";
import { fsync } from "./fsync.ts";
import { gate } from "./gate.ts";
import { posting } from "./posting.ts";
import { sandboxFlood } from "./sandbox-flood.ts";
import { sandboxParallel } from "./sandbox-parallel.ts";
import { sandboxStart } from "./sandbox-start.ts";
import { sandboxStop } from "./sandbox-stop.ts";

/** Every bench, in the order of the table. */
export const BENCHES: Bench[] = [gate, sandboxStart, sandboxParallel, sandboxFlood, sandboxStop, fsync, posting];
