import { spawnSync } from "node:child_process";
import { existsSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

/** What we read of vitest's JSON report. */
export interface Report {
  testResults: { name: string; message: string; status: string; assertionResults: { title: string; fullName: string; status: string }[] }[];
}

/**
 * The closing lines of a run: every skipped title, what is wrong with it, and the count as the last line.
 * A skip is right only when THREAT_MODEL.md lists its title letter by letter. `exit` is vitest's own exit code,
 * which also counts what no test stands for, such as an unhandled rejection.
 */
export function summarise(report: Report, threatModel: string, exit: number): { lines: string[]; ok: boolean } {
  const tests = report.testResults.flatMap((file) => file.assertionResults);
  const passed = tests.filter((test) => test.status === "passed").length;
  const skipped = tests.filter((test) => test.status !== "passed" && test.status !== "failed");
  const broken = report.testResults.filter((file) => file.status === "failed" && !file.assertionResults.some((t) => t.status === "failed"));
  let failed = tests.filter((test) => test.status === "failed").length + broken.length;
  const lines = skipped.map((test) => `skipped: ${test.fullName}`);
  for (const test of skipped.filter((test) => !threatModel.includes(test.title))) {
    lines.push(`not allowed: THREAT_MODEL.md does not list the skipped test "${test.title}"`);
    failed++;
  }
  lines.push(...broken.map((file) => `not run: ${file.name}: ${file.message}`));
  if (exit !== 0 && failed === 0) {
    lines.push("vitest failed outside of the tests; see above");
    failed = 1;
  }
  if (passed + failed === 0) {
    lines.push("no test ran");
    failed = 1;
  }
  lines.push(`${passed} passed, ${failed} failed, ${skipped.length} skipped`);
  return { lines, ok: failed === 0 };
}

function main(args: string[]): number {
  const folder = mkdtempSync(join(tmpdir(), "deckhand-test-"));
  const reportFile = join(folder, "report.json");
  const env = args.includes("--long") ? { ...process.env, DECKHAND_LONG: "1" } : process.env;
  const passedOn = args.filter((arg) => arg !== "--long");
  try {
    const vitest = ["run", "--reporter=default", "--reporter=json", `--outputFile.json=${reportFile}`, ...passedOn];
    const { status } = spawnSync("vitest", vitest, { stdio: ["ignore", "inherit", "inherit"], env });
    const report = JSON.parse(textOf(reportFile) || '{"testResults":[]}') as Report;
    // With a name filter, vitest reports every other test as skipped.
    const filtered = passedOn.some((arg) => arg.startsWith("-t") || arg.startsWith("--testNamePattern"));
    const { lines, ok } = summarise(filtered ? ranOnly(report) : report, textOf("THREAT_MODEL.md"), status ?? 1);
    console.log(lines.join("\n"));
    return ok ? 0 : 1;
  } finally {
    rmSync(folder, { recursive: true });
  }
}

function textOf(file: string): string {
  return existsSync(file) ? readFileSync(file, "utf8") : "";
}

function ranOnly(report: Report): Report {
  const ran = (status: string): boolean => status === "passed" || status === "failed";
  return {
    testResults: report.testResults.map((file) => ({ ...file, assertionResults: file.assertionResults.filter((t) => ran(t.status)) })),
  };
}

if (import.meta.main) process.exitCode = main(process.argv.slice(2));
