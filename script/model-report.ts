import { readFileSync, writeFileSync } from "node:fs";
import { CLIENTS } from "../test/model/compare/clients.ts";
import { answerOf, scenarios, wrongWith } from "../test/model/compare/scenario.ts";
import { startFaultServer } from "../test/model/fault-server.ts";

const DOCUMENT = "docs/models.md";
const [OPEN, CLOSE] = ["<!-- comparison -->", "<!-- /comparison -->"];

/** What each client made of each scenario: null where it was right. */
export interface Row {
  scenario: string;
  wrong: (string | null)[];
}

/** Plays every scenario to every client, over HTTP. */
export async function compare(): Promise<Row[]> {
  const server = await startFaultServer();
  const rows: Row[] = [];
  for (const scenario of scenarios) {
    const wrong: Row["wrong"] = [];
    for (const client of CLIENTS) {
      server.next = answerOf(scenario);
      wrong.push(wrongWith(scenario, await client.play(server.url)));
    }
    rows.push({ scenario: scenario.name, wrong });
  }
  await server.close();
  return rows;
}

/** `Deckhand: 41 of 41 right` and so on, one a client. */
export function counts(rows: Row[]): string[] {
  return CLIENTS.map(({ name }, at) => `${name}: ${rows.filter(({ wrong }) => wrong[at] === null).length} of ${rows.length} right`);
}

export function comparison(rows: Row[]): string {
  const line = (cells: string[]): string => `| ${cells.join(" | ")} |`;
  const heads = CLIENTS.map(({ name, module }) => (module === null ? name : `${name} ${versionOf(module)}`));
  const cell = (wrong: string | null): string => (wrong === null ? "right" : short(wrong));
  const table = [["Scenario", ...heads], ["---", ...heads.map(() => "---")], ...rows.map((row) => [row.scenario, ...row.wrong.map(cell)])];
  return [...counts(rows).map((count) => `- ${count}`), "", ...table.map(line)].join("\n");
}

function short(wrong: string): string {
  const safe = wrong
    .replaceAll("|", "\\|")
    .replace(/\s+/g, " ")
    .replace(/[<{].*$/, "…");
  return safe.length > 80 ? `${safe.slice(0, 79)}…` : safe;
}

function versionOf(module: string): string {
  const { version } = JSON.parse(readFileSync(`node_modules/${module}/package.json`, "utf8")) as { version: string };
  return version;
}

if (import.meta.main) {
  const text = readFileSync(DOCUMENT, "utf8");
  const [from, to] = [text.indexOf(OPEN), text.indexOf(CLOSE)];
  if (from < 0 || to < from) throw new Error(`${DOCUMENT} needs ${OPEN} and, after it, ${CLOSE}`);
  writeFileSync(DOCUMENT, `${text.slice(0, from + OPEN.length)}\n\n${comparison(await compare())}\n\n${text.slice(to)}`);
  // The other clients leave sockets and timers open.
  process.exit();
}
