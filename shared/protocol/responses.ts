/**
 * responses.ts: reads the bodies of HTTP responses on the client's side.
 *
 * Each function takes the parsed JSON and returns the typed body, or null if it has another shape. Unknown fields are
 * dropped, so that a newer server can add some. A message is checked only for the fields that the page needs to place it:
 * a schema of all segments would double the size of the page's first view. Pure.
 */

import * as v from "valibot"
import type { PageSettings, SignResponse, HistoryPage, ImportProgress, SessionSummary } from "./http-body.ts"
import { type Asset, assetSchema } from "./event.ts"
import type { WireMessage } from "./server-frame.ts"

type Parser<T> = (value: unknown) => T | null

function createParser<T>(schema: v.GenericSchema<unknown, T>): Parser<T> {
  return (value) => {
    const parsed = v.safeParse(schema, value)
    return parsed.success ? parsed.output : null
  }
}

const sessionSchema = v.object({
  id: v.string(),
  title: v.string(),
  created: v.number(),
  active: v.number(),
  running: v.boolean(),
  agent: v.exactOptional(v.string()),
})

const messageSchema = v.custom<WireMessage>((value) => {
  const { id, role, status, exchange_id, timestamp, segments } = Object(value)
  const hasTexts = [id, role, status, exchange_id, timestamp].every((field) => typeof field === "string")
  return hasTexts && Array.isArray(segments) && segments.every((segment) => typeof Object(segment).type === "string")
})

const badLineSchema = v.object({ part: v.exactOptional(v.number()), line: v.number(), text: v.string() })

/** A line of an import that was skipped. `line` counts within `part`, if the file was sent in parts. */
export type SkippedLine = Readonly<v.InferOutput<typeof badLineSchema>>

/** What the page needs of the response to an upload. A response to one of several parts may omit fields. */
export interface ImportResponse {
  /** Absent if the server has already finished. */
  readonly state?: string
  readonly records: number
  readonly skipped: number
  readonly bad: readonly SkippedLine[]
}

export const parseTokenResponse: Parser<{ readonly token: string }> = createParser(v.object({ token: v.string() }))

export const parseSessionList: Parser<{ readonly sessions: readonly SessionSummary[] }> = createParser(
  v.object({ sessions: v.array(sessionSchema) }),
)

export const parseCreatedSession: Parser<{ readonly id: string }> = createParser(v.object({ id: v.string() }))

export const parseRenamedSession: Parser<{ readonly title: string }> = createParser(v.object({ title: v.string() }))

export const parseHistoryPage: Parser<HistoryPage> = createParser(
  v.object({
    messages: v.array(messageSchema),
    has_more: v.boolean(),
    cursor: v.exactOptional(v.string()),
    epoch: v.string(),
    seq: v.number(),
  }),
)

export const parseSignResponse: Parser<SignResponse> = createParser(
  v.object({
    signed: v.array(v.object({ url: v.string(), href: v.nullable(v.string()) })),
    expires: v.number(),
  }),
)

export const parsePageSettings: Parser<PageSettings> = createParser(
  v.object({ media_hosts: v.array(v.string()), embed_origins: v.array(v.string()) }),
)

export const parseImportProgress: Parser<Pick<ImportProgress, "state" | "records" | "folded">> = createParser(
  v.object({
    state: v.picklist(["none", "staging", "folding", "done", "failed"]),
    records: v.number(),
    folded: v.number(),
  }),
)

export const parseImportResponse: Parser<ImportResponse> = createParser(
  v.object({
    state: v.exactOptional(v.string()),
    records: v.optional(v.number(), 0),
    skipped: v.optional(v.number(), 0),
    bad: v.optional(v.array(badLineSchema), []),
  }),
)

export const parseAsset: Parser<Asset> = createParser(assetSchema)

/** The code and text of a refused request; both optional, because a proxy may have sent the response. */
export function parseRefusal(value: unknown): { readonly code: string | null; readonly text: string | null } {
  const { code, text } = Object(value) as { readonly code?: unknown; readonly text?: unknown }
  return { code: typeof code === "string" ? code : null, text: typeof text === "string" ? text : null }
}
