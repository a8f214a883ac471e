/** background-call.ts: calls the session's model outside of turns, for titles and suggested questions. */

import { type Model, type ModelRequest, readStatus } from "../../model/model-adapter.ts"
import { createTokenEstimate } from "../../model/token-estimate.ts"
import { iterateUntilAborted } from "../../platform/abort.ts"
import { startTimeout } from "../../platform/timeout.ts"
import { TurnUsage } from "../../usage/turn-usage.ts"
import type { LiveSession } from "../live-session.ts"

/** Longer output is cut off. */
const MAX_OUTPUT_CHARS = 1_000

/** The HTTP statuses that endpoints return if they refuse a request with a schema. */
const REFUSALS: ReadonlySet<number | null> = new Set([400, 404, 415, 422, 501])

export type BackgroundRequest = Omit<ModelRequest, "signal">

/**
 * Returns the model's output; empty if the call failed or took longer than `limitMs`. A model that refuses the
 * request's schema is called again without the schema.
 */
export async function askInBackground(
  session: LiveSession,
  model: Model,
  request: BackgroundRequest,
  limitMs: number,
): Promise<string> {
  // A timer that isn't cleared would keep the object in memory.
  const timeout = startTimeout(new AbortController().signal, limitMs)
  const { signal } = timeout
  try {
    const output = await callModel(session, model, { ...request, signal })
    if (output.text !== null || !REFUSALS.has(output.status)) return output.text ?? ""
    const { schema: _, ...plain } = request
    return (await callModel(session, model, { ...plain, signal })).text ?? ""
  } finally {
    timeout.clear()
  }
}

/** `text` is null if the call failed. `status`: the status of the response, if the request was refused. */
interface Output {
  readonly text: string | null
  readonly status: number | null
}

/** Calls the model. The call is metered like the calls of a turn. */
async function callModel(session: LiveSession, model: Model, request: ModelRequest): Promise<Output> {
  const { host, store } = session
  const usage = new TurnUsage(host.usageRecorder, host.now)
  usage.beginCall(model, createTokenEstimate(request))
  let text = ""
  try {
    for await (const event of iterateUntilAborted(model.stream(request), request.signal)) {
      usage.observe(event)
      if (event.type === "text_delta") text += event.delta
      if (event.type === "fault") return { text: null, status: readStatus(event.detail) }
      if (event.type === "finish" || text.length > MAX_OUTPUT_CHARS) break
    }
  } finally {
    usage.endCall()
    store.usage.addTurn(usage.calls(), session.agentName(), host.now())
    await session.directorySync.syncRunningState()
  }
  return { text: request.signal.aborted ? null : text, status: null }
}
