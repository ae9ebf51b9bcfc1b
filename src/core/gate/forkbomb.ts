import { children, type FunctionNode, type SyntaxNode } from "./parse.ts";

type Test = (node: SyntaxNode) => boolean;

/** Whether a function calls itself in a pipe or in the background, also by way of another one of the line. */
export function startsItself(node: FunctionNode, functions: Map<string, FunctionNode>): boolean {
  const name = node.name.value;
  const isCall: Test = (inner) => {
    if (inner.type !== "Command") return false;
    const called = inner.name?.value;
    const other = called === undefined ? undefined : functions.get(called);
    return (
      called === name ||
      (other !== undefined && other !== node && some(other.body, (one) => one.type === "Command" && one.name?.value === name))
    );
  };
  return multiplies(node.body, isCall);
}

/** Whether a line starts its own shell (`$0`) in a pipe or in the background. */
export function startsOwnShell(node: SyntaxNode): boolean {
  return multiplies(node, (inner) => {
    if (inner.type !== "Command") return false;
    const words = [inner.name?.text, ...inner.suffix.map((part) => (part.type === "Word" ? part.text : ""))];
    return words.slice(0, 3).some((word, at) => /^"?\$\{?0\}?"?$/.test(word ?? "") && (at === 0 || /^(?:ba|da)?sh$/.test(words[0] ?? "")));
  });
}

function multiplies(node: SyntaxNode, isCall: Test): boolean {
  return some(
    node,
    (inner) =>
      ((inner.type === "Pipeline" && inner.commands.length > 1) || (inner.type === "Statement" && inner.background === true)) &&
      some(inner, isCall),
  );
}

function some(node: SyntaxNode, test: Test): boolean {
  const queue: SyntaxNode[] = [node];
  for (let next = queue.pop(); next !== undefined; next = queue.pop()) {
    if (test(next)) return true;
    for (const child of children(next)) queue.push(child);
  }
  return false;
}
