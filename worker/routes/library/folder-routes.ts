/**
 * folder-routes.ts: the routes of a user's folders.
 */

import { nanoid } from "nanoid"
import * as v from "valibot"
import { idSchema } from "../../../shared/protocol/event.ts"
import { removeControls } from "../../../shared/text/title.ts"
import { faultToResponse } from "../../platform/fault-response.ts"
import { directoryStub } from "../../platform/rpc/object-stubs.ts"
import { type AppEnv, readBody } from "../request-body.ts"
import { createHono } from "../hono-app.ts"

/** Maximum length of a folder's name, in UTF-16 code units: about one line of the sidebar. */
const MAX_FOLDER_CHARS = 60

const nameSchema = v.pipe(
  v.string(),
  v.maxLength(MAX_FOLDER_CHARS),
  v.transform(removeControls),
  v.trim(),
  v.nonEmpty(),
)

/** If the client chooses the id, creating the same folder twice has no effect. */
const createSchema = v.object({ id: v.optional(idSchema), name: nameSchema })
const renameSchema = v.object({ name: nameSchema })

export const folderRoutes = createHono<AppEnv>()

folderRoutes.get("/", async (context) => {
  const folders = await directoryStub(context.env, context.get("claims"), context.get("locationHint")).listFolders()
  return context.json({ folders: [...folders] })
})

folderRoutes.post("/", async (context) => {
  const body = await readBody(context, createSchema)
  if (!body.ok) return faultToResponse(body.fault)
  const { id = nanoid(), name } = body.value
  const added = await directoryStub(context.env, context.get("claims")).addFolder(id, name)
  return added.ok ? context.json(added.value, 201) : faultToResponse(added.fault)
})

folderRoutes.patch("/:id", async (context) => {
  const body = await readBody(context, renameSchema)
  if (!body.ok) return faultToResponse(body.fault)
  const renamed = await directoryStub(context.env, context.get("claims")).renameFolder(
    context.req.param("id"),
    body.value.name,
  )
  return renamed.ok ? context.json(renamed.value) : faultToResponse(renamed.fault)
})

folderRoutes.delete("/:id", async (context) => {
  const removed = await directoryStub(context.env, context.get("claims")).removeFolder(context.req.param("id"))
  return removed.ok ? context.body(null, 204) : faultToResponse(removed.fault)
})
