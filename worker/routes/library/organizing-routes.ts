/**
 * organizing-routes.ts: the routes that rename, pin, archive, file, delete and restore sessions, one or many at a time.
 */

import type { Context } from "hono"
import * as v from "valibot"
import { type Fault, fail, type Result, succeed } from "../../../shared/fault.ts"
import { MAX_BULK_SESSIONS } from "../../../shared/user-limits.ts"
import { idSchema } from "../../../shared/protocol/event.ts"
import { faultToResponse } from "../../platform/fault-response.ts"
import type { BulkAction, SessionChange } from "../../platform/rpc/directory-rpc.ts"
import { directoryStub } from "../../platform/rpc/object-stubs.ts"
import { createPrivateKey } from "../../platform/session-key.ts"
import { requireSession } from "../access/require-session.ts"
import { type AppEnv, readBody, readQuery } from "../request-body.ts"
import { titleSchema } from "../session-fields.ts"
import { createHono } from "../hono-app.ts"

const changeFields = {
  pinned: v.optional(v.boolean()),
  archived: v.optional(v.boolean()),
  folder: v.optional(v.nullable(idSchema)),
  unread: v.optional(v.boolean()),
}

/** A title that is empty or only whitespace is rejected. At least one field is needed. */
const patchSchema = v.pipe(
  v.object({ title: v.optional(v.pipe(titleSchema, v.trim(), v.nonEmpty())), ...changeFields }),
  v.forward(
    v.check((fields) => Object.values(fields).some((value) => value !== undefined)),
    ["title"],
  ),
)

const deleteSchema = v.object({ undo: v.optional(v.picklist(["0", "1"]), "0") })

const bulkSchema = v.object({
  ids: v.pipe(v.array(idSchema), v.minLength(1), v.maxLength(MAX_BULK_SESSIONS)),
  action: v.picklist(["archive", "unarchive", "pin", "unpin", "read", "unread", "move", "delete", "restore"]),
  /** For `move`: the id of a folder, or null for none. */
  folder: v.optional(v.nullable(idSchema)),
  /** For `delete`: whether the sessions can be restored for a short time. */
  undo: v.optional(v.boolean(), false),
})

const CHANGES = {
  archive: { archived: true },
  unarchive: { archived: false },
  pin: { pinned: true },
  unpin: { pinned: false },
  read: { unread: false },
  unread: { unread: true },
} as const satisfies Record<string, SessionChange>

export const organizingRoutes = createHono<AppEnv>()

organizingRoutes.patch("/:id", requireSession, async (context) => {
  const body = await readBody(context, patchSchema)
  if (!body.ok) return faultToResponse(body.fault)
  const { title, ...change } = body.value
  const id = context.req.param("id")
  const hasChange = Object.values(change).some((value) => value !== undefined)
  // The directory is changed first, because it can refuse the change. In that case, the title must not change either.
  const changed = hasChange ? await changeOne(context, id, { do: "change", change }) : succeed(null)
  if (!changed.ok) return faultToResponse(changed.fault)
  const renamed =
    title === undefined ? changed : await context.get("session").renameSession(context.get("claims"), title)
  return renamed.ok ? context.json({ id, ...body.value }) : faultToResponse(renamed.fault)
})

organizingRoutes.delete("/:id", requireSession, async (context) => {
  const query = readQuery(context, deleteSchema)
  if (!query.ok) return faultToResponse(query.fault)
  const claims = context.get("claims")
  const directory = directoryStub(context.env, claims)
  if (query.value.undo === "1") {
    const hidden = await directory.hideSession(context.req.param("id"))
    return hidden.ok
      ? context.json({ id: context.req.param("id"), erases_at: hidden.value }, 202)
      : faultToResponse(hidden.fault)
  }
  const erased = await context.get("session").erase(claims)
  // The directory entry is removed last, even if the session is already erased, because a retry after a crash must
  // remove it.
  const privateKey = createPrivateKey(context.req.param("id"), claims.user)
  const wasListed =
    (await directory.removeSession(context.get("sessionKey"))) ||
    (!erased.ok && (await directory.removeSession(privateKey)))
  return erased.ok || wasListed ? context.body(null, 204) : faultToResponse(erased.fault)
})

organizingRoutes.post("/:id/restore", async (context) => {
  const restored = await changeOne(context, context.req.param("id"), { do: "restore" })
  return restored.ok ? context.body(null, 204) : faultToResponse(restored.fault)
})

organizingRoutes.post("/bulk", async (context) => {
  const body = await readBody(context, bulkSchema)
  if (!body.ok) return faultToResponse(body.fault)
  const { ids, action, folder, undo } = body.value
  if (action === "move" && folder === undefined) return faultToResponse({ reason: "field_invalid", field: "folder" })
  const directory = directoryStub(context.env, context.get("claims"))
  const results = await directory.changeSessions([...new Set(ids)], toBulkAction(action, folder, undo))
  return context.json({ results: [...results] })
})

function toBulkAction(
  action: v.InferOutput<typeof bulkSchema>["action"],
  folder: string | null | undefined,
  hasUndo: boolean,
): BulkAction {
  if (action === "delete") return { do: "delete", hasUndo }
  if (action === "restore") return { do: "restore" }
  return { do: "change", change: action === "move" ? { folder } : CHANGES[action] }
}

/** Changes a session. Errors: `session_unknown`, `folder_unknown`; `internal` if the session can't be reached. */
async function changeOne(context: Context<AppEnv>, id: string, action: BulkAction): Promise<Result<null>> {
  if (!v.is(idSchema, id)) return fail({ reason: "session_unknown" })
  const [result] = await directoryStub(context.env, context.get("claims")).changeSessions([id], action)
  if (result?.ok === true) return succeed(null)
  const reason = (["folder_unknown", "internal"] as const).find((code) => code === result?.code)
  const fault: Fault = { reason: reason ?? "session_unknown" }
  return fail(fault)
}
