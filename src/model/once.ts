/**
 * Whether an event of a stream is new: a proxy may send one twice. Its number tells, as long as the server counts at all;
 * one that gives every event the same number has none.
 */
export function eventFilter(): (event: Record<string, unknown>) => boolean {
  let last: { number: number; text: string } | null = null;
  let counts = true;
  return (event) => {
    const number = event["sequence_number"];
    if (!counts || typeof number !== "number") return true;
    const text = ["type", "item_id", "output_index", "content_index", "delta"].map((name) => plain(event[name])).join(" ");
    const again = last?.number === number;
    if (again && last?.text === text) return false;
    counts = !again;
    last = { number, text };
    return true;
  };
}

function plain(value: unknown): string {
  return typeof value === "string" || typeof value === "number" ? String(value) : "";
}
