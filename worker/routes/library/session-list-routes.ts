/**
 * session-list-routes.ts: the route that lists a user's sessions.
 */

import * as v from "valibot"
import { MAX_SESSIONS_LISTED } from "../../../shared/limits.ts"
import { idSchema } from "../../../shared/protocol/event.ts"
import type { SessionPage } from "../../../shared/protocol/http-body.ts"
import { faultToResponse } from "../../platform/fault-response.ts"
import type { SessionCursor } from "../../platform/rpc/directory-rpc.ts"
import { directoryStub } from "../../platform/rpc/object-stubs.ts"
import { keyToPublicId } from "../../platform/session-key.ts"
import { type AppEnv, readQuery } from "../request-body.ts"
import { cutPage } from "../cut-page.ts"
import { createHono } from "../hono-app.ts"

/** Prefix of a position among the pinned sessions. */
const PINNED = "p."

/** `after` is a position in the session list, as `sessionCursorToText` writes it. */
const listSchema = v.object({
  after: v.optional(
    v.pipe(
      v.string(),
      v.regex(/^(?:p\.)?\d{1,15}\.\d{1,15}\.[A-Za-z0-9_-]{1,64}$/),
      v.transform((text): SessionCursor => {
        const isPinned = text.startsWith(PINNED)
        const [active, created, id = ""] = (isPinned ? text.slice(PINNED.length) : text).split(".")
        return { active: Number(active), created: Number(created), id, isPinned }
      }),
    ),
  ),
  archived: v.optional(v.picklist(["0", "1"]), "0"),
  folder: v.optional(idSchema),
})

/**
 * Formats a position. `id` must be a public id: a private key would reveal that another user has the id (SPEC AU17).
 */
function sessionCursorToText({ active, created, id, isPinned }: SessionCursor): string {
  return `${isPinned ? PINNED : ""}${active}.${created}.${id}`
}

export const sessionListRoutes = createHono<AppEnv>()

sessionListRoutes.get("/", async (context) => {
  const query = readQuery(context, listSchema)
  if (!query.ok) return faultToResponse(query.fault)
  const { after, archived, folder } = query.value
  const directory = directoryStub(context.env, context.get("claims"), context.get("locationHint"))
  const filter = { isArchived: archived === "1", folder }
  const found = await directory.listSessions(MAX_SESSIONS_LISTED + 1, after, filter)
  const sessions = found.map((session) => ({ ...session, id: keyToPublicId(session.id) }))
  const { page, last } = cutPage(sessions, MAX_SESSIONS_LISTED)
  const next = last === undefined ? null : sessionCursorToText({ ...last, isPinned: last.pinned === true })
  return context.json({ sessions: page, next } satisfies SessionPage)
})
