/**
 * responses.ts: reads the bodies of HTTP responses, for clients.
 *
 * Each parser takes the parsed JSON and returns the typed body, or null if a field has the wrong type. The parsers use
 * plain checks instead of schemas, because with valibot, the page's initial load would exceed its size budget. Pure.
 */

import type { FaultFields } from "../fault.ts"
import type {
  HistoryPage,
  ImportProgress,
  PageSettings,
  SessionPage,
  SessionSummary,
  SignResponse,
} from "./http-body.ts"
import { isJsonObject } from "../json.ts"
import { isMessageShape } from "./server-frame.ts"
import { createParser, hasShape, isBoolean, isListOf, isNumber, isOptional, isString } from "./shape-check.ts"

const isSession = hasShape<SessionSummary>({
  id: isString,
  title: isString,
  created: isNumber,
  active: isNumber,
  running: isBoolean,
  agent: isOptional(isString),
  pinned: isOptional(isBoolean),
  archived: isOptional(isBoolean),
  folder: isOptional(isString),
  unread: isOptional(isBoolean),
})

export const parseTokenResponse = createParser<{ readonly token: string }>({ token: isString })

/** `next` is absent if the server sends the whole list. */
export const parseSessionList = createParser<Pick<SessionPage, "sessions"> & Partial<SessionPage>>({
  sessions: isListOf(isSession),
  next: isOptional((value) => value === null || isString(value)),
})

export const parseCreatedSession = createParser<{ readonly id: string }>({ id: isString })

export const parseRenamedSession = createParser<{ readonly title: string }>({ title: isString })

export const parseHistoryPage = createParser<HistoryPage>({
  messages: isListOf(isMessageShape),
  has_more: isBoolean,
  cursor: isOptional(isString),
  next: isOptional(isString),
  temporary: isOptional(isBoolean),
  epoch: isString,
  seq: isNumber,
})

export const parseSignResponse = createParser<SignResponse>({
  signed: isListOf(hasShape({ url: isString, href: (value) => value === null || isString(value) })),
  expires: isNumber,
})

export const parsePageSettings = createParser<PageSettings>({
  media_hosts: isListOf(isString),
  embed_origins: isListOf(isString),
  titles: isOptional(isBoolean),
  follow_ups: isOptional(isBoolean),
  show_cost: isOptional(isBoolean),
  embed_hosts: isOptional(isListOf(isString)),
  erases_at: isOptional(isNumber),
  theme: isOptional(isJsonObject),
})

export type ImportCounts = Pick<ImportProgress, "state" | "records" | "folded" | "messages" | "kinds">

/** Returns whether a value is an object whose fields are all numbers. */
export function isCounts(value: unknown): boolean {
  return isJsonObject(value) && Object.values(value).every(isNumber)
}

export const parseImportProgress = createParser<ImportCounts>({
  state: isString,
  records: isNumber,
  folded: isNumber,
  messages: isOptional(isNumber),
  kinds: isOptional(isCounts),
})

/** The body of an error response. The field values aren't checked. */
export interface Refusal {
  readonly code: string | null
  readonly text: string | null
  readonly fields: FaultFields
}

/** Returns the code and text of a refused request. Both are null if a proxy sent the response. */
export function parseRefusal(value: unknown): Refusal {
  const { code, text, fields } = Object(value) as { readonly [K in keyof Refusal]?: unknown }
  return {
    code: typeof code === "string" ? code : null,
    text: typeof text === "string" ? text : null,
    fields: isJsonObject(fields) ? (fields as FaultFields) : {},
  }
}
