/**
 * share-routes.ts: makes, lists and deletes shared copies of the user's sessions. public-share-routes.ts serves them.
 */

import type { Context } from "hono"
import { nanoid } from "nanoid"
import * as v from "valibot"
import { idSchema } from "../../../shared/protocol/event.ts"
import type { SessionShare, UserShare } from "../../../shared/protocol/http-body.ts"
import { faultToResponse } from "../../platform/fault-response.ts"
import { directoryStub, tenantStub } from "../../platform/rpc/object-stubs.ts"
import { keyToPublicId } from "../../platform/session-key.ts"
import { formatShareReference } from "../access/open-share.ts"
import { requireSession } from "../access/require-session.ts"
import { type AppEnv, readBody } from "../request-body.ts"
import { createHono } from "../hono-app.ts"

/** Length of a copy's id, in characters: 132 random bits. */
const SHARE_ID_CHARS = 22

const createSchema = v.object({
  /** The id of the last message; by default, the newest completed message. */
  upto: v.optional(idSchema),
  /** When the copy is deleted, in milliseconds since 1970; by default, never. */
  expires: v.optional(
    v.pipe(
      v.number(),
      v.safeInteger(),
      v.check((at) => at > Date.now()),
    ),
  ),
  /** Whether readers see the user's name. */
  name: v.optional(v.boolean(), false),
})

export const shareRoutes = createHono<AppEnv>()

shareRoutes.get("/v1/shares", async (context) => {
  const listed = await directoryStub(context.env, context.get("claims")).changeShares({})
  if (!listed.ok) return faultToResponse(listed.fault)
  const shares = listed.value.map(({ session, ...share }): UserShare => {
    return { ...share, session: keyToPublicId(session), url: formatUrl(context, share.id) }
  })
  return context.json({ shares })
})

shareRoutes.get("/v1/sessions/:id/shares", requireSession, async (context) => {
  const listed = await context.get("session").listShares(context.get("claims"))
  if (!listed.ok) return faultToResponse(listed.fault)
  return context.json({ shares: listed.value.map((share) => addUrl(context, share)) })
})

shareRoutes.post("/v1/sessions/:id/shares", requireSession, async (context) => {
  const body = await readBody(context, createSchema)
  if (!body.ok) return faultToResponse(body.fault)
  const claims = context.get("claims")
  const { upto = null, expires = null, name } = body.value
  const id = nanoid(SHARE_ID_CHARS)
  const author = name ? await readAuthor(context) : null
  const created = await context.get("session").createShare(claims, { id, upto, expires, author })
  if (!created.ok) return faultToResponse(created.fault)
  const entry = { ...created.value, session: context.get("sessionKey") }
  const added = await directoryStub(context.env, claims).changeShares({ add: entry })
  if (added.ok) return context.json(addUrl(context, created.value), 201)
  await context.get("session").deleteShare(claims, id)
  return faultToResponse(added.fault)
})

shareRoutes.delete("/v1/sessions/:id/shares/:share", requireSession, async (context) => {
  const claims = context.get("claims")
  const id = context.req.param("share")
  const deleted = await context.get("session").deleteShare(claims, id)
  if (!deleted.ok) return faultToResponse(deleted.fault)
  // The entry is removed last, so that a copy that could not be deleted stays in the list.
  await directoryStub(context.env, claims).changeShares({ remove: id })
  return context.body(null, 204)
})

/** Returns the user's name, or the user's id if the user has no name. */
async function readAuthor({ env, get }: Context<AppEnv>): Promise<string> {
  const { tenant, user } = get("claims")
  const found = await tenantStub(env, tenant).findUser(user)
  return found?.name ?? user
}

function addUrl(context: Context<AppEnv>, share: SessionShare): SessionShare & { readonly url: string } {
  return { ...share, url: formatUrl(context, share.id) }
}

/** Formats the URL of a copy's page, on the origin of the request. */
function formatUrl({ req, get }: Context<AppEnv>, id: string): string {
  return new URL(`/share/${formatShareReference(get("claims").tenant, id)}`, req.url).href
}
