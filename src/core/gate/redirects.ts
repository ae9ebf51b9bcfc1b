import { type Arg, kindArg } from "./args.ts";
import { ask, deny, type Printed, show, type Walk } from "./finding.ts";
import { judgePath } from "./judge-path.ts";
import type { Redirection, Word } from "./parse.ts";
import { normalise } from "./paths.ts";
import { refusedArgument } from "./secrets.ts";

/** Judges what redirects open. */
export function judgeRedirects(redirects: readonly Redirection[], walk: Walk): void {
  for (const node of redirects) {
    if (node.descriptor?.type === "FileDescriptorVariable") {
      ask(walk, "builtin", "the line opens a file for what follows");
    }
    if (node.type !== "Redirect") continue;
    const targets = node.target === undefined ? [] : walk.word(node.target, walk);
    for (const target of targets) judgeTarget(node.operator, target, walk);
  }
}

/** The text that a command reads from the line itself. */
export function inputOf(redirects: readonly Redirection[], walk: Walk): Printed | null {
  let input: Printed | null = null;
  for (const redirect of redirects) {
    if (redirect.type === "Redirect") continue;
    const args =
      redirect.type === "HereDoc"
        ? walk.word(bodyOf(redirect), walk)
        : redirect.target === undefined
          ? []
          : walk.word(redirect.target, walk);
    const text = args.map((arg) => arg.value).join(" ");
    input = {
      text,
      sure: args.every((arg) => arg.literal),
      kind: args[0]?.kind === "name" || args[0]?.kind === "number" ? args[0].kind : "free",
    };
  }
  return input;
}

/** The body of a heredoc as the quoted word that bash makes of it. */
function bodyOf({ body, pos, end }: Extract<Redirection, { type: "HereDoc" }>): Word {
  if (body.parts === undefined || body.parts.length === 0) {
    return {
      type: "Word",
      text: "<<",
      value: body.text,
      pos,
      end,
      parts: [{ type: "SingleQuoted", pos, end, value: body.text, text: body.text }],
    };
  }
  // The parser gives a heredoc no other parts than a quoted text has.
  const parts = body.parts as Extract<NonNullable<Word["parts"]>[number], { type: "DoubleQuoted" }>["parts"];
  return { type: "Word", text: "<<", value: body.text, pos, end, parts: [{ type: "DoubleQuoted", pos, end, text: body.text, parts }] };
}

/** Whether the standard output goes elsewhere than to the next command. */
export function writesOutput(redirects: readonly Redirection[]): boolean {
  return redirects.some(
    (one) =>
      one.type === "Redirect" &&
      /^(?:>|&>)/.test(one.operator) &&
      (one.descriptor === undefined || !("value" in one.descriptor) || one.descriptor.value === 1),
  );
}

/** Remembers what the line writes into a file, in case that it runs the file. */
export function noteWritten(redirects: readonly Redirection[], printed: Printed, walk: Walk): void {
  for (const one of redirects) {
    const target = one.type === "Redirect" && /^(?:>|&>)/.test(one.operator) ? one.target : undefined;
    if (target === undefined || target.parts?.some((part) => part.type !== "Literal") === true) continue;
    const path = normalise(walk.scope.cwds[0] ?? "/", target.value);
    walk.seen.texts.set(path, `${walk.seen.texts.get(path) ?? ""}${printed.text}`);
  }
}

function judgeTarget(operator: string, target: Arg, walk: Walk): void {
  const refusal = refusedArgument(target, walk.scope.cwds);
  if (refusal !== null) deny(walk, refusal.code, `${show(target.text)} ${refusal.text}`);
  if (/^[<>]&$/.test(operator) && /^(?:\d+|-|\d+-)$/.test(target.value)) return;
  if (/\/dev\/(?:tcp|udp)\//.test(target.value)) {
    const [, host, port] = /^\/dev\/(?:tcp|udp)\/([^/$]+)\/(\d+)$/.exec(target.value) ?? [];
    ask(walk, "network", `${show(target.text)} is a connection to the network`, [
      host === undefined ? "network=*" : `network=${host}:${port}`,
    ]);
    return;
  }
  const opened = target.glob >= 0 ? { ...kindArg("free", target.text), value: target.value } : target;
  judgePath(opened, operator === "<" ? "paths" : "writes", walk);
}
