/** webhook-fields.ts: a webhook tool as the server describes it, and the fields of its form. Pure. */

import { isJsonObject, type Json, parseJson } from "../../../shared/json.ts"
import { checkSchema } from "../../../shared/json-schema/check-schema.ts"
import {
  createParser,
  hasShape,
  isBoolean,
  isListOf,
  isNumber,
  isOptional,
  isString,
} from "../../../shared/protocol/shape-check.ts"
import { cardsText } from "../../words/admin/cards-text.ts"
import type { toolsText } from "../../words/admin/tools-text.ts"
import { isNullOr } from "../admin-responses.ts"
import { formatJson } from "../cards/card-draft.ts"
import { findLine, findRange, findSyntaxError, type TextProblem } from "../cards/json-range.ts"

export const TOOLS_PATH = "/v1/tools"

export type Effects = keyof typeof toolsText.effect
export type ApprovalChoice = keyof typeof toolsText.approvals

export interface WebhookTool {
  readonly name: string
  readonly description: string
  readonly url: string
  readonly schema: { readonly [keyword: string]: unknown }
  readonly effects: Effects
  readonly approval: "always" | "never"
  readonly has_secret: boolean
  /** When the previous secret stops being valid; null if there is none. */
  readonly old_secret_until: number | null
  /** Present only in the response to the request that created the secret. */
  readonly secret?: string
}

const TOOL = {
  name: isString,
  description: isString,
  url: isString,
  schema: isJsonObject,
  effects: isString,
  approval: isString,
  has_secret: isBoolean,
  old_secret_until: isNullOr(isNumber),
  secret: isOptional(isString),
}

export const parseTool = createParser<WebhookTool>(TOOL)

export const parseToolList = createParser<{ readonly tools: readonly WebhookTool[] }>({
  tools: isListOf(hasShape<WebhookTool>(TOOL)),
})

export interface ToolEntry {
  readonly name: string
  readonly description: string
  readonly url: string
  /** JSON text. */
  readonly schema: string
  readonly effects: Effects
  readonly approval: ApprovalChoice
}

const NEW_SCHEMA = { type: "object", properties: { id: { type: "string" } }, required: ["id"] }

export function toolToEntry(tool: WebhookTool | null): ToolEntry {
  return {
    name: tool?.name ?? "",
    description: tool?.description ?? "",
    url: tool?.url ?? "",
    schema: formatJson(tool?.schema ?? NEW_SCHEMA),
    effects: tool?.effects ?? "read",
    approval: tool?.approval ?? "default",
  }
}

export function entryToTool({ description, url, schema, effects, approval }: ToolEntry): object {
  const body = { description: description.trim(), url: url.trim(), schema: parseJson(schema) ?? null, effects }
  return approval === "default" ? body : { ...body, approval }
}

/** Returns the first problem in the schema, with its position; null if there is none. */
export function findSchemaProblem(text: string): TextProblem | null {
  const schema = parseJson(text)
  if (schema === undefined) {
    const start = findSyntaxError(text) ?? 0
    return { start, end: text.length, line: findLine(text, start), pointer: "", problem: cardsText.notJson }
  }
  const flaw = checkSchema(schema as Json, "")
  if (flaw === null) return null
  const place = findRange(text, flaw.pointer)
  return { ...place, line: findLine(text, place.start), pointer: flaw.pointer, problem: flaw.problem }
}
