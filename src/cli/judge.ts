import { parseArgs } from "node:util";
import { judge } from "../core/gate.ts";
import type { Place } from "../core/ports.ts";
import { realpathOf } from "../system.ts";
import { folderAt, oneOf } from "./cli.ts";

const NEWLINE = 0x0a;

/** `deckhand judge`: verdicts for the lines on standard input, as they would be given in the workspace. */
export async function judgeCommand(args: string[]): Promise<number> {
  const { values } = parseArgs({
    args,
    options: { workspace: { type: "string", default: process.cwd() }, posture: { type: "string", default: "careful" } },
  });
  const posture = oneOf("--posture", values.posture, ["careful", "contained"] as const);
  const workspace = folderAt(values.workspace);
  const place: Place = { workspace, cwd: workspace, posture, realpath: realpathOf };
  return judgeLines(process.stdin, (line) => void process.stdout.write(`${line}\n`), place);
}

/**
 * One JSON object with a `command` a line in, one with the verdict a line out, in order.
 * `write` gets each line without its newline. A line that is broken gives `{"error", "line"}` (lines count from 1)
 * and does not stop the rest; empty lines are passed over. Resolves with the exit code: 0, or 2 when a line was broken.
 */
export async function judgeLines(input: AsyncIterable<string | Buffer>, write: (line: string) => void, place: Place): Promise<number> {
  let number = 0;
  let code = 0;
  for await (const line of linesOf(input)) {
    number += 1;
    const answer = answerTo(line, place);
    if (answer === null) continue;
    if ("error" in answer) code = 2;
    write(JSON.stringify("error" in answer ? { ...answer, line: number } : answer));
  }
  return code;
}

function answerTo(line: Buffer, place: Place): { error: string } | Record<string, unknown> | null {
  let parsed: unknown;
  try {
    const text = new TextDecoder("utf-8", { fatal: true }).decode(line);
    if (text.trim() === "") return null;
    parsed = JSON.parse(text);
  } catch (thrown) {
    return { error: thrown instanceof SyntaxError ? "is not JSON" : "is not UTF-8" };
  }
  const command = typeof parsed === "object" && parsed !== null && "command" in parsed ? parsed.command : undefined;
  if (typeof command !== "string") return { error: 'needs the form {"command": "..."}' };
  const { verdict, reasons, rule, ...more } = judge(command, place);
  return { command, verdict, reasons, rule, ...more };
}

/** The lines of a stream that may be cut anywhere, also within a character. */
async function* linesOf(input: AsyncIterable<string | Buffer>): AsyncGenerator<Buffer> {
  let rest: Buffer[] = [];
  let half = "";
  for await (const piece of input) {
    let bytes: Buffer;
    if (typeof piece === "string") {
      const text = half + piece;
      half = /[\uD800-\uDBFF]$/.test(text) ? text.slice(-1) : "";
      bytes = Buffer.from(half === "" ? text : text.slice(0, -1));
    } else {
      bytes = piece;
    }
    let from = 0;
    for (let end = bytes.indexOf(NEWLINE); end >= 0; end = bytes.indexOf(NEWLINE, from)) {
      yield Buffer.concat([...rest, bytes.subarray(from, end)]);
      rest = [];
      from = end + 1;
    }
    if (from < bytes.length) rest.push(bytes.subarray(from));
  }
  if (rest.length > 0) yield Buffer.concat(rest);
}
