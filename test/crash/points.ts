import type { Checkpoint } from "../../src/core/checkpoint.ts";

/** The crash points of the design, 1 to 50, and what covers each: checkpoints of checkpoints.test.ts, or test files. */

export interface Point {
  what: string;
  at?: readonly Checkpoint[];
  in?: readonly string[];
}

const SOAK = "test/crash/soak.test.ts";

export const POINTS: Readonly<Record<number, Point>> = {
  1: { what: "an arrival is kept, nobody was rung", at: ["kept"], in: [SOAK] },
  2: { what: "the same event twice", in: [SOAK, "test/contracts/log.test.ts"] },
  3: { what: "an arrival is kept, the answer is lost, it is sent again", in: ["test/redis/lost-reply.test.ts"] },
  4: { what: "a wake was picked, nothing taken over", at: ["picked"] },
  5: { what: "taken over", at: ["taken-over"] },
  6: { what: "before the model is asked", at: ["asking-model"] },
  7: { what: "the model has answered, the log has not", at: ["before-model", "before-judged"] },
  8: { what: "the model's answer is in the log", at: ["after-model", "after-judged"] },
  9: { what: "before a request for approval", at: ["before-approval-asked"] },
  10: { what: "the request is in the log, nobody was rung to post it", at: ["after-approval-asked"] },
  11: { what: "it is being posted, before the worker settles", at: ["before-settle", "post-taken"] },
  12: { what: "settled, the wake not completed", at: ["after-settle"] },
  13: { what: "a press has decided, nobody was rung", at: ["decided"] },
  14: { what: "two presses at once", in: [SOAK, "test/contracts/log-approvals.test.ts"] },
  15: { what: "a press between the request and its settling", in: ["test/corridor/presses.test.ts"] },
  16: { what: "a press at the moment of expiry", at: ["expired"], in: ["test/corridor/presses.test.ts"] },
  17: { what: "before a run's start", at: ["before-run-started", "runner-ready"] },
  18: { what: "a run's start is in the log, nothing was let go", at: ["after-run-started", "command-goes"] },
  19: { what: "during a command", at: ["runner-goes"], in: [SOAK, "test/corridor/restart.test.ts"] },
  20: { what: "a command has ended, the log does not say so", at: ["runner-ended", "before-run-ended"] },
  21: { what: "a run's end is in the log", at: ["after-run-ended"] },
  22: { what: "an interrupted run was noted", at: ["after-run-ended"], in: ["test/corridor/interrupted.test.ts"] },
  23: { what: "before the answer", at: ["before-final"] },
  24: { what: "the answer is in the log", at: ["after-final"] },
  25: { what: "settling while new messages come", at: ["before-settle", "after-settle"], in: ["test/redis/settle.test.ts"] },
  26: { what: "a thread's posts were taken over", at: ["post-taken"] },
  27: { what: "before a send", at: ["before-send"] },
  28: { what: "sent, and not noted", at: ["after-send", "after-edit"] },
  29: { what: "sent, its note still stands", at: ["after-sent", "before-posts-settle"] },
  30: { what: "a worker blocked for longer than its lock", in: ["test/corridor/frozen.test.ts"] },
  31: { what: "a process picks its own lost wake again", in: ["test/redis/locks.test.ts", "test/corridor/frozen.test.ts"] },
  32: {
    what: "an answer of Redis is lost, the act is sent again",
    in: ["test/redis/lost-reply.test.ts", "test/corridor/presses.test.ts"],
  },
  33: { what: "Redis is killed in the middle of it", in: [SOAK, "test/corridor/redis.test.ts"] },
  34: { what: "Redis is away for 20 s", in: ["test/corridor/redis.test.ts"] },
  35: { what: "every connection to Redis is cut", in: ["test/corridor/redis.test.ts"] },
  36: { what: "Redis is a replica for a while", in: ["test/corridor/redis.test.ts"] },
  37: { what: "Redis is full", in: ["test/corridor/redis.test.ts"] },
  38: { what: "SIGTERM while the model thinks", in: ["test/corridor/shutdown.test.ts"] },
  39: { what: "SIGTERM during a command", in: ["test/corridor/shutdown.test.ts"] },
  40: { what: "SIGTERM, then SIGKILL", in: ["test/corridor/shutdown.test.ts"] },
  41: { what: "a command of the dead worker is there when the next one starts", in: ["test/sandbox/killed.test.ts", SOAK] },
  43: { what: "a gateway dies with a hundred events that it has not acknowledged", in: ["test/crash/hundred.test.ts"] },
  44: { what: "stop while it waits, runs or is parked", in: ["test/corridor/stop.test.ts"] },
  45: { what: "a conversation that kills every worker", in: ["test/corridor/parked.test.ts"] },
  46: { what: "the doorbell's key is left without a job", in: ["test/redis/trouble.test.ts"] },
  47: { what: "workers of two versions", in: ["test/core/newer.test.ts"] },
  48: { what: "a clock jumps by an hour", in: ["test/core/clock.test.ts"] },
  49: { what: "the disk is full", in: ["test/corridor/redis.test.ts"] },
  50: { what: "the power fails", in: ["test/crash/power.test.ts"] },
};

/** The archive comes later. */
export const LATER: readonly number[] = [42];
