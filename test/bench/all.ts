import { bytes } from "./bytes.ts";
import { chat } from "./chat.ts";
import type { Bench } from "./figure.ts";
import { fsync } from "./fsync.ts";
import { gate } from "./gate.ts";
import { idle } from "./idle.ts";
import { log } from "./log.ts";
import { many } from "./many.ts";
import { mention } from "./mention.ts";
import { parked } from "./parked.ts";
import { posting } from "./posting.ts";
import { press } from "./press.ts";
import { recover } from "./recover.ts";
import { runStart } from "./run-start.ts";
import { sandboxFlood } from "./sandbox-flood.ts";
import { sandboxParallel } from "./sandbox-parallel.ts";
import { sandboxStart } from "./sandbox-start.ts";
import { sandboxStop } from "./sandbox-stop.ts";
import { step } from "./step.ts";

/** Every bench, in the order of the table. */
export const BENCHES: Bench[] = [
  ...[gate, sandboxStart, sandboxParallel, sandboxFlood, sandboxStop, runStart],
  ...[fsync, posting, mention, step, chat, press],
  ...[parked, many, log, bytes, idle, recover],
];
