/**
 * model-registry.ts: creates the model that a deployment selects with MODEL, MODEL_BASE_URL or MODEL_SCRIPT.
 */

import { fail, type Result, succeed } from "../../shared/fault.ts"
import type { Log } from "../platform/log.ts"
import { readTimeLimits, type TimeLimitsEnv } from "../platform/time-limits.ts"
import type { Model, ModelEvent, ModelRequest } from "./model-adapter.ts"
import { parseFileKinds } from "./model-files.ts"
import { withRetries } from "./model-retry.ts"
import type { OpenAiConfig } from "./openai-adapter.ts"
import { createReplayModel } from "./scripted/replay-model.ts"
import { createScriptedModel, type ScriptedEnv } from "./scripted/scripted-model.ts"

export interface ModelEnv extends ScriptedEnv, TimeLimitsEnv {
  /** `scripted` or `openai`. Default: `openai` if MODEL_BASE_URL is set, else `scripted`. */
  readonly MODEL?: string
  readonly MODEL_BASE_URL?: string
  readonly MODEL_NAME?: string
  readonly MODEL_API_KEY?: string
  /** Kinds of files that the model accepts in addition to text: image, pdf, audio, video. Default: `image`. */
  readonly MODEL_TAKES?: string
  /** For tests: a script as in replay-model.ts. Overrides all other variables. */
  readonly MODEL_SCRIPT?: string
}

/**
 * The selected model with its retries, or a fault for the log.
 * `name` is an agent's own choice: `scripted`, or the name of a model at MODEL_BASE_URL. Null: the deployment's model.
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
  return fail(`MODEL is "${env.MODEL}", but must be "scripted" or "openai"`)
}

function withModelName(env: ModelEnv, name: string): ModelEnv {
  return name === "scripted" ? { ...env, MODEL: "scripted" } : { ...env, MODEL: "openai", MODEL_NAME: name }
}

function createOpenAiFromEnv(env: ModelEnv): Result<Model, string> {
  const { MODEL_BASE_URL: baseUrl = "", MODEL_NAME: modelName = "", MODEL_API_KEY: apiKey } = env
  const url = URL.canParse(baseUrl) ? new URL(baseUrl) : null
  if (url === null || !/^https?:$/.test(url.protocol)) return fail("MODEL_BASE_URL is missing or not an http(s) URL")
  if (modelName === "") return fail("MODEL_NAME is missing")
  const fileKinds = parseFileKinds(env.MODEL_TAKES)
  if (!fileKinds.ok) return fileKinds
  const { firstByteMs, idleMs } = readTimeLimits(env)
  const config = { baseUrl, modelName, apiKey: apiKey === "" ? undefined : apiKey, fileKinds: fileKinds.value }
  return succeed(createLazyOpenAiModel({ ...config, firstByteMs, idleMs }))
}

/** Loads the adapter and its provider package with the first call: it is a quarter of the Worker's code. */
function createLazyOpenAiModel(config: OpenAiConfig): Model {
  let loading: Promise<Model> | null = null
  const loadModel = async (): Promise<Model> => (await import("./openai-adapter.ts")).createOpenAiModel(config)
  return {
    name: config.modelName,
    fileKinds: config.fileKinds,
    async *stream(request: ModelRequest): AsyncGenerator<ModelEvent> {
      loading ??= loadModel()
      yield* (await loading).stream(request)
    },
  }
}
