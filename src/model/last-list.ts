import { type Item, type Kind, whole } from "./items.ts";
import { asText, parseArguments, textFor } from "./json.ts";
import { leftOut } from "./left-out.ts";

/** An item of the list in the last event. */
export interface Listed {
  kind: Kind;
  sent: Record<string, unknown>;
  /** The item that events have told of it; null for none, "other" where they told something else in its place. */
  told: Item | null | "other";
}

/**
 * Finds the items that the last event's list says again: by id, else by what a call says, else by place. The list may leave
 * some out, order them anew or give each another id; none may be taken for another one by that.
 */
export function matched(items: Item[], list: Omit<Listed, "told">[]): Listed[] {
  const free = new Set(items);
  const found = new Map<Omit<Listed, "told">, Item>();
  function take(each: Omit<Listed, "told">, item: Item | undefined): void {
    if (!item || found.has(each) || !free.delete(item)) return;
    found.set(each, item);
  }
  for (const each of list) {
    const id = asText(each.sent["id"]);
    const alike = id === "" ? [] : items.filter((item) => item.kind === each.kind && item.id === id);
    // An id that several have is none.
    if (alike.length === 1) take(each, alike[0]);
  }
  const calls = new Map<string, Item[]>();
  for (const item of free) {
    if (item.kind !== "function_call") continue;
    const raw = whole(item);
    for (const words of [wordsOf(raw), lengthOf(raw.length)]) calls.set(words, [...(calls.get(words) ?? []), item]);
  }
  for (const each of list) {
    if (each.kind !== "function_call" || found.has(each)) continue;
    const said = textFor(each.sent["arguments"] ?? "");
    const left = leftOut(said);
    const alike = calls.get(left === null ? wordsOf(said) : lengthOf(left)) ?? [];
    take(
      each,
      alike.find((item) => free.has(item)),
    );
  }
  const nth: Record<Kind, number> = { message: 0, function_call: 0, reasoning: 0 };
  return list.map((each) => {
    const ofKind = items.filter((item) => item.kind === each.kind);
    const there = ofKind[nth[each.kind]++];
    const known = found.get(each);
    if (known) return { ...each, told: known };
    const placed = there && free.has(there) ? there : each.kind === "function_call" ? undefined : ofKind.find((item) => free.has(item));
    if (!placed) return { ...each, told: null };
    if (each.kind === "function_call" && contradicts(placed, each.sent)) return { ...each, told: "other" };
    free.delete(placed);
    return { ...each, told: placed };
  });
}

/** The arguments of a call, however they are written. */
function wordsOf(raw: string): string {
  const args = raw === "" ? null : parseArguments(raw);
  return args ? JSON.stringify(args) : `as it is: ${raw}`;
}

function lengthOf(characters: number): string {
  return `${characters} characters`;
}

/** Whether both say something whole; that they do not say the same is known. */
function contradicts(item: Item, sent: Record<string, unknown>): boolean {
  const raw = whole(item);
  return raw !== "" && parseArguments(raw) !== null && textFor(sent["arguments"] ?? "") !== "";
}
