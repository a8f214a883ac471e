/**
 * session-routes.ts: the routes that create a user's sessions, read their history, send messages, and open the socket.
 * The other routes of sessions are loaded on demand (worker/routes/library).
 */

import { nanoid } from "nanoid"
import * as v from "valibot"
import { DEFAULT_PAGE_MESSAGES, MAX_PAGE_MESSAGES, PROTOCOL_VERSION } from "../../shared/limits.ts"
import { EFFORTS } from "../../shared/model-effort.ts"
import { actionClickSchema } from "../../shared/protocol/cards/card-action.ts"
import { idSchema } from "../../shared/protocol/event.ts"
import { CLAIMS_HEADER } from "../auth/verify-token.ts"
import type { Claims } from "../platform/rpc/claims.ts"
import { faultToResponse } from "../platform/fault-response.ts"
import { createTraceId } from "../telemetry/trace-id.ts"
import { SUBPROTOCOL } from "../socket/sockets.ts"
import { agentNameSchema } from "../settings/agent-config.ts"
import { isAgentSession } from "../../shared/protocol/agent-session-id.ts"
import { type AppEnv, readBody, readQuery } from "./request-body.ts"
import { isUpgrade, listSubprotocols } from "./access/authorize.ts"
import { decimalSchema, pageToResponse, titleSchema } from "./session-fields.ts"
import { createOwnSession, requireSession } from "./access/require-session.ts"
import { createHono } from "./hono-app.ts"

/**
 * The header with the id that identifies a message sent over HTTP in the log, whether or not the message was accepted.
 */
const TRACE_HEADER = "trace-id"

/** If the client chooses the id, creating the same session twice has no effect. */
const createSchema = v.object({
  /** Ids of agents' sessions are reserved for the sessions that ask the agents. */
  id: v.optional(
    v.pipe(
      idSchema,
      v.check((id) => !isAgentSession(id)),
    ),
  ),
  title: v.optional(titleSchema, ""),
  /** Name of the agent that answers in the session. */
  agent: v.optional(agentNameSchema),
  /**
   * Whether the session is temporary: it does not appear in any list or search, and is erased TEMPORARY_MS after its
   * last socket has closed.
   */
  temporary: v.optional(v.boolean(), false),
})

const sendSchema = v.object({
  id: v.optional(idSchema),
  content: v.string(),
  reply_to: v.optional(idSchema),
  attachments: v.optional(v.array(idSchema)),
  effort: v.optional(v.picklist(EFFORTS)),
  action: v.optional(actionClickSchema),
})

/** Without an exchange id, the running answer is cancelled. */
const cancelSchema = v.object({ exchange_id: v.optional(idSchema) })

const pageSchema = v.object({
  limit: v.optional(v.pipe(decimalSchema, v.minValue(1), v.maxValue(MAX_PAGE_MESSAGES)), String(DEFAULT_PAGE_MESSAGES)),
  before: v.optional(v.pipe(decimalSchema, v.minValue(1))),
})

export const sessionRoutes = createHono<AppEnv>()

sessionRoutes.post("/", async (context) => {
  const body = await readBody(context, createSchema)
  if (!body.ok) return faultToResponse(body.fault)
  const claims = context.get("claims")
  const { title, agent, temporary: isTemporary, id = nanoid() } = body.value
  const locationHint = context.get("locationHint")
  const created = Date.now()
  const newSession = { title, agent, created, locationHint, isTemporary }
  const createdSession = await createOwnSession(context.env, claims, id, newSession)
  if (!createdSession.ok) return faultToResponse(createdSession.fault)
  return context.json({ id, title, created, ...(isTemporary ? { temporary: true } : {}) }, 201)
})

sessionRoutes.get("/:id/conversation/recent", requireSession, async (context) => {
  const query = readQuery(context, pageSchema)
  if (!query.ok) return faultToResponse(query.fault)
  const { limit, before } = query.value
  const pageQuery = before === undefined ? { limit } : { limit, before }
  const page = await context.get("session").readHistoryPage(context.get("claims"), pageQuery)
  if (!page.ok) return faultToResponse(page.fault)
  return pageToResponse(page.value)
})

sessionRoutes.post("/:id/messages", requireSession, async (context) => {
  const body = await readBody(context, sendSchema)
  if (!body.ok) return faultToResponse(body.fault)
  const { id = nanoid(), ...message } = body.value
  // The trace is generated here instead of being taken from the request, because a client could give two turns the same
  // id.
  const trace = createTraceId()
  const accepted = await context.get("session").send(context.get("claims"), { id, ...message }, trace)
  const response = accepted.ok ? Response.json(accepted.value, { status: 202 }) : faultToResponse(accepted.fault)
  response.headers.set(TRACE_HEADER, trace)
  return response
})

sessionRoutes.post("/:id/cancel", requireSession, async (context) => {
  const body = await readBody(context, cancelSchema)
  if (!body.ok) return faultToResponse(body.fault)
  const cancelled = await context.get("session").cancel(context.get("claims"), body.value.exchange_id ?? null)
  return cancelled.ok ? context.json({ ...cancelled.value, status: "cancelled" }) : faultToResponse(cancelled.fault)
})

sessionRoutes.get("/:id/socket", requireSession, async (context) => {
  if (!isUpgrade(context)) return faultToResponse({ reason: "upgrade_expected" })
  const protocols = listSubprotocols(context)
  const isSupported = protocols.includes(SUBPROTOCOL)
  if (protocols.length > 0 && !isSupported)
    return faultToResponse({ reason: "protocol_unsupported", supported: PROTOCOL_VERSION })
  const response = await context.get("session").fetch(createSocketRequest(context.req.raw, context.get("claims")))
  // The object refused the socket. Its response contains the fault.
  if (response.webSocket === null) return new Response(response.body, response)
  // A client that offered no subprotocol must not receive one.
  const headers: Record<string, string> = isSupported ? { "sec-websocket-protocol": SUBPROTOCOL } : {}
  return new Response(null, { status: 101, webSocket: response.webSocket, headers })
})

/** Creates the upgrade request for the object. A header contains the verified claims, and the token is removed. */
function createSocketRequest(request: Request, claims: Claims): Request {
  const headers = new Headers(request.headers)
  headers.delete("authorization")
  headers.delete("sec-websocket-protocol")
  headers.set(CLAIMS_HEADER, JSON.stringify(claims))
  const { origin, pathname } = new URL(request.url)
  return new Request(origin + pathname, { headers })
}
