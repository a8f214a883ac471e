/**
 * evaluate-expression.ts: parses and evaluates an arithmetic expression with expr-eval-fork. Pure.
 *
 * text → parser with a fixed set of operators and functions → number
 * The parser's operators and functions are replaced by those below, which only take and return numbers. All other
 * features of the package are disabled: assignments, functions defined in the expression, arrays, strings, property
 * access and comparisons. Nothing loops, so the time is linear in the length of the expression. Loaded on the first
 * call.
 */

import { Parser } from "expr-eval-fork"
import type { Json } from "../../../shared/json.ts"
import { createRefusal } from "../tool.ts"

/** Maximum nesting of brackets. The parser is recursive, so each level takes space on the stack. */
const MAX_DEPTH = 60

/** Significant decimal digits that a double always preserves. Further digits are rounding errors, as in 0.1 + 0.2. */
const DIGITS = 15

/** Results outside these bounds are strings with an exponent, because that is how people write such numbers. */
const MAX_PLAIN = 1e15
const MIN_PLAIN = 1e-4

/** Characters that occur only in strings, arrays, assignments, comparisons or sequences of expressions. */
const OTHER_SIGNS = /[;:='"`[\]{}?|&<>\\]/

const UNREADABLE =
  "can't be read. Write only numbers such as 1234.5, the operators and functions that the tool names, and brackets. Write 15% as 0.15"

type Calculate = (...figures: number[]) => number

const add: Calculate = (...figures) => figures.reduce((sum, figure) => sum + figure, 0)

const FUNCTIONS: Readonly<Record<string, Calculate>> = {
  sin: Math.sin,
  cos: Math.cos,
  tan: Math.tan,
  asin: Math.asin,
  acos: Math.acos,
  atan: Math.atan,
  sinh: Math.sinh,
  cosh: Math.cosh,
  tanh: Math.tanh,
  sqrt: Math.sqrt,
  cbrt: Math.cbrt,
  exp: Math.exp,
  ln: Math.log,
  log10: Math.log10,
  log2: Math.log2,
  abs: Math.abs,
  sign: Math.sign,
  floor: Math.floor,
  ceil: Math.ceil,
  round: Math.round,
  trunc: Math.trunc,
}

/** Functions with several arguments. */
const LISTED_FUNCTIONS: Readonly<Record<string, Calculate>> = {
  min: Math.min,
  max: Math.max,
  hypot: Math.hypot,
  pow: (base = Number.NaN, exponent = Number.NaN) => base ** exponent,
  atan2: (y = Number.NaN, x = Number.NaN) => Math.atan2(y, x),
  roundTo: (figure = Number.NaN, decimals = 0) => Number(`${Math.round(Number(`${figure}e${decimals}`))}e${-decimals}`),
  sum: add,
  average: (...figures) => add(...figures) / figures.length,
}

/** Characters that people and models use instead of the operators. */
const SIGNS: readonly (readonly [RegExp, string])[] = [
  [/[×·⋅∙]/g, "*"],
  [/[÷∕]/g, "/"],
  [/[−–]/g, "-"],
  [/²/g, "^2"],
  [/³/g, "^3"],
  [/√/g, "sqrt "],
  [/π/g, "pi"],
  [/\*\*/g, "^"],
]

/** Creates an object without a prototype, so that only its own names are found. */
const toTable = <T>(entries: Readonly<Record<string, T>>): Record<string, T> =>
  Object.assign(Object.create(null), entries)

/** Evaluates an expression. The result contains the expression as it was written. Errors: those of the tool. */
export function calculate(expression: string): { readonly [key: string]: Json } {
  const written = SIGNS.reduce((text, [sign, operator]) => text.replace(sign, operator), expression)
  if (OTHER_SIGNS.test(written)) return refuse(UNREADABLE)
  if (measureDepth(written) > MAX_DEPTH) return refuse(`is nested more than ${MAX_DEPTH} levels deep`)
  let value: unknown
  try {
    value = parser.parse(written).evaluate()
  } catch {
    // The package's message would repeat parts of the expression, and mention disabled features.
    return refuse(UNREADABLE)
  }
  if (typeof value !== "number") return refuse("doesn't evaluate to a number")
  if (!Number.isFinite(value))
    return {
      error: "The result isn't a finite number.",
      details: "The expression divides by zero, or its result is too large or undefined.",
    }
  return { expression, result: toShortFigure(value) }
}

function refuse(problem: string): { readonly [key: string]: Json } {
  return createRefusal("tool_arguments", `"/expression" ${problem}.`)
}

/** Rounds to DIGITS significant digits. Returns a string if the number is usually written with an exponent. */
function toShortFigure(value: number): number | string {
  const figure = Number(value.toPrecision(DIGITS))
  const size = Math.abs(figure)
  if (size === 0) return 0
  return size >= MIN_PLAIN && size < MAX_PLAIN ? figure : figure.toExponential().replace("e+", "e")
}

/** Returns the maximum nesting depth of brackets. */
function measureDepth(expression: string): number {
  let depth = 0
  let deepest = 0
  for (const char of expression) {
    if (char === "(") deepest = Math.max(deepest, ++depth)
    if (char === ")") depth -= 1
  }
  return deepest
}

/** The package's types omit these fields. */
interface OperatorTables {
  unaryOps: Record<string, Calculate | undefined>
  binaryOps: Record<string, Calculate | undefined>
  ternaryOps: Record<string, Calculate | undefined>
}

function createParser(): Parser {
  const off = { assignment: false, fndef: false, conditional: false, logical: false, comparison: false, in: false }
  const operators = { ...off, concatenate: false, random: false }
  const created = new Parser({ allowMemberAccess: false, operators }) as Parser & OperatorTables
  const { "-": negate, "+": keep, "!": factorial } = created.unaryOps
  const { "+": plus, "-": minus, "*": times, "/": by, "%": remainder, "^": power } = created.binaryOps
  const signs = { "-": negate, "+": keep, "!": factorial }
  created.unaryOps = toTable({ ...signs, ...FUNCTIONS })
  created.binaryOps = toTable({ "+": plus, "-": minus, "*": times, "/": by, "%": remainder, "^": power })
  created.ternaryOps = toTable({})
  created.functions = toTable(LISTED_FUNCTIONS)
  created.consts = toTable({ pi: Math.PI, PI: Math.PI, e: Math.E, E: Math.E })
  return created
}

const parser = createParser()
