/**
 * model-registry.ts: creates the model that a deployment selects with MODEL, MODEL_BASE_URL or MODEL_SCRIPT.
 */

import { fail, type Result, succeed } from "../../shared/fault.ts"
import type { PriceEntry } from "../../shared/usage/price-entry.ts"
import type { Env } from "../env.ts"
import type { Log } from "../platform/log.ts"
import { readTimeLimits } from "../platform/time-limits.ts"
import type { Model, ModelEvent, ModelRequest } from "./model-adapter.ts"
import { loadProviderModel } from "./provider-loader.ts"
import { findProviderName } from "./provider-name.ts"
import { ALL_FILE_KINDS, parseFileKinds } from "./model-files.ts"
import { withRetries } from "./model-retry.ts"

/** The variables that select and configure a model. They are described in `Env`. */
export type ModelEnv = Pick<
  Env,
  | "MODEL"
  | "MODEL_BASE_URL"
  | "MODEL_NAME"
  | "MODEL_API_KEY"
  | "MODEL_TAKES"
  | "MODEL_SCRIPT"
  | "SCRIPTED_DELAY_MS"
  | "TIME_SCALE"
  | "AI"
>

/**
 * Creates the selected model with its retries, or a fault for the log. MODEL_SCRIPT overrides all other variables. The
 * default is `openai` if MODEL_BASE_URL is set, else `scripted` (SPEC MO10).
 * `name` is an agent's own choice: `scripted`, or the name of a model served at MODEL_BASE_URL or by Workers AI. Null:
 * the deployment's model.
 */
export function createModel(env: ModelEnv, log: Log = () => {}, name: string | null = null): Result<Model, string> {
  const model = createModelWithoutRetries(name === null ? env : withModelName(env, name))
  const { retryMs, maxRetryAfterMs } = readTimeLimits(env)
  return model.ok ? succeed(withRetries(model.value, { retryMs, maxRetryAfterMs, random: Math.random, log })) : model
}

function createModelWithoutRetries(env: ModelEnv): Result<Model, string> {
  if (env.MODEL_SCRIPT !== undefined) return succeed(createReplayFromEnv(env, env.MODEL_SCRIPT))
  switch (env.MODEL ?? (env.MODEL_BASE_URL === undefined ? "scripted" : "openai")) {
    case "scripted":
      return succeed(createScriptedFromEnv(env))
    case "openai":
      return createOpenAiFromEnv(env)
    case "workers-ai":
      return createWorkersAiFromEnv(env)
  }
  return fail(`MODEL is "${env.MODEL}", but must be "scripted", "openai" or "workers-ai"`)
}

/** Returns the name under which calls to an agent's model are recorded. `name` is the same as for `createModel`. */
export function getModelName(env: ModelEnv, name: string | null): string {
  const model = createModelWithoutRetries(name === null ? env : withModelName(env, name))
  return model.ok ? model.value.name : ""
}

function withModelName(env: ModelEnv, name: string): ModelEnv {
  if (name === "scripted") return { ...env, MODEL: "scripted" }
  return { ...env, MODEL: env.MODEL === "workers-ai" ? env.MODEL : "openai", MODEL_NAME: name }
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
  const loadModel = () => loadProviderModel("openai-compatible", { ...config, firstByteMs, idleMs })
  const provider = findProviderName(url.hostname)
  return succeed(createLazyModel({ name: modelName, provider, fileKinds: config.fileKinds }, loadModel))
}

function createWorkersAiFromEnv(env: ModelEnv): Result<Model, string> {
  const { AI: ai, MODEL_NAME: modelName = "" } = env
  if (ai === undefined) return fail("MODEL is workers-ai, but the AI binding is missing")
  if (modelName === "") return fail("MODEL_NAME is missing")
  const fileKinds = parseFileKinds(env.MODEL_TAKES)
  if (!fileKinds.ok) return fileKinds
  const { firstByteMs, idleMs } = readTimeLimits(env)
  const loadModel = async (): Promise<Model> => {
    const { createWorkersAiModel } = await import("./providers/workers-ai.ts")
    return createWorkersAiModel(ai, { modelName, fileKinds: fileKinds.value, firstByteMs, idleMs })
  }
  return succeed(createLazyModel({ name: modelName, provider: "workers-ai", fileKinds: fileKinds.value }, loadModel))
}

function createReplayFromEnv({ SCRIPTED_DELAY_MS }: ModelEnv, script: string): Model {
  const loadModel = async (): Promise<Model> => {
    const { createReplayModel } = await import("./scripted/replay-model.ts")
    return createReplayModel(script, Number(SCRIPTED_DELAY_MS) || 0)
  }
  return createLazyModel({ name: "replay", provider: "scripted", fileKinds: ALL_FILE_KINDS }, loadModel)
}

/** Creates the scripted model, which only lists files and never reads them. */
function createScriptedFromEnv(env: ModelEnv): Model {
  const loadModel = async (): Promise<Model> => (await import("./scripted/scripted-model.ts")).createScriptedModel(env)
  return createLazyModel({ name: "scripted", provider: "scripted", fileKinds: ALL_FILE_KINDS }, loadModel)
}

/**
 * Loads the model's code and the built-in prices on the first call, because the models make up more than a quarter of
 * the Worker.
 */
export function createLazyModel(
  about: Pick<Model, "name" | "provider" | "fileKinds" | "keepsState">,
  loadModel: () => Promise<Model>,
): Model {
  let prices: readonly PriceEntry[] = []
  let loading: Promise<Model> | null = null
  const loadWithPrices = async (): Promise<Model> => {
    const [model, { BUILT_IN_PRICES }] = await Promise.all([
      loadModel(),
      import("../../shared/usage/built-in-prices.ts"),
    ])
    prices = BUILT_IN_PRICES
    return model
  }
  return {
    name: about.name,
    provider: about.provider,
    fileKinds: about.fileKinds,
    keepsState: about.keepsState ?? false,
    listBuiltInPrices: () => prices,
    async *stream(request: ModelRequest): AsyncGenerator<ModelEvent> {
      loading ??= loadWithPrices()
      yield* (await loading).stream(request)
    },
  }
}
