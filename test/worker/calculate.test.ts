/** calculate.test.ts: tests the tool `calculate`, both on its own and in a session. */

import { describe, expect, test } from "vitest"
import { createCalculateTool } from "../../worker/tool/calculate/calculate-tool.ts"
import { calculate } from "../../worker/tool/calculate/evaluate-expression.ts"
import { toolContext } from "./tools.ts"

const run = (expression: unknown) => createCalculateTool().execute({ expression } as never, toolContext())

describe("the tool calculate", () => {
  test.each<[string, number | string]>([
    ["2 + 3 * 4", 14],
    ["(19.9 + 4) * 1.19", 28.441],
    ["0.1 + 0.2", 0.3],
    ["2^3^2", 512],
    ["-2^2", -4],
    ["17 % 5", 2],
    ["5!", 120],
    ["20!", "2.43290200817664e18"],
    ["sqrt(2)^2", 2],
    ["√16 + 3²", 13],
    ["6 × 7 ÷ 2 − 1", 20],
    ["2 ** 10", 1024],
    ["2 * π", 6.28318530717959],
    ["max(3, 7, 5) - min(3, 7) + abs(-2)", 6],
    ["sum(1, 2, 3) / average(2, 4)", 2],
    ["roundTo(2.345, 2)", 2.35],
    ["ln(e) + log10(1000) + log2(8)", 7],
    ["1 / 3", 0.333333333333333],
    ["10^15", "1e15"],
    ["2^64", "1.84467440737096e19"],
    ["1 / 3000000", "3.33333333333333e-7"],
    ["0 * -1", 0],
    ["1e3 + 1", 1001],
  ])("[BT1] %s = %s", async (expression, result) => {
    expect(await run(expression)).toEqual({ expression, result })
  })

  test.each([
    "",
    "two plus two",
    "2 +",
    "(1",
    "1 2",
    "15% of 80",
    "1,000 + 1",
    "x = 5",
    "x = 5; x + 1",
    "f(n) = n < 2 ? 1 : f(n - 1) * n; f(100000)",
    "f(x) = f(x); f(1)",
    "1 < 2",
    "1 ? 2 : 3",
    "'abc' || 'def'",
    "'abc'",
    "[1, 2, 3]",
    "[1, 2][0]",
    "map(sqrt, [1, 2])",
    "sqrt",
    "sum",
    "random()",
    "length('abc')",
    "not 1",
    "1 in [1]",
    "toString",
    "constructor",
    "__proto__",
    "hasOwnProperty('a')",
    "valueOf()",
    "constructor.constructor('return 1')()",
    "sqrt.constructor('return 1')()",
    "pi.constructor",
    "alert(1)",
    "globalThis",
    "import('x')",
    "`1`",
    "if(1, 2, 3)",
    "fac(5)",
    "1; 2",
    "'1' + '2'",
    "1 || 2",
    "(1, 2)",
    `${"(".repeat(61)}1${")".repeat(61)}`,
    "9".repeat(501),
  ])("[BT1] %s isn't a calculation, and is refused with a pointer to the argument", async (expression) => {
    const result = await run(expression)
    expect(result).toMatchObject({ code: "tool_arguments", details: expect.stringContaining("/expression") })
    expect(JSON.stringify(result)).not.toContain("constructor")
  })

  test.each(["1 / 0", "0 / 0", "10^400", "171!", "9^9^9^9", "sqrt(-1)", "ln(0)", "(-8)^0.5"])(
    "[BT1] %s has no finite result",
    async (expression) => {
      expect(await run(expression)).toEqual({ error: "The result isn't a finite number.", details: expect.any(String) })
    },
  )

  test("[BT1] the longest and deepest expressions are either computed or refused", () => {
    const longest = [
      `${"(".repeat(60)}1${")".repeat(60)}`,
      `1${"^1".repeat(249)}`,
      `${"-".repeat(499)}1`,
      `1${"!".repeat(499)}`,
      `${"sqrt ".repeat(99)}1`,
      `${"170! * ".repeat(80)}1`,
    ]
    for (const expression of longest) {
      const result = calculate(expression)
      expect(typeof (result["result"] ?? result["error"]), expression).not.toBe("undefined")
    }
  })
})
