/**
 * model-registry.ts: the model that a deployment names. One case per model; the list is closed.
 */

import { fail, type Result, succeed } from "../../shared/fault.ts"
import { type TimeLimitsEnv, readTimeLimits } from "../platform/time-limits.ts"
import type { Model } from "./model-adapter.ts"
import { parseFileKinds } from "./model-files.ts"
import { createOpenAiModel } from "./openai-adapter.ts"
import { createReplayModel } from "./scripted/replay-model.ts"
import { withRetries } from "./model-retry.ts"
import { type ScriptedEnv, createScriptedModel } from "./scripted/scripted-model.ts"

export interface ModelEnv extends ScriptedEnv, TimeLimitsEnv {
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
export function createModel(env: ModelEnv, log: Log = () => {}, name: string | null = null): Result<Model, string> {
  const model = createModelWithoutRetries(name === null ? env : withModelName(env, name))
  const { retryMs, maxRetryAfterMs } = readTimeLimits(env)
  return model.ok ? succeed(withRetries(model.value, { retryMs, maxRetryAfterMs, random: Math.random, log })) : model
}

function createModelWithoutRetries(env: ModelEnv): Result<Model, string> {
  if (env.MODEL_SCRIPT !== undefined) return createReplayModel(env.MODEL_SCRIPT, Number(env.SCRIPTED_DELAY_MS) || 0)
  switch (env.MODEL ?? (env.MODEL_BASE_URL === undefined ? "scripted" : "openai")) {
    case "scripted":
      return succeed(createScriptedModel(env))
    case "openai":
      return createOpenAiFromEnv(env)
  }
  return fail(`MODEL is "${env.MODEL}"; it may be "scripted" or "openai"`)
}

function withModelName(env: ModelEnv, name: string): ModelEnv {
  return name === "scripted" ? { ...env, MODEL: "scripted" } : { ...env, MODEL: "openai", MODEL_NAME: name }
}

function createOpenAiFromEnv(env: ModelEnv): Result<Model, string> {
  const { MODEL_BASE_URL: baseUrl = "", MODEL_NAME: modelName = "", MODEL_API_KEY: apiKey } = env
  const url = URL.canParse(baseUrl) ? new URL(baseUrl) : null
  if (url === null || !/^https?:$/.test(url.protocol)) return fail("MODEL_BASE_URL is missing or not a web address")
  if (modelName === "") return fail("MODEL_NAME is missing")
  const fileKinds = parseFileKinds(env.MODEL_TAKES)
  if (!fileKinds.ok) return fileKinds
  const { firstByteMs, idleMs } = readTimeLimits(env)
  const config = { baseUrl, modelName, apiKey: apiKey === "" ? undefined : apiKey, fileKinds: fileKinds.value }
  return succeed(createOpenAiModel({ ...config, firstByteMs, idleMs }))
}
