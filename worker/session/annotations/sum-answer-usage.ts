/** sum-answer-usage.ts: sums the model calls of one answer. Source: SPEC WR14. */

import { fail, type Result, succeed } from "../../../shared/fault.ts"
import type { AnswerUsage } from "../../../shared/protocol/writing/answer-usage.ts"
import { countCall, type PricedCall } from "../../../shared/usage/call-usage.ts"
import type { SessionStore } from "../../store/session-store.ts"

/** Returns the model calls of an answer, with their cost. Errors: `message_unknown` if there is no such answer. */
export function readAnswerUsage(store: SessionStore, id: string): Result<AnswerUsage> {
  const found = store.findById(id)
  if (found === null || found.pos === null || found.role !== "assistant") return fail({ reason: "message_unknown" })
  return succeed(sumCalls(store.readUsageAt(found.pos)))
}

function sumCalls(calls: readonly PricedCall[]): AnswerUsage {
  const counts = calls.map(countCall)
  const sum = (numbers: readonly number[]): number => numbers.reduce((total, number) => total + number, 0)
  const isPriced = calls.every(({ cost, estimatedCost }) => (cost ?? estimatedCost ?? null) !== null)
  return {
    calls: calls.length,
    input_tokens: sum(counts.map(({ input }) => input)),
    cached_tokens: sum(calls.map(({ cached }) => cached)),
    output_tokens: sum(counts.map(({ output }) => output)),
    reasoning_tokens: sum(calls.map(({ reasoning }) => reasoning)),
    models: [...new Set(calls.map(({ model }) => model))],
    estimated: calls.some(({ isReported }) => !isReported),
    cost_nano_usd: isPriced && calls.length > 0 ? sum(counts.map(({ cost }) => cost)) : null,
  }
}
