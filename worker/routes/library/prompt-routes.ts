/** prompt-routes.ts: the routes of a user's saved prompts. */

import * as v from "valibot"
import { idSchema } from "../../../shared/protocol/event.ts"
import { type PromptList, promptInputSchema } from "../../../shared/protocol/writing/saved-prompt.ts"
import { removeControls } from "../../../shared/text/title.ts"
import { faultToResponse } from "../../platform/fault-response.ts"
import { directoryStub } from "../../platform/rpc/object-stubs.ts"
import { type AppEnv, readBody } from "../request-body.ts"
import { createHono } from "../hono-app.ts"

const INVALID_ID = { reason: "field_invalid", field: "id" } as const

export const promptRoutes = createHono<AppEnv>()

promptRoutes.get("/", async (context) => {
  const prompts = await directoryStub(context.env, context.get("claims"), context.get("locationHint")).listPrompts()
  return context.json({ prompts: [...prompts] } satisfies PromptList)
})

promptRoutes.put("/:id", async (context) => {
  const id = context.req.param("id")
  if (!v.is(idSchema, id)) return faultToResponse(INVALID_ID)
  const body = await readBody(context, promptInputSchema)
  if (!body.ok) return faultToResponse(body.fault)
  const { name, text } = body.value
  const prompt = { id, name: removeControls(name).trim(), text: text.toWellFormed(), changed: Date.now() }
  const put = await directoryStub(context.env, context.get("claims")).putPrompt(prompt)
  return put.ok ? context.json(put.value) : faultToResponse(put.fault)
})

promptRoutes.delete("/:id", async (context) => {
  const id = context.req.param("id")
  if (!v.is(idSchema, id)) return faultToResponse(INVALID_ID)
  await directoryStub(context.env, context.get("claims")).removePrompt(id)
  return context.body(null, 204)
})
