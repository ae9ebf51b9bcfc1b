import { readFileSync, writeFileSync } from "node:fs";
import { SETTINGS } from "../src/config.ts";
import { ERRORS } from "../src/core/errors.ts";

/** Every setting as a row: name, what it is, default. */
export function settingsTable(): string {
  return table(
    ["Setting", "What it is", "Default"],
    SETTINGS.map((s) => [`\`${s.name}\``, s.help, s.default === null ? "" : `\`${s.default}\``]),
  );
}

/** Every error as a row: code, what happened, what to do. */
export function errorsTable(): string {
  return table(
    ["Code", "What happened", "What to do"],
    Object.entries(ERRORS).map(([code, [what, mend]]) => [`\`${code}\``, what.replaceAll("{}", "…"), mend]),
  );
}

function table(head: string[], rows: string[][]): string {
  const line = (cells: string[]): string => `| ${cells.map((cell) => cell.replaceAll("|", "\\|")).join(" | ")} |`;
  return [line(head), line(head.map(() => "---")), ...rows.map(line)].join("\n");
}

/** README with the tables between its markers. Throws when a marker is missing. */
export function fillReadme(readme: string): string {
  return fill(fill(readme, "settings", settingsTable()), "errors", errorsTable());
}

function fill(text: string, name: string, content: string): string {
  const [open, close] = [`<!-- ${name} -->`, `<!-- /${name} -->`];
  const [from, to] = [text.indexOf(open), text.indexOf(close)];
  if (from < 0 || to < from) throw new Error(`README.md needs ${open} and, after it, ${close}`);
  return `${text.slice(0, from + open.length)}\n${content}\n${text.slice(to)}`;
}

export function envExample(): string {
  const settings = SETTINGS.map((s) => `# ${s.help}\n#${s.name}=${s.default ?? ""}\n`);
  const head = "# Copy this file to .env beside it and take the # away from what you set. Lists have commas and no blanks.\n";
  const redis = "# The password of the Redis in docker-compose.yml: letters and digits only, the same as in REDIS_URL.\n#REDIS_PASSWORD=\n";
  const folder = "# The folder that docker-compose.yml gives to its worker, owned by uid 1000; /srv/deckhand when unset.\n#WORKSPACE=\n";
  return [head, ...settings, redis, folder].join("\n");
}

if (import.meta.main) {
  writeFileSync("README.md", fillReadme(readFileSync("README.md", "utf8")));
  writeFileSync(".env.example", envExample());
}
