/** Every key in Redis. One hash tag, so that a script's keys share one slot of a cluster. */
export const PREFIX = "{dh}";

export const KEYS = {
  state: (conversation: string) => `${PREFIX}:c:${conversation}`,
  log: (conversation: string) => `${PREFIX}:c:${conversation}:log`,
  post: (conversation: string) => `${PREFIX}:c:${conversation}:post`,
  /** Named in entries.lua too. */
  approval: (approval: string) => `${PREFIX}:a:${approval}`,
  seen: (event: string) => `${PREFIX}:seen:${event}`,
  mark: (name: string) => `${PREFIX}:mark:${name}`,
  once: (name: string) => `${PREFIX}:once:${name}`,
  lease: (name: string) => `${PREFIX}:lease:${name}`,
  /** Which host a workspace belongs to. */
  host: (workspace: string) => `${PREFIX}:host:${workspace}`,
  /** Which workers serve it now. */
  workers: (workspace: string) => `${PREFIX}:workers:${workspace}`,
  blob: (key: string) => `${PREFIX}:blob:${key}`,
  /** The newest commands that were judged in a workspace. */
  recent: (workspace: string) => `${PREFIX}:recent:${workspace}`,
  /** What was taken of a day; and by one request of it. */
  spent: (day: string) => `${PREFIX}:spent:${day}`,
  spentBy: (day: string, request: string) => `${PREFIX}:spent:${day}:${request}`,
  bucket: (name: string) => `${PREFIX}:bucket:${name}`,
  /** BullMQ's lock of a job. */
  lock: (queue: string, job: string) => `${PREFIX}:${queue}:${job}:lock`,
  /** Its jobs whose lock was not renewed since its last check. */
  stalled: (queue: string) => `${PREFIX}:${queue}:stalled`,
  /** Learned rules, and how often each rule decided. */
  rules: `${PREFIX}:rules`,
  hits: `${PREFIX}:hits`,
  /** What models' endpoints taught us of themselves. */
  learned: `${PREFIX}:learned`,
  dirty: `${PREFIX}:dirty`,
  postsDirty: `${PREFIX}:odirty`,
  approvalsDue: `${PREFIX}:due`,
  postsDue: `${PREFIX}:postdue`,
  open: `${PREFIX}:open`,
  /** The channel of hints; named in entries.lua too. */
  hints: `${PREFIX}:ctl`,
  /** The channel of what commands print while they run. */
  live: `${PREFIX}:live`,
} as const;
