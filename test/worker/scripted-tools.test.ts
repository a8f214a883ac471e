/** scripted-tools.test.ts: tests how the scripted model uses small tools. */

import { expect, test } from "vitest"
import { planToolRequest } from "../../worker/model/scripted/scripted-tools.ts"

const TOOLS = ["calculate", "timer", "list", "fetch_page"].map((name) => ({ name, description: "", parameters: {} }))

test.each<[string, string, object]>([
  ["Calculate (19.9 + 4) * 3.", "calculate", { expression: "(19.9 + 4) * 3" }],
  ["set a timer for 5 minutes", "timer", { label: "Timer", seconds: 300 }],
  ["Start a timer for 1 hour for the cake.", "timer", { label: "the cake", seconds: 3600 }],
  [
    "Make a list: tea, milk;  bread",
    "list",
    { title: "List", items: [{ text: "tea" }, { text: "milk" }, { text: "bread" }] },
  ],
  ["Make a list called Trip: pack", "list", { title: "Trip", items: [{ text: "pack" }] }],
  ["Read https://example.com/a", "fetch_page", { url: "https://example.com/a" }],
])("[BT10] the scripted model answers %j with the tool %s", (question, name, args) => {
  const call = planToolRequest(question, TOOLS as never)?.find(({ type }) => type === "tool_call")
  expect(call).toMatchObject({ name, args: JSON.stringify(args) })
  expect(planToolRequest(question, [])).toBeNull()
})

test.each(["What's the weather?", "Read it again", "Make a list", "Calculate", `Calculate ${" ".repeat(100_000)}x`])(
  "[BT10] the scripted model answers %j without a small tool",
  (question) => {
    expect(planToolRequest(question, TOOLS as never)).toBeNull()
  },
)
