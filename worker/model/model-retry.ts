/**
 * model-retry.ts: retries a model call that failed temporarily before it produced any output.
 *
 * A fault after any event other than the usage is final, so no output is ever repeated.
 */

import { type Backoff, backoffDelayMs } from "../../shared/backoff.ts"
import { MODEL_RETRIES } from "../../shared/limits.ts"
import type { Log } from "../platform/log.ts"
import { pause } from "../platform/pause.ts"
import { type Model, type ModelEvent, type ModelRequest, readStatus } from "./model-adapter.ts"

export interface RetryOptions {
  /** Delay before the first retry, in milliseconds. It doubles with each further retry. */
  readonly retryMs: number
  /** Maximum delay that a provider may request, in milliseconds. */
  readonly maxRetryAfterMs: number
  readonly random: () => number
  readonly log: Log
}

/** Returns a model that retries up to MODEL_RETRIES times, unless the requested delay is too long (SPEC MO12). */
export function withRetries(model: Model, options: RetryOptions): Model {
  return { ...model, stream: (request) => streamWithRetries(model, request, options) }
}

async function* streamWithRetries(
  model: Model,
  request: ModelRequest,
  options: RetryOptions,
): AsyncGenerator<ModelEvent> {
  for (let retries = 0; ; retries++) {
    let delayMs: number | null = null
    let isFirst = true
    for await (const event of model.stream(request)) {
      const mayRetry = isFirst && retries < MODEL_RETRIES
      delayMs = mayRetry && event.type === "fault" ? computeRetryDelayMs(event, retries, options) : null
      // A usage event is not output.
      isFirst &&= event.type === "usage"
      if (delayMs === null) yield event
      else options.log("model_retry", { ...describeFault(event), wait_ms: Math.round(delayMs) })
    }
    if (delayMs === null) return
    yield { type: "retry" }
    await pause(delayMs, request.signal)
  }
}

function describeFault(event: ModelEvent): { readonly fault?: string; readonly status?: number | null } {
  return event.type === "fault" ? { fault: event.fault, status: readStatus(event.detail) } : {}
}

/** Returns the delay before the next attempt, in milliseconds; null if the fault is final. */
function computeRetryDelayMs(
  { retry }: Extract<ModelEvent, { type: "fault" }>,
  retries: number,
  { retryMs, maxRetryAfterMs, random }: RetryOptions,
): number | null {
  if (retry === undefined) return null
  if (retry.afterMs !== null) return retry.afterMs <= maxRetryAfterMs ? retry.afterMs : null
  const backoff: Backoff = { firstMs: retryMs, maxMs: Number.POSITIVE_INFINITY }
  return backoffDelayMs(retries + 1, backoff, random())
}
