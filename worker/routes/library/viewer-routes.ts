/**
 * viewer-routes.ts: lists, adds and removes the users with whom a session is shared, and lists the sessions that other
 * users share with the caller.
 *
 * Mounted below the routes of sessions. A viewer reads a session with `?owner=` (access/authorize.ts).
 */

import type { Context } from "hono"
import * as v from "valibot"
import { MAX_SESSIONS_LISTED } from "../../../shared/limits.ts"
import { idSchema } from "../../../shared/protocol/event.ts"
import type { SessionViewer, SharedSessionPage } from "../../../shared/protocol/http-body.ts"
import { faultToResponse } from "../../platform/fault-response.ts"
import type { SharedCursor } from "../../platform/rpc/directory-rpc.ts"
import { directoryStub, tenantStub } from "../../platform/rpc/object-stubs.ts"
import { requireSession } from "../access/require-session.ts"
import { cutPage } from "../cut-page.ts"
import { type AppEnv, readQuery } from "../request-body.ts"
import { createHono } from "../hono-app.ts"

/** `after` is a position in the list, as `sharedCursorToText` writes it. */
const listSchema = v.object({
  after: v.optional(
    v.pipe(
      v.string(),
      v.regex(/^\d{1,15}\.[A-Za-z0-9_-]{1,64}\.[A-Za-z0-9_-]{1,64}$/),
      v.transform((text): SharedCursor => {
        const [since, owner = "", id = ""] = text.split(".")
        return { since: Number(since), owner, id }
      }),
    ),
  ),
})

function sharedCursorToText({ since, owner, id }: SharedCursor): string {
  return `${since}.${owner}.${id}`
}

export const viewerRoutes = createHono<AppEnv>()

viewerRoutes.get("/shared", async (context) => {
  const query = readQuery(context, listSchema)
  if (!query.ok) return faultToResponse(query.fault)
  const { after } = query.value
  const directory = directoryStub(context.env, context.get("claims"), context.get("locationHint"))
  const limit = MAX_SESSIONS_LISTED + 1
  const found = await (after === undefined ? directory.listShared(limit) : directory.listShared(limit, after))
  const { page, last } = cutPage(found, MAX_SESSIONS_LISTED)
  const next = last === undefined ? null : sharedCursorToText(last)
  return context.json({ sessions: page, next } satisfies SharedSessionPage)
})

viewerRoutes.get("/:id/viewers", requireSession, async (context) => {
  const listed = await context.get("session").listViewers(context.get("claims"))
  return listed.ok ? context.json({ viewers: listed.value }) : faultToResponse(listed.fault)
})

viewerRoutes.put("/:id/viewers/:user", requireSession, async (context) => {
  const { env } = context
  const claims = context.get("claims")
  const viewer = parseViewer(context)
  if (viewer === null) return faultToResponse({ reason: "field_invalid", field: "user" })
  const session = context.get("session")
  const known = await tenantStub(env, claims.tenant).findUser(viewer)
  if (known === null || known.status === "erasing") {
    const own = await session.listViewers(claims)
    return faultToResponse(own.ok ? { reason: "user_unknown" } : own.fault)
  }
  const added = await session.addViewer(claims, viewer)
  if (!added.ok) return faultToResponse(added.fault)
  const directory = directoryStub(env, { tenant: claims.tenant, user: viewer })
  const listed = await directory.putShared(added.value)
  if (!listed.ok) {
    await session.removeViewer(claims, viewer)
    return faultToResponse(listed.fault)
  }
  // Sharing may have ended, or the session may have been erased, before the entry was written.
  const shared = await session.checkReader({ tenant: claims.tenant, user: viewer, sharedBy: claims.user })
  if (!shared.ok) {
    await directory.removeShared(claims.user, context.req.param("id"))
    return faultToResponse(shared.fault)
  }
  return context.json({ user: viewer, since: added.value.since } satisfies SessionViewer)
})

viewerRoutes.delete("/:id/viewers/:user", requireSession, async (context) => {
  const claims = context.get("claims")
  const viewer = parseViewer(context)
  if (viewer === null) return faultToResponse({ reason: "field_invalid", field: "user" })
  const removed = await context.get("session").removeViewer(claims, viewer)
  if (!removed.ok) return faultToResponse(removed.fault)
  // The entry is removed last, and even if the user was not a viewer, so that a retry after a failure still removes it.
  const directory = directoryStub(context.env, { tenant: claims.tenant, user: viewer })
  await directory.removeShared(claims.user, context.req.param("id"))
  return context.body(null, 204)
})

/** Returns the user named in the path; null if that is not a valid id, or is the owner. */
function parseViewer(context: Context<AppEnv>): string | null {
  const user = context.req.param("user")
  return v.is(idSchema, user) && user !== context.get("claims").user ? user : null
}
