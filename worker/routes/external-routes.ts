/** external.ts: producers outside tell their answers into the one session that their token is for. */

import { Hono, type MiddlewareHandler } from "hono"
import * as v from "valibot"
import { idSchema } from "../../shared/protocol/event.ts"
import { type Fault, faultToWire } from "../../shared/fault.ts"
import type { Taken } from "../session/producer-ingress.ts"
import { type App, answerFault, readBody } from "../platform/fault-response.ts"
import { refuseRevoked, requireScope, requireToken } from "./request-guard.ts"

/** Which answer: where the records do not say, and to ask how one stands. */
const whereSchema = v.object({ responseId: v.optional(idSchema), turnId: v.optional(idSchema) })

const messageSchema = v.object({ text: v.string(), ...whereSchema.entries })

const requireSession: MiddlewareHandler<App> = async (context, next) => {
  const { session } = context.get("claims")
  return session === context.req.param("id") ? await next() : answerFault({ reason: "scope_denied" })
}

export const external = new Hono<App>()

external.use("/:id/*", requireToken, requireScope("external"), requireSession, refuseRevoked)

/** The claims name the session: it is the one of the address. */
function sessionOf(env: App["Bindings"], { tenant, session }: App["Variables"]["claims"]) {
  return env.SESSION.getByName(`${tenant}:${session}`)
}

external.post("/:id/events", async (context) => {
  const where = v.safeParse(whereSchema, context.req.query(), { abortEarly: true })
  if (!where.success) return answerFault(fieldFault(where.issues[0]))
  const claims = context.get("claims")
  const taken = await sessionOf(context.env, claims).external(claims, where.output, context.req.raw.body)
  return taken.ok ? answerTaken(taken.value) : answerFault(taken.fault)
})

external.get("/:id/events", async (context) => {
  const where = v.safeParse(v.required(whereSchema, ["responseId"]), context.req.query(), { abortEarly: true })
  if (!where.success) return answerFault(fieldFault(where.issues[0]))
  const claims = context.get("claims")
  const state = await sessionOf(context.env, claims).externalState(claims, where.output.responseId)
  return state.ok ? context.json(state.value) : answerFault(state.fault)
})

external.post("/:id/messages", async (context) => {
  const body = await readBody(context, messageSchema)
  if (!body.ok) return answerFault(body.fault)
  const claims = context.get("claims")
  const { text, ...where } = body.value
  const said = await sessionOf(context.env, claims).externalMessage(claims, where, text)
  return said.ok ? context.json(said.value) : answerFault(said.fault)
})

function fieldFault(issue: v.BaseIssue<unknown>): Fault {
  return { reason: "field_invalid", field: v.getDotPath(issue) ?? "query" }
}

/** Also one that was refused learns where its answer stands, so that its producer knows where to go on. */
function answerTaken({ fault, state, ...counts }: Taken): Response {
  const body = { ...state, ...counts }
  if (fault === null) return Response.json(body)
  const { code, text, status } = faultToWire(fault)
  return Response.json({ code, text, ...body }, { status })
}
