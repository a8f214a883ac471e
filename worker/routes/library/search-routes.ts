/**
 * search-routes.ts: the routes that search all of a user's sessions, or one session.
 */

import type { Context } from "hono"
import * as v from "valibot"
import { DEFAULT_PAGE_HITS, MAX_PAGE_HITS } from "../../../shared/user-limits.ts"
import type { MessageHitPage, SearchPage } from "../../../shared/protocol/http-body.ts"
import { faultToResponse } from "../../platform/fault-response.ts"
import { directoryStub } from "../../platform/rpc/object-stubs.ts"
import { keyToPublicId } from "../../platform/session-key.ts"
import { MAX_QUERY_CHARS } from "../../search/search-query.ts"
import { type AppEnv, readQuery } from "../request-body.ts"

/** Entries whose text was removed from the index have negative positions. */
const positionSchema = v.optional(v.pipe(v.string(), v.regex(/^-?\d{1,16}$/), v.transform(Number), v.safeInteger()))
const commonFields = {
  q: v.pipe(v.string(), v.nonEmpty(), v.maxLength(MAX_QUERY_CHARS)),
  limit: v.optional(
    v.pipe(v.string(), v.regex(/^\d{1,3}$/), v.transform(Number), v.minValue(1), v.maxValue(MAX_PAGE_HITS)),
    String(DEFAULT_PAGE_HITS),
  ),
}
const searchSchema = v.object({
  ...commonFields,
  in: v.optional(v.picklist(["all", "titles", "messages"]), "all"),
  after: positionSchema,
})
const messageSchema = v.object({ ...commonFields, before: positionSchema })

/** `GET /v1/search`. */
export async function searchSessions(context: Context<AppEnv>): Promise<Response> {
  const query = readQuery(context, searchSchema)
  if (!query.ok) return faultToResponse(query.fault)
  const { q: text, in: scope, limit, after = null } = query.value
  const directory = directoryStub(context.env, context.get("claims"), context.get("locationHint"))
  const found = await directory.search({ text, scope, limit, after })
  if (!found.ok) return faultToResponse(found.fault)
  const { hits, next, pending } = found.value
  const page = hits.map((hit) => ({ ...hit, session: keyToPublicId(hit.session) }))
  return context.json({ hits: page, next: next === null ? null : String(next), pending } satisfies SearchPage)
}

/** `GET /v1/sessions/:id/search`. */
export async function searchMessages(context: Context<AppEnv>): Promise<Response> {
  const query = readQuery(context, messageSchema)
  if (!query.ok) return faultToResponse(query.fault)
  const { q: text, limit, before = null } = query.value
  const found = await context.get("session").searchMessages(context.get("claims"), { text, limit, before })
  if (!found.ok) return faultToResponse(found.fault)
  const { hits, next } = found.value
  return context.json({ hits: [...hits], next: next === null ? null : String(next) } satisfies MessageHitPage)
}
