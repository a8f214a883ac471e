/**
 * model-fallback.ts: calls the next model of a chain if a call fails before it has produced any output. Source: SPEC
 * TM6.
 *
 * A fault after the first output is final, so no output is ever repeated or mixed.
 */

import type { Log } from "../platform/log.ts"
import { type Model, type ModelEvent, type ModelRequest, readStatus } from "./model-adapter.ts"
import type { FileKind } from "./model-files.ts"

/** Faults that would also occur with another model. */
const FINAL: ReadonlySet<string> = new Set(["context_exceeded", "answer_too_long"])

/** Returns a model that represents a chain. It accepts the files that all models of the chain accept. */
export function withFallbacks(models: readonly Model[], log: Log): Model {
  const [first, ...others] = models
  if (first === undefined) throw new RangeError("an empty chain")
  if (others.length === 0) return first
  const fileKinds = new Set<FileKind>(
    [...first.fileKinds].filter((kind) => others.every((other) => other.fileKinds.has(kind))),
  )
  return {
    ...first,
    fileKinds,
    keepsState: models.some((model) => model.keepsState),
    stream: (request) => streamChain(models, request, log),
  }
}

async function* streamChain(models: readonly Model[], request: ModelRequest, log: Log): AsyncGenerator<ModelEvent> {
  for (const [at, model] of models.entries()) {
    const { name, provider } = model
    if (at > 0) yield { type: "model", name, provider }
    let failed = false
    let hasOutput = false
    for await (const event of model.stream(request)) {
      failed = event.type === "fault" && !hasOutput && at < models.length - 1 && !FINAL.has(event.fault)
      if (event.type === "fault" && failed) {
        const next = models[at + 1]?.name ?? null
        log("model_fallback", { fault: event.fault, status: readStatus(event.detail), from: name, to: next })
        break
      }
      hasOutput ||= event.type !== "usage" && event.type !== "retry"
      yield event
    }
    if (!failed) return
    request.signal.throwIfAborted()
  }
}
