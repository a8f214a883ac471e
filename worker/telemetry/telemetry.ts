/**
 * telemetry.ts: reports on the turns of a session: spans, the log line at a turn's end, and a data point.
 */

import { tracing } from "cloudflare:workers"
import type { Env } from "../env.ts"
import type { Log } from "../platform/log.ts"
import type { Message } from "../../shared/protocol/message.ts"
import { listCalls } from "../../shared/protocol/message.ts"
import { addCounts, type PricedCall, sumTokens } from "../../shared/usage/call-usage.ts"
import { writeTurnPoint } from "./data-points.ts"
import { nameReason } from "./genai-attributes.ts"
import { createLogSink, createPlatformSink } from "./span-sinks.ts"
import { createTrace, NO_SPAN, type TraceSpan } from "./spans.ts"
import { isSampled } from "./trace-id.ts"

export type TelemetryEnv = Pick<Env, "METRICS" | "POINTS" | "SPANS" | "SPAN_SAMPLING">

/** Default share of turns that have spans. Spans cost as much as log lines. */
const DEFAULT_SPAN_SAMPLING = 0.01

/** A finished turn: its message, and measurements that the message does not contain. */
export interface TurnEnd {
  readonly message: Message
  readonly agent: string
  /** The model that answered; null if it is unknown. */
  readonly model: { readonly provider: string; readonly name: string } | null
  /** All model calls of the turn. */
  readonly calls: readonly PricedCall[]
  readonly ms: number
  readonly firstDeltaMs: number | null
  readonly rows: { readonly read: number; readonly written: number }
  /** Drift in the model's text, counted by reason. */
  readonly drift: Readonly<Record<string, number>>
}

export interface Telemetry {
  readonly tenant: string
  /** The public id of the session. */
  readonly session: string
  /** Returns the root of a turn's spans. */
  startTrace(trace: string | undefined): TraceSpan
  /** Writes the line `turn_end` and the data point of a turn. */
  reportTurnEnd(end: TurnEnd): void
}

export interface TelemetryDeps {
  readonly env: TelemetryEnv
  readonly tenant: string
  readonly session: string
  /** Adds the tenant, the session and the trace of the running turn to each line. */
  readonly log: Log
  readonly now: () => number
}

export function createTelemetry({ env, tenant, session, log, now }: TelemetryDeps): Telemetry {
  const share = readShare(env.SPAN_SAMPLING)
  return {
    tenant,
    session,
    startTrace(trace) {
      if (trace === undefined || !isSampled(trace, share)) return NO_SPAN
      if (env.SPANS === "platform") return createTrace(createPlatformSink(tracing))
      return env.SPANS === "log" ? createTrace(createLogSink(log, trace, now)) : NO_SPAN
    },
    reportTurnEnd(end) {
      log("turn_end", turnEndToFields(end))
      const { message, agent, model, calls, ms, firstDeltaMs, rows } = end
      const { provider = "", name = "" } = model ?? {}
      const { status } = message
      const { input, output } = sumTokens(calls)
      const names = { tenant, agent, provider, model: name, status, reason: nameReason(message.reason) }
      const usage = { inputTokens: input, outputTokens: output, cost: sumCost(calls) }
      writeTurnPoint(env, { ...names, ...usage, ms, firstDeltaMs, rowsWritten: rows.written })
    },
  }
}

/** Parses a share. A value that is not a number between 0 and 1 is ignored. */
function readShare(text: string | undefined): number {
  const share = text === undefined || text.trim() === "" ? Number.NaN : Number(text)
  return share >= 0 && share <= 1 ? share : DEFAULT_SPAN_SAMPLING
}

/** Returns the cost of all calls; null if the cost of any call is unknown. */
function sumCost(calls: readonly PricedCall[]): number | null {
  return calls.reduce<number | null>(
    (sum, { cost }) => (sum === null || cost === null ? null : addCounts(sum, cost)),
    0,
  )
}

function turnEndToFields(end: TurnEnd): Record<string, unknown> {
  const { message, agent, model, calls, ms, firstDeltaMs, rows, drift } = end
  const { input, cached, cacheWritten, output, reasoning } = sumTokens(calls)
  const { id, exchange_id, trace = null, mode, status, reason, step, version } = message
  return {
    exchange: exchange_id,
    message: id,
    trace,
    agent,
    provider: model?.provider ?? null,
    model: model?.name ?? null,
    mode,
    status,
    reason: nameReason(reason),
    ms,
    first_delta_ms: firstDeltaMs,
    steps: step,
    tool_calls: listCalls(message).length,
    version,
    model_calls: calls.length,
    input_tokens: input,
    cached_tokens: cached,
    cache_written_tokens: cacheWritten,
    output_tokens: output,
    reasoning_tokens: reasoning,
    cost_nano_usd: sumCost(calls),
    rows_written: rows.written,
    rows_read: rows.read,
    drift,
  }
}
