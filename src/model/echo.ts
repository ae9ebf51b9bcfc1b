/** Servers repeat in a refusal what they do not take: what somebody wrote there is not the server's word. */

/** Letters and digits in a row that are no accident, and that are none where they are all that a person said. */
const RUN = 40;
const WHOLE = 12;
/** What a refusal says itself has at least so many letters. */
const OWN = 12;
/** What is read of a refusal. */
const MOST = 16_000;

export interface Spoken {
  /** All texts of the request. */
  all: string[];
  /** Those of people. */
  people: string[];
}

/**
 * A refusal's words without what it repeats of the request, however that is quoted and escaped. One that would have nothing
 * left stays whole: then somebody had quoted the server.
 */
export function withoutEcho(said: string, { all, people }: Spoken): string {
  const words = said.slice(0, MOST);
  const { text, at } = bare(words);
  const echoed = new Uint8Array(text.length);
  const runs = new Set<string>();
  for (let from = 0; from + RUN <= text.length; from++) runs.add(text.slice(from, from + RUN));
  const found = runs.size === 0 ? new Set<string>() : new Set(all.flatMap((each) => runsIn(bare(each).text, runs)));
  for (let from = 0; from + RUN <= text.length; from++) if (found.has(text.slice(from, from + RUN))) echoed.fill(1, from, from + RUN);
  for (const { text: whole } of people.map(bare)) {
    if (whole.length < WHOLE) continue;
    for (let from = text.indexOf(whole); from >= 0; from = text.indexOf(whole, from + 1)) echoed.fill(1, from, from + whole.length);
  }
  if (!echoed.includes(1)) return words;
  const own = at.filter((index, nth) => echoed[nth] === 0 && /[a-z]/i.test(words.charAt(index))).length;
  return own < OWN ? words : cut(words, at, echoed);
}

function runsIn(text: string, runs: Set<string>): string[] {
  const found: string[] = [];
  for (let from = 0; from + RUN <= text.length; from++) {
    const run = text.slice(from, from + RUN);
    if (runs.has(run)) found.push(run);
  }
  return found;
}

/** Each echo, from its first letter to its last, as one blank. */
function cut(words: string, at: number[], echoed: Uint8Array): string {
  let out = "";
  let from = 0;
  for (let nth = 0; nth < echoed.length; nth++) {
    if (echoed[nth] === 0) continue;
    const first = at[nth] ?? 0;
    while (echoed[nth + 1] === 1) nth++;
    out += `${words.slice(from, first)} `;
    from = (at[nth] ?? first) + 1;
  }
  return out + words.slice(from);
}

/** Its letters and digits alone, and where each stood: quoting and escapes change all the others. */
function bare(words: string): { text: string; at: number[] } {
  const at: number[] = [];
  let text = "";
  for (const { 0: run, index } of words.matchAll(/\\+(?:u[0-9a-f]{4}|[nrtbf])|[a-z0-9]+/gi)) {
    if (run.startsWith("\\")) continue;
    text += run.toLowerCase();
    for (let nth = 0; nth < run.length; nth++) at.push(index + nth);
  }
  return { text, at };
}
