/**
 * external-routes.ts: external producers stream or post answers into the session that their token names.
 */

import * as v from "valibot"
import { faultToWire } from "../../shared/fault.ts"
import { idSchema } from "../../shared/protocol/event.ts"
import { faultToResponse } from "../platform/fault-response.ts"
import { type AppEnv, readBody, readQuery } from "./request-body.ts"
import { requireStorage } from "./access/require-storage.ts"
import { requireTokenSession } from "./access/require-session.ts"
import type { IngestResult } from "../platform/rpc/session-types.ts"
import { createHono } from "./hono-app.ts"

/** Identifies the answer if the records don't. */
const answerRefSchema = v.object({ responseId: v.optional(idSchema), turnId: v.optional(idSchema) })

const messageSchema = v.object({ text: v.string(), ...answerRefSchema.entries })

export const externalRoutes = createHono<AppEnv>()

externalRoutes.use("/:id/*", requireTokenSession)

externalRoutes.post("/:id/events", requireStorage, async (context) => {
  const answerRef = readQuery(context, answerRefSchema)
  if (!answerRef.ok) return faultToResponse(answerRef.fault)
  const { body } = context.req.raw
  const ingested = await context.get("session").ingestRecords(context.get("claims"), answerRef.value, body)
  return ingested.ok ? ingestResultToResponse(ingested.value) : faultToResponse(ingested.fault)
})

externalRoutes.get("/:id/events", async (context) => {
  const query = readQuery(context, v.required(answerRefSchema, ["responseId"]))
  if (!query.ok) return faultToResponse(query.fault)
  const state = await context.get("session").readExternalState(context.get("claims"), query.value.responseId)
  return state.ok ? context.json(state.value) : faultToResponse(state.fault)
})

externalRoutes.post("/:id/messages", requireStorage, async (context) => {
  const body = await readBody(context, messageSchema)
  if (!body.ok) return faultToResponse(body.fault)
  const { text, ...answerRef } = body.value
  const accepted = await context.get("session").writeExternalAnswer(context.get("claims"), answerRef, text)
  return accepted.ok ? context.json(accepted.value) : faultToResponse(accepted.fault)
})

/**
 * Even the response to a rejected request contains the state of the answer, so that the producer knows where to resume.
 */
function ingestResultToResponse({ fault, state, ...counts }: IngestResult): Response {
  const body = { ...state, ...counts }
  if (fault === null) return Response.json(body)
  const { code, text, status } = faultToWire(fault)
  return Response.json({ code, text, ...body }, { status })
}
