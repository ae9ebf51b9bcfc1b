import { arithmeticWord, evaluated } from "./arith.ts";
import { ask, show, type Walk } from "./finding.ts";
import type { TestExpression } from "./parse.ts";
import { judgePath } from "./judge-path.ts";

const FILES = /^-[abcdefghkprstuwxGLNOS]$/;

/** Judges `[[ ]]`: its `-eq` and the like calculate, its `-v` reads subscripts, its `-f` and the like look at files. */
export function judgeTest(expression: TestExpression, walk: Walk): void {
  walk.seen.left -= 1;
  switch (expression.type) {
    case "TestUnary": {
      const args = walk.word(expression.operand, walk);
      if (expression.operator === "-v" || expression.operator === "-R") {
        for (const arg of args) judgeName(arg.value, arg.literal, walk);
      } else if (FILES.test(expression.operator)) {
        for (const arg of args) judgePath(arg, "names", walk);
      }
      return;
    }
    case "TestBinary":
      if (/^-(?:eq|ne|lt|le|gt|ge)$/.test(expression.operator)) {
        arithmeticWord(expression.left, walk);
        arithmeticWord(expression.right, walk);
        return;
      }
      for (const word of [expression.left, expression.right]) {
        const args = walk.word(word, walk);
        if (/^-(?:nt|ot|ef)$/.test(expression.operator)) for (const arg of args) judgePath(arg, "names", walk);
      }
      return;
    case "TestLogical":
      for (const one of expression.operands) judgeTest(one, walk);
      return;
    case "TestNot":
      return judgeTest(expression.operand, walk);
    default:
      return judgeTest(expression.expression, walk);
  }
}

/** The name of a variable that a builtin takes: a subscript in it is calculated. */
export function judgeName(name: string, literal: boolean, walk: Walk): void {
  if (literal && /^[A-Za-z_]\w*(?:\[(?:\d+|[@*])\])?$/.test(name)) return;
  ask(walk, "arith", `${show(name)} names a variable, and what stands in it is run`);
  evaluated(name, walk);
}
