/** external.ts: producers outside tell their answers into the one session that their token is for. */

import { Hono, type MiddlewareHandler } from "hono"
import * as v from "valibot"
import { idSchema } from "../../shared/protocol/event.ts"
import { type Fault, faultToWire } from "../../shared/fault.ts"
import type { IngestResult } from "../session/producer-request.ts"
import { type AppEnv, faultToResponse, readBody } from "../platform/fault-response.ts"
import { refuseRevoked, requireScope, requireToken } from "./request-guard.ts"

/** Which answer: where the records do not say, and to ask how one stands. */
const answerIdsSchema = v.object({ responseId: v.optional(idSchema), turnId: v.optional(idSchema) })

const messageSchema = v.object({ text: v.string(), ...answerIdsSchema.entries })

const requireTokenSession: MiddlewareHandler<AppEnv> = async (context, next) => {
  const { session } = context.get("claims")
  return session === context.req.param("id") ? await next() : faultToResponse({ reason: "scope_denied" })
}

export const externalRoutes = new Hono<AppEnv>()

externalRoutes.use("/:id/*", requireToken, requireScope("external"), requireTokenSession, refuseRevoked)

/** The claims name the session: it is the one of the address. */
function getSessionStub(env: AppEnv["Bindings"], { tenant, session }: AppEnv["Variables"]["claims"]) {
  return env.SESSION.getByName(`${tenant}:${session}`)
}

externalRoutes.post("/:id/events", async (context) => {
  const answerIds = v.safeParse(answerIdsSchema, context.req.query(), { abortEarly: true })
  if (!answerIds.success) return faultToResponse(issueToFault(answerIds.issues[0]))
  const claims = context.get("claims")
  const applied = await getSessionStub(context.env, claims).ingestRecords(
    claims,
    answerIds.output,
    context.req.raw.body,
  )
  return applied.ok ? appliedToResponse(applied.value) : faultToResponse(applied.fault)
})

externalRoutes.get("/:id/events", async (context) => {
  const answerIds = v.safeParse(v.required(answerIdsSchema, ["responseId"]), context.req.query(), { abortEarly: true })
  if (!answerIds.success) return faultToResponse(issueToFault(answerIds.issues[0]))
  const claims = context.get("claims")
  const state = await getSessionStub(context.env, claims).readExternalState(claims, answerIds.output.responseId)
  return state.ok ? context.json(state.value) : faultToResponse(state.fault)
})

externalRoutes.post("/:id/messages", async (context) => {
  const body = await readBody(context, messageSchema)
  if (!body.ok) return faultToResponse(body.fault)
  const claims = context.get("claims")
  const { text, ...answerIds } = body.value
  const accepted = await getSessionStub(context.env, claims).writeExternalAnswer(claims, answerIds, text)
  return accepted.ok ? context.json(accepted.value) : faultToResponse(accepted.fault)
})

function issueToFault(issue: v.BaseIssue<unknown>): Fault {
  return { reason: "field_invalid", field: v.getDotPath(issue) ?? "query" }
}

/** Also one that was refused learns where its answer stands, so that its producer knows where to go on. */
function appliedToResponse({ fault, state, ...counts }: IngestResult): Response {
  const body = { ...state, ...counts }
  if (fault === null) return Response.json(body)
  const { code, text, status } = faultToWire(fault)
  return Response.json({ code, text, ...body }, { status })
}
