/**
 * model-retry.ts: asks a model again that refused for the moment, before it has said anything.
 *
 * model → RETRY → the same events, without the refusals that passed
 * What was said is never said twice: once a first event has come, a fault is final.
 */

import { MODEL_RETRIES } from "../../shared/limits.ts"
import type { Model, ModelEvent, ModelRequest } from "./model-adapter.ts"
import { pause } from "../platform/pause.ts"

export interface RetryOptions {
  /** Wait before the first retry, in milliseconds; doubled for the next. */
  readonly retryMs: number
  /** Longest wait that a model may ask for, in milliseconds. */
  readonly maxRetryAfterMs: number
  readonly random: () => number
  readonly log: (event: string, detail: Record<string, unknown>) => void
}

/**
 * Shapes  Model → Model.
 * Errors  the last refusal; at once where it asks for a longer wait than a person would wait.
 * Source  SPEC MO12.
 */
export function withRetries(model: Model, options: RetryOptions): Model {
  return { ...model, stream: (request) => streamWithRetries(model, request, options) }
}

async function* streamWithRetries(
  model: Model,
  request: ModelRequest,
  options: RetryOptions,
): AsyncGenerator<ModelEvent> {
  for (let failures = 0; ; failures++) {
    let waitMs: number | null = null
    let isFirst = true
    for await (const event of model.stream(request)) {
      waitMs =
        isFirst && event.type === "fault" && failures < MODEL_RETRIES
          ? computeRetryDelayMs(event, failures, options)
          : null
      isFirst = false
      if (waitMs === null) yield event
      else
        options.log("model_retry", { fault: event.type === "fault" ? event.detail : "", wait_ms: Math.round(waitMs) })
    }
    if (waitMs === null) return
    await pause(waitMs, request.signal)
  }
}

/** How long to wait before the next try, in milliseconds; null: this fault is final. */
function computeRetryDelayMs(
  { retry }: Extract<ModelEvent, { type: "fault" }>,
  failures: number,
  { retryMs, maxRetryAfterMs, random }: RetryOptions,
): number | null {
  if (retry === undefined) return null
  if (retry.afterMs !== null) return retry.afterMs <= maxRetryAfterMs ? retry.afterMs : null
  return retryMs * 2 ** failures * (0.5 + random() / 2)
}
