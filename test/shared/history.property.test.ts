/**
 * history.property.test.ts: tests that generated conversations in the formats of all systems are imported without loss
 * or duplication.
 */

import fc from "fast-check"
import { describe, expect, test } from "vitest"
import { clean } from "../../shared/sanitize/clean.ts"
import type { Message } from "../../shared/protocol/message.ts"
import { importValues } from "../support/history-fixtures.ts"
import { SHAPES, type Shape, type Talk, talk } from "../support/history-shapes.ts"
import { assertProperty, RUNS } from "../support/seeded.ts"

/**
 * Returns what a conversation must contain after it is imported from a format: the questions, and each answer's text,
 * thinking and calls.
 */
function expectTalk({ turns }: Talk, { hasThinking, hasErrors }: Shape): unknown[] {
  return turns.map(({ question, steps }) => ({
    question,
    texts: steps.map(({ text }) => clean(text)).filter((text) => text !== ""),
    thinking: hasThinking ? steps.map(({ thinking }) => clean(thinking)).filter((text) => text !== "") : [],
    calls: steps.flatMap(({ calls }) =>
      calls.map(({ name, args, result, isError }) => [name, args, result, hasErrors && isError ? "failed" : "ok"]),
    ),
  }))
}

function readTalk(messages: readonly Message[]): unknown[] {
  const turns = Map.groupBy(messages, (message) => message.exchange_id)
  return [...turns.values()].map(([question, ...answers]) => {
    const parts = answers.flatMap((answer) => answer.parts)
    return {
      question: question?.words,
      texts: parts.flatMap((part) => (part.type === "text" ? [part.text] : [])),
      thinking: parts.flatMap((part) => (part.type === "thinking" ? [part.text] : [])),
      calls: parts.flatMap((part) => {
        if (part.type !== "tool_call") return []
        const { name, args, result, status } = part.call
        return [[name, JSON.parse(args), result, status]]
      }),
    }
  })
}

describe("[IH1] [IH2] [IH3] [IH11] generated conversations", () => {
  test.each(SHAPES.map((shape) => [shape.name, shape] as const))("%s", (_name, shape) => {
    const property = fc.property(talk, fc.double({ min: 0, max: 1, noNaN: true }), (one, cut) => {
      const values = shape.values(one)
      const imported = importValues(values)
      expect(imported.refused).toBe(0)
      expect(imported.lost).toEqual({})
      expect(readTalk(imported.messages)).toEqual(expectTalk(one, shape))
      // Each turn must have one answer, with at most one step per model call.
      const answers = imported.messages.filter(({ role }) => role === "assistant")
      expect(answers.length).toBeLessThanOrEqual(one.turns.length)
      if (!shape.isLines || one.reusesIds) return
      const cutAt = 1 + Math.floor(cut * (values.length - 1))
      expect(readTalk(importValues(values, cutAt).messages)).toEqual(expectTalk(one, shape))
    })
    assertProperty(property, Math.ceil(RUNS / SHAPES.length))
  })
})
