/** search-api.ts: the HTTP requests for searching, and the parsers for their responses. Source: SPEC FT1, FT8. */

import * as v from "valibot"
import type { MessageHitPage, SearchPage } from "../../shared/protocol/http-body.ts"
import { type Api, sessionPath } from "../net/api.ts"
import { parseBody } from "../net/http-request.ts"
import { createSchemaParser } from "../net/schema-parser.ts"

/** Number of hits per page in the palette. */
const PALETTE_HITS = 20
/** Number of hits per page in the search within a conversation. */
const CONVERSATION_HITS = 50

const snippetSchema = v.array(v.object({ text: v.string(), hit: v.boolean() }))
const nextSchema = v.nullable(v.string())
const hitSchema = v.object({
  session: v.string(),
  title: v.string(),
  message: v.nullable(v.string()),
  role: v.picklist(["user", "assistant", "agent", "title"]),
  snippet: snippetSchema,
  at: v.number(),
})
const searchPageSchema = v.object({ hits: v.array(hitSchema), next: nextSchema, pending: v.boolean() })
const messageHitSchema = v.object({
  message: v.string(),
  role: v.picklist(["user", "assistant", "agent"]),
  snippet: snippetSchema,
  at: v.number(),
})
const messagePageSchema = v.object({ hits: v.array(messageHitSchema), next: nextSchema })

/** Searches all of the user's conversations. `after` is the `next` of the previous page. */
export async function searchAll(api: Api, query: string, after: string | null): Promise<SearchPage> {
  const fields = new URLSearchParams({ q: query, limit: String(PALETTE_HITS), ...(after === null ? {} : { after }) })
  return await parseBody(await api.fetchAuthorized(`/v1/search?${fields}`), createSchemaParser(searchPageSchema))
}

/** Searches one conversation, the newest messages first. `before` is the `next` of the previous page. */
export async function searchSession(
  api: Api,
  session: string,
  query: string,
  before: string | null,
): Promise<MessageHitPage> {
  const fields = new URLSearchParams({
    q: query,
    limit: String(CONVERSATION_HITS),
    ...(before === null ? {} : { before }),
  })
  const response = await api.fetchAuthorized(sessionPath(session, `/search?${fields}`))
  return await parseBody(response, createSchemaParser(messagePageSchema))
}
