import { join } from "node:path";
import type { Carried, RunOptions, RunSpec, Sandbox, SandboxReport } from "../core/sandbox.ts";
import { proxyEnv } from "./bridge.ts";
import { HOME } from "./bwrap-args.ts";
import { commonParts, planner } from "./bwrap-plan.ts";
import { readCarried } from "./carry.ts";
import { openCgroups } from "./cgroup.ts";
import { fingerprint } from "./fingerprint.ts";
import { folderOf } from "./folders.ts";
import { lacks } from "./grants.ts";
import { type Guarded, guarded } from "./guard.ts";
import { besideBwrap, inbox } from "./inbox.ts";
import { insideBwrap, keeper } from "./keeper.ts";
import { commandEnv } from "./launch.ts";
import { HELD, probe } from "./probes.ts";
import type { SandboxOptions } from "./options.ts";
import { keeping } from "./keep.ts";
import { notesReader } from "./notes.ts";
import { createRun } from "./provider.ts";

/** Commands in bubblewrap: no network, no host files but /usr and the workspace, nothing left afterwards. */
export function bwrapSandbox(options: SandboxOptions): Sandbox {
  // Before any other process is started: this one may have to move.
  const groups = openCgroups();
  const common = commonParts(options);
  const runs = createRun<Guarded>(options, (...run) => plan(...run));
  const inside = insideBwrap(runs.errand, common);
  const keep = keeper(options, inside);
  const plan = planner(options, common, keep, "fresh" in groups ? groups : null);
  const { run, raw, left, check, userOf, warm, close } = runs;
  return {
    name: "bwrap",
    run: guarded(run, raw),
    selfTest: async (workspace, waiting) => {
      warm();
      const parts = { check, run: (spec: RunSpec, how: RunOptions) => run(spec, how, { protect: [] }), waiting };
      return badged(await probe(workspace, options, parts), workspace, options);
    },
    carried: (conversation, workspace) => {
      const user = userOf(workspace);
      if (user === null) return { cwd: workspace, env: {}, notes: [] };
      return withoutSecrets(readCarried(join(folderOf(options.stateDir, conversation, user), "sess"), workspace, GIVEN), options);
    },
    lacks: (workspace, grants) => lacks(workspace, grants, options),
    fingerprint: (workspace, files) => fingerprint((spec, how) => run(spec, how, { protect: [] }), workspace, files),
    notes: notesReader((spec, how) => run(spec, how, { protect: [] })),
    keep: keeping(options, inside, userOf, () => "/tmp"),
    put: inbox({ options, check, keep, beside: besideBwrap(runs.errand, common) }),
    left,
    dispose: keep.dispose,
    tidy: keep.tidy,
    close,
  };
}

/** The probes run without the hosts that a workspace's commands may always connect to; the badge names them. */
function badged(report: SandboxReport, workspace: string, { extras }: SandboxOptions): SandboxReport {
  const hosts = (extras?.get(workspace)?.network ?? []).map(({ host, port }) => `${host}:${port}`);
  if (!report.ok || hosts.length === 0) return report;
  return { ...report, badge: HELD.replace("no network", `network only to ${hosts.join(", ")}`) };
}

/** Variables that a command gets without having carried them. */
const GIVEN = { ...commandEnv(HOME, true), ...proxyEnv() };

/** A granted credential is for one run: a copy of it is not for the next. */
function withoutSecrets({ env, ...rest }: Carried, { secrets = [] }: SandboxOptions): Carried {
  return { ...rest, env: Object.fromEntries(Object.entries(env).filter(([, value]) => !secrets.some((secret) => value.includes(secret)))) };
}
