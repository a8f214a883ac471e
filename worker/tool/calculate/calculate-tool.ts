/** calculate-tool.ts: evaluates an arithmetic expression, because models make mistakes in arithmetic. */

import { defineTool } from "../define-tool.ts"

const MAX_EXPRESSION_CHARS = 500

/** Creates the tool (SPEC BT1). Errors: `tool_arguments`; `{error, details}` if the result isn't a finite number. */
export const createCalculateTool = () =>
  defineTool({
    description:
      "Computes an arithmetic expression. Use it for every calculation. + - * / ^ ! and % (remainder); sqrt, exp, ln, log10, abs, round, roundTo(x, decimals), floor, ceil, min, max, sum, average, sin, cos, tan; pi, e.",
    args: {
      type: "object",
      properties: {
        expression: {
          type: "string",
          minLength: 1,
          maxLength: MAX_EXPRESSION_CHARS,
          description: 'Such as "(19.9 + 4) * 1.19".',
        },
      },
      required: ["expression"],
      additionalProperties: false,
    },
    effects: "read",
    repeatable: true,
    card: "calculation",
    async run({ expression }) {
      const { calculate } = await import("./evaluate-expression.ts")
      return calculate(expression)
    },
  })
