/**
 * model/registry.ts: the model that a deployment names. One case per model; the list is closed.
 */

import { fail, type Result, succeed } from "../../shared/fault.ts"
import type { Model } from "./adapter.ts"
import { replayModel } from "./replay.ts"
import { type ScriptedEnv, scriptedModel } from "./scripted.ts"

export interface ModelEnv extends ScriptedEnv {
  /** `scripted` or `openai`; where it is not set, `openai` if there is a MODEL_BASE_URL. */
  readonly MODEL?: string
  readonly MODEL_SCRIPT?: string
}

/** The model to ask, or (for the log) why there is none. */
export function modelFor(env: ModelEnv): Result<Model, string> {
  if (env.MODEL_SCRIPT !== undefined) return replayModel(env.MODEL_SCRIPT, Number(env.SCRIPTED_DELAY_MS) || 0)
  switch (env.MODEL ?? "scripted") {
    case "scripted":
      return succeed(scriptedModel(env))
  }
  return fail(`MODEL is "${env.MODEL}"; it may be "scripted" or "openai"`)
}
