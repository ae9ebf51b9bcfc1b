const MOST_CHOICES = 64;
const MOST_DEPTH = 8;
/** Without quotes, expansions and escapes: what stands there is what comes out. */
const PLAIN = /^[\w./@%+:=,~*?^!-]*$/;

/** The choices of `{a,b}` and `{1..5}`; quotes inside are dropped, and what is not plain says so. */
export function braces(text: string, depth = 0): { value: string; plain: boolean }[] {
  if (depth > MOST_DEPTH) return [{ value: text.slice(0, 100), plain: false }];
  const inner = text.slice(1, -1);
  const choices = split(inner);
  if (choices.length === 1) return sequence(inner, text);
  return choices.flatMap((choice) => nested(choice, depth)).slice(0, MOST_CHOICES);
}

function nested(choice: string, depth: number): { value: string; plain: boolean }[] {
  const open = choice.indexOf("{");
  if (depth > MOST_DEPTH) return [{ value: choice.slice(0, 100), plain: false }];
  if (open < 0) return [{ value: choice.replace(/['"\\]/g, ""), plain: PLAIN.test(choice) }];
  const close = closing(choice, open);
  if (close < 0) return [{ value: choice, plain: false }];
  const [head, middle, rest] = [choice.slice(0, open), choice.slice(open, close + 1), choice.slice(close + 1)];
  const ends = nested(rest, depth + 1).slice(0, MOST_CHOICES);
  const middles = braces(middle, depth + 1).slice(0, MOST_CHOICES);
  return middles
    .flatMap((one) => ends.map((end) => ({ value: head + one.value + end.value, plain: PLAIN.test(head) && one.plain && end.plain })))
    .slice(0, MOST_CHOICES);
}

function closing(text: string, open: number): number {
  let depth = 0;
  for (let at = open; at < text.length; at += 1) {
    if (text[at] === "{") depth += 1;
    if (text[at] === "}") depth -= 1;
    if (depth === 0) return at;
  }
  return -1;
}

function split(inner: string): string[] {
  const choices: string[] = [];
  let depth = 0;
  let from = 0;
  for (let at = 0; at < inner.length; at += 1) {
    if (inner[at] === "{") depth += 1;
    else if (inner[at] === "}") depth -= 1;
    else if (inner[at] === "," && depth === 0) {
      choices.push(inner.slice(from, at));
      from = at + 1;
    }
  }
  return [...choices, inner.slice(from)];
}

function sequence(inner: string, text: string): { value: string; plain: boolean }[] {
  const [, from, to, step] = /^(-?\d{1,9})\.\.(-?\d{1,9})(?:\.\.-?(\d{1,9}))?$/.exec(inner) ?? [];
  if (from === undefined || to === undefined) {
    const letters = /^[A-Za-z]\.\.[A-Za-z](?:\.\.-?\d+)?$/.test(inner);
    return letters ? [inner[0] ?? "", inner[3] ?? ""].map((value) => ({ value, plain: true })) : [{ value: text, plain: false }];
  }
  const by = Math.max(1, Number(step ?? 1));
  const [low, high] = [Math.min(Number(from), Number(to)), Math.max(Number(from), Number(to))];
  const ends = [low, high];
  // Of a long sequence the ends stand for the rest: numbers are all alike to the gate.
  const all = (high - low) / by < MOST_CHOICES ? Array.from({ length: Math.floor((high - low) / by) + 1 }, (_, at) => low + at * by) : ends;
  return all.map((value) => ({ value: String(value), plain: true }));
}
