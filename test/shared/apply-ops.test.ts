/** apply-ops.test.ts: tests the effect of each op, and ops that are refused. */
import { describe, expect, test } from "vitest"
import { apply } from "../../shared/protocol/apply-ops.ts"
import type { Op, Segment } from "../../shared/protocol/segment.ts"

const TEXT: Segment = { type: "text", content: "ab" }
const TOOL: Segment = { type: "tool", call_id: "c", name: "t", args: "{}", status: "running" }

describe("apply", () => {
  test("[WS6] each op has its effect", () => {
    const ops: Op[] = [
      { op: "open", at: 0, segment: TEXT },
      { op: "text", at: 0, offset: 2, text: "c" },
      { op: "open", at: 1, segment: TOOL },
      { op: "text", at: 1, offset: 0, text: "out" },
      { op: "set", at: 1, fields: { status: "ok", result: "{}" } },
      { op: "open", at: 2, segment: { type: "rich", tag: "t_1", payload: {}, synthesis: "" } },
      { op: "text", at: 2, offset: 0, text: "syn" },
    ]
    expect(apply([], ops)).toEqual([
      { type: "text", content: "abc" },
      { ...TOOL, status: "ok", result: "{}", output: "out" },
      { type: "rich", tag: "t_1", payload: {}, synthesis: "syn" },
    ])
    expect(apply(apply([], ops), [{ op: "cut", to: 1 }])).toHaveLength(1)
  })

  test("[WS6] unchanged segments keep their identity, and the input list isn't modified", () => {
    const before = [TEXT, TOOL]
    const after = apply(before, [{ op: "set", at: 1, fields: { status: "ok" } }])
    expect(after[0]).toBe(TEXT)
    expect(before).toEqual([TEXT, TOOL])
  })

  test.each<[string, Op]>([
    ["a wrong offset", { op: "text", at: 0, offset: 1, text: "x" }],
    ["a missing segment", { op: "text", at: 5, offset: 0, text: "x" }],
    ["an open in the middle", { op: "open", at: 0, segment: TEXT }],
    ["an open past the end", { op: "open", at: 2, segment: TEXT }],
    ["a set on a missing segment", { op: "set", at: 3, fields: { status: "ok" } }],
    ["a cut past the end", { op: "cut", to: 9 }],
  ])("[WS6] refuses %s", (_what, op) => {
    expect(() => apply([TEXT], [op])).toThrow(RangeError)
  })
})
