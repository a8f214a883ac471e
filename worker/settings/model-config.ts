/** model-config.ts: a tenant's own models: their schema, and the tenant object's methods for them. Pure. */

import * as v from "valibot"
import type { Result } from "../../shared/fault.ts"
import { MAX_URL_CHARS } from "../../shared/limits.ts"
import { EFFORTS } from "../../shared/model-effort.ts"
import { modelPriceSchema } from "../../shared/usage/price-change.ts"
import type { Actor } from "../platform/rpc/actor.ts"

/** Maximum number of models per tenant. SPEC TM1. */
export const MAX_TENANT_MODELS = 32

/** The APIs through which a model can be called. */
export const MODEL_PROVIDERS = ["openai-compatible", "openai", "anthropic", "google"] as const

export type ModelProvider = (typeof MODEL_PROVIDERS)[number]

/** The default URL of each API, used unless `base_url` is set. */
export const PROVIDER_URLS: Readonly<Record<ModelProvider, string | null>> = {
  "openai-compatible": null,
  openai: "https://api.openai.com/v1",
  anthropic: "https://api.anthropic.com/v1",
  google: "https://generativelanguage.googleapis.com/v1beta",
}

/** A model's name, which must not be `scripted`, the name of the built-in model. */
export const modelNameSchema = v.pipe(
  v.string(),
  v.regex(/^[a-z0-9][a-z0-9._-]{0,63}$/),
  v.check((name) => name !== "scripted"),
)

const lineSchema = v.pipe(v.string(), v.regex(/^[\x21-\x7e](?:[\x20-\x7e]{0,198}[\x21-\x7e])?$/))

/** Strict: a misspelt `key` must be an error, because calls would otherwise be sent without a key. */
export const modelSchema = v.strictObject({
  provider: v.picklist(MODEL_PROVIDERS),
  /** The provider's name for the model. */
  model: lineSchema,
  /** Absent: the stored key is kept if the URL does not change. Null: there is none. */
  key: v.optional(v.nullable(v.pipe(v.string(), v.regex(/^[\x21-\x7e]{1,8192}$/)))),
  /** The base URL, without the path of an API method, such as `/chat/completions`. Required with `openai-compatible`. */
  base_url: v.optional(v.pipe(v.string(), v.maxLength(MAX_URL_CHARS))),
  /** The kinds of files that the model accepts, besides text. */
  takes: v.optional(v.array(v.picklist(["image", "pdf", "audio", "video"])), []),
  /** Maximum number of input tokens per call. Absent: the deployment's limit. */
  context: v.optional(v.pipe(v.number(), v.integer(), v.minValue(2_000), v.maxValue(10_000_000))),
  effort: v.optional(v.picklist(EFFORTS)),
  /** Its prices from today on, in USD per million tokens. Absent: the prices are kept (`PUT /v1/prices`). */
  price: v.optional(modelPriceSchema),
})

export type ModelInput = v.InferOutput<typeof modelSchema>

/** A tenant's model, without its key. */
export interface TenantModel extends Omit<ModelInput, "key" | "price"> {
  readonly name: string
  readonly base_url: string
}

/** A model as the tenant object receives it, with its checked URL. */
export type CheckedModel = Omit<ModelInput, "price"> & Pick<TenantModel, "base_url">

/** The provider's refusal of the model's key. */
export interface KeyRefusal {
  /** The status of the provider's response: 401 or 403. */
  readonly status: number
  /** Milliseconds since 1970. */
  readonly at: number
}

/** A model as administrators see it. The key itself is never readable. */
export interface TenantModelView extends TenantModel {
  /** The last four characters of the key, so that administrators can recognise it; null if there is no key. */
  readonly key_end: string | null
  /** Null if the provider has not refused the key since it was set. */
  readonly refused: KeyRefusal | null
}

export interface ModelRpc {
  listModels(): Promise<TenantModelView[]>
  /** Adds or replaces a model. Errors: `models_full`, `tenant_erased`. */
  putModel(actor: Actor, name: string, model: CheckedModel): Promise<Result<TenantModelView>>
  /** Removes a model. Errors: `model_unknown`, `tenant_erased`. */
  removeModel(actor: Actor, name: string): Promise<Result<null>>
  /** Returns the key of a model; null if it has none, or if it can't be decrypted any more. */
  getModelKey(name: string): Promise<string | null>
  /**
   * Records, for the administrators, that a provider refused the key. Repeating the call within an hour has no effect.
   */
  noteKeyRefusal(name: string, status: number): Promise<void>
}
