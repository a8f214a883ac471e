/**
 * annotation-routes.ts: the routes for feedback on answers, for an answer's usage, for the tools that a session always
 * allows, and for the questions that tool calls ask the user. Mounted below the routes of sessions.
 */

import type { Context } from "hono"
import * as v from "valibot"
import type { AllowedTools, AnswerUsage } from "../../../shared/protocol/writing/answer-usage.ts"
import { idSchema } from "../../../shared/protocol/event.ts"
import {
  type FeedbackList,
  feedbackInputSchema,
  type FeedbackInput,
} from "../../../shared/protocol/writing/feedback.ts"
import { MAX_ID_CHARS, MAX_TOOL_NAME_CHARS } from "../../../shared/limits.ts"
import { faultToResponse } from "../../platform/fault-response.ts"
import { describeError, log } from "../../platform/log.ts"
import { tenantStub } from "../../platform/rpc/object-stubs.ts"
import { requireSession } from "../access/require-session.ts"
import { type AppEnv, readBody } from "../request-body.ts"
import { createHono } from "../hono-app.ts"

const inputId = v.pipe(v.string(), v.maxLength(MAX_ID_CHARS))
const inputValue = v.union([v.string(), v.number(), v.boolean(), v.pipe(v.array(v.string()), v.maxLength(64))])

/** The session checks the values against the fields of the question. */
const inputAnswerSchema = v.variant("action", [
  v.strictObject({ input: inputId, action: v.literal("accept"), content: v.record(v.string(), inputValue) }),
  v.strictObject({ input: inputId, action: v.literal("decline") }),
])

export const annotationRoutes = createHono<AppEnv>()

annotationRoutes.get("/:id/feedback", requireSession, async (context) => {
  const listed = await context.get("session").listFeedback(context.get("claims"))
  return listed.ok
    ? context.json({ feedback: [...listed.value] } satisfies FeedbackList)
    : faultToResponse(listed.fault)
})

annotationRoutes.get("/:id/agent", requireSession, async (context) => {
  const described = await context.get("session").describeAgent(context.get("claims"))
  return described.ok ? context.json(described.value) : faultToResponse(described.fault)
})

annotationRoutes.put("/:id/messages/:message/feedback", requireSession, async (context) => {
  const body = await readBody(context, feedbackInputSchema)
  return body.ok ? await setFeedback(context, body.value) : faultToResponse(body.fault)
})

annotationRoutes.delete("/:id/messages/:message/feedback", requireSession, (context) => setFeedback(context, null))

async function setFeedback(context: Context<AppEnv>, feedback: FeedbackInput | null): Promise<Response> {
  const claims = context.get("claims")
  const message = context.req.param("message")
  if (!v.is(idSchema, message)) return faultToResponse({ reason: "message_unknown" })
  const set = await context.get("session").setFeedback(claims, message, feedback)
  if (!set.ok) return faultToResponse(set.fault)
  // The feedback is stored in the session. A count that can't be delivered to the tenant is lost (SPEC WR13).
  const counting = tenantStub(context.env, claims.tenant)
    .countFeedback(set.value)
    .catch((error: unknown) => log("feedback_not_counted", { tenant: claims.tenant, error: describeError(error) }))
  context.executionCtx.waitUntil(Promise.resolve(counting))
  const { after } = set.value
  return after === null ? context.body(null, 204) : context.json({ message, ...after })
}

annotationRoutes.post("/:id/messages/:message/follow-ups", requireSession, async (context) => {
  const message = context.req.param("message")
  if (!v.is(idSchema, message)) return faultToResponse({ reason: "message_unknown" })
  const suggested = await context.get("session").suggestFollowUps(context.get("claims"), message)
  return suggested.ok ? context.json({ follow_ups: [...suggested.value] }) : faultToResponse(suggested.fault)
})

annotationRoutes.get("/:id/messages/:message/usage", requireSession, async (context) => {
  const claims = context.get("claims")
  const message = context.req.param("message")
  if (!v.is(idSchema, message)) return faultToResponse({ reason: "message_unknown" })
  const read = await context.get("session").readAnswerUsage(claims, message)
  if (!read.ok) return faultToResponse(read.fault)
  const { show_cost } = await tenantStub(context.env, claims.tenant).getSettings()
  const usage: AnswerUsage = { ...read.value, cost_nano_usd: show_cost === true ? read.value.cost_nano_usd : null }
  return context.json(usage)
})

annotationRoutes.get("/:id/allowed-tools", requireSession, async (context) => {
  const listed = await context.get("session").listAllowedTools(context.get("claims"))
  return listed.ok ? context.json({ tools: [...listed.value] } satisfies AllowedTools) : faultToResponse(listed.fault)
})

annotationRoutes.put("/:id/allowed-tools/:tool", requireSession, async (context) => {
  const tool = context.req.param("tool")
  if (tool.length > MAX_TOOL_NAME_CHARS) return faultToResponse({ reason: "field_invalid", field: "tool" })
  const allowed = await context.get("session").allowTool(context.get("claims"), tool)
  return allowed.ok
    ? context.json({ tools: [...allowed.value] } satisfies AllowedTools)
    : faultToResponse(allowed.fault)
})

annotationRoutes.post("/:id/calls/:call/input", requireSession, async (context) => {
  const call = context.req.param("call")
  const body = await readBody(context, inputAnswerSchema)
  if (!body.ok) return faultToResponse(body.fault)
  if (!v.is(idSchema, call)) return faultToResponse({ reason: "call_unknown" })
  const answered = await context.get("session").answerInput(context.get("claims"), call, body.value)
  return answered.ok ? context.body(null, 204) : faultToResponse(answered.fault)
})

annotationRoutes.delete("/:id/allowed-tools/:tool", requireSession, async (context) => {
  const left = await context.get("session").revokeTool(context.get("claims"), context.req.param("tool"))
  return left.ok ? context.json({ tools: [...left.value] } satisfies AllowedTools) : faultToResponse(left.fault)
})
