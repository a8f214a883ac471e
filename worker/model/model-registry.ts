/**
 * model-registry.ts: the model that a deployment names. One case per model; the list is closed.
 */

import { fail, type Result, succeed } from "../../shared/fault.ts"
import { type TimesEnv, timesFor } from "../platform/time-limits.ts"
import type { Model } from "./model-adapter.ts"
import { takesIn } from "./model-files.ts"
import { openAiModel } from "./openai-adapter.ts"
import { replayModel } from "./scripted/replay-model.ts"
import { withRetries } from "./model-retry.ts"
import { type ScriptedEnv, scriptedModel } from "./scripted/scripted-model.ts"

export interface ModelEnv extends ScriptedEnv, TimesEnv {
  /** `scripted` or `openai`; where it is not set, `openai` if there is a MODEL_BASE_URL. */
  readonly MODEL?: string
  readonly MODEL_BASE_URL?: string
  readonly MODEL_NAME?: string
  readonly MODEL_API_KEY?: string
  /** Files that the model of MODEL_BASE_URL reads beside text: image, pdf, audio, video; `image` where it is not set. */
  readonly MODEL_TAKES?: string
  /** For tests: see replay.ts. Goes before all others. */
  readonly MODEL_SCRIPT?: string
}

type Log = (event: string, detail: Record<string, unknown>) => void

/**
 * The model to ask, with its retries; or (for the log) why there is none. `name` is that of an agent's own model:
 * `scripted`, or one that the deployment's provider knows.
 */
export function modelFor(env: ModelEnv, log: Log = () => {}, name: string | null = null): Result<Model, string> {
  const model = bareModelFor(name === null ? env : named(env, name))
  const { retryMs, maxRetryAfterMs } = timesFor(env)
  return model.ok ? succeed(withRetries(model.value, { retryMs, maxRetryAfterMs, random: Math.random, log })) : model
}

function bareModelFor(env: ModelEnv): Result<Model, string> {
  if (env.MODEL_SCRIPT !== undefined) return replayModel(env.MODEL_SCRIPT, Number(env.SCRIPTED_DELAY_MS) || 0)
  switch (env.MODEL ?? (env.MODEL_BASE_URL === undefined ? "scripted" : "openai")) {
    case "scripted":
      return succeed(scriptedModel(env))
    case "openai":
      return openAiFor(env)
  }
  return fail(`MODEL is "${env.MODEL}"; it may be "scripted" or "openai"`)
}

function named(env: ModelEnv, name: string): ModelEnv {
  return name === "scripted" ? { ...env, MODEL: "scripted" } : { ...env, MODEL: "openai", MODEL_NAME: name }
}

function openAiFor(env: ModelEnv): Result<Model, string> {
  const { MODEL_BASE_URL: baseUrl = "", MODEL_NAME: modelName = "", MODEL_API_KEY: apiKey } = env
  const url = URL.canParse(baseUrl) ? new URL(baseUrl) : null
  if (url === null || !/^https?:$/.test(url.protocol)) return fail("MODEL_BASE_URL is missing or not a web address")
  if (modelName === "") return fail("MODEL_NAME is missing")
  const takes = takesIn(env.MODEL_TAKES)
  if (!takes.ok) return takes
  const { firstByteMs, idleMs } = timesFor(env)
  const config = { baseUrl, modelName, apiKey: apiKey === "" ? undefined : apiKey, takes: takes.value }
  return succeed(openAiModel({ ...config, firstByteMs, idleMs }))
}
