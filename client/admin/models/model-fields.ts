/** model-fields.ts: a model as the server describes it, and the fields of its form. Pure. */

import { EFFORTS, type Effort } from "../../../shared/model-effort.ts"
import {
  createParser,
  hasShape,
  isListOf,
  isNumber,
  isOptional,
  isString,
} from "../../../shared/protocol/shape-check.ts"
import { RequestError } from "../../net/http-request.ts"
import { modelsText } from "../../words/admin/models-text.ts"
import { isNullOr } from "../admin-responses.ts"

export const MODELS_PATH = "/v1/models"

export type Provider = keyof typeof modelsText.providers

export const FILE_KINDS = ["image", "pdf", "audio", "video"] as const
export type FileKind = (typeof FILE_KINDS)[number]

export interface Model {
  readonly name: string
  readonly provider: Provider
  readonly model: string
  readonly base_url: string
  readonly takes: readonly FileKind[]
  readonly context?: number
  readonly effort?: Effort
  /** The last characters of the key; null if there is none. */
  readonly key_end: string | null
  /** Null if the provider has not refused the key since the key was set. */
  readonly refused: { readonly status: number; readonly at: number } | null
}

export const parseModelList = createParser<{ readonly models: readonly Model[] }>({
  models: isListOf(
    hasShape<Model>({
      name: isString,
      provider: isString,
      model: isString,
      base_url: isString,
      takes: isListOf(isString),
      context: isOptional(isNumber),
      effort: isOptional(isString),
      key_end: isNullOr(isString),
      refused: isNullOr(hasShape<NonNullable<Model["refused"]>>({ status: isNumber, at: isNumber })),
    }),
  ),
})

/** The entered values. Empty strings aren't sent, and neither is `name`, which is in the URL. */
export interface ModelEntry {
  readonly name: string
  readonly provider: Provider
  readonly model: string
  readonly base_url: string
  readonly key: string
  readonly takes: readonly FileKind[]
  readonly context: string
  readonly effort: "" | Effort
}

export function modelToEntry(model: Model | null): ModelEntry {
  return {
    name: model?.name ?? "",
    provider: model?.provider ?? "openai-compatible",
    model: model?.model ?? "",
    base_url: model?.base_url ?? "",
    key: "",
    takes: model?.takes ?? [],
    context: model?.context === undefined ? "" : String(model.context),
    effort: model?.effort ?? "",
  }
}

/**
 * Converts the fields to a request body. Throws RequestError, with a message for the user, if the context size isn't a
 * number of tokens.
 */
export function entryToModel({ name: _name, context, takes, ...entry }: ModelEntry): object {
  const texts = Object.entries(entry).map(([field, value]) => [field, value.trim()] as const)
  const tokens = context.replace(/[\s,]/g, "")
  if (tokens !== "" && !/^\d{4,8}$/.test(tokens)) throw new RequestError(400, modelsText.contextInvalid)
  return {
    ...Object.fromEntries(texts.filter(([, value]) => value !== "")),
    takes,
    ...(tokens === "" ? {} : { context: Number(tokens) }),
  }
}

export const EFFORT_OPTIONS = {
  "": modelsText.defaultEffort,
  ...Object.fromEntries(EFFORTS.map((effort) => [effort, effort])),
} as Readonly<Record<"" | Effort, string>>
