/**
 * session-routes.ts: the routes of a user's sessions: create, list, rename, erase, history, messages, export, import and
 * socket.
 */

import { Hono } from "hono"
import { nanoid } from "nanoid"
import * as v from "valibot"
import { fail, type Result, succeed } from "../../shared/fault.ts"
import {
  DEFAULT_PAGE_MESSAGES,
  MAX_IMPORT_BYTES,
  MAX_IMPORT_PARTS,
  MAX_PAGE_MESSAGES,
  MAX_SESSIONS_LISTED,
  MAX_TITLE_CHARS,
  PROTOCOL_VERSION,
} from "../../shared/limits.ts"
import { idSchema } from "../../shared/protocol/event.ts"
import type { SessionPage } from "../../shared/protocol/http-body.ts"
import { CLAIMS_HEADER } from "../auth/verify-token.ts"
import type { Claims } from "../platform/rpc/claims.ts"
import type { SessionCursor } from "../platform/rpc/directory-rpc.ts"
import { faultToResponse } from "../platform/fault-response.ts"
import { directoryStub } from "../platform/rpc/object-stubs.ts"
import { createTraceId } from "../telemetry/trace-id.ts"
import { SUBPROTOCOL } from "../socket/sockets.ts"
import { agentNameSchema } from "../settings/agent-config.ts"
import { assetRoutes } from "./media/asset-routes.ts"
import { isAgentSession } from "../../shared/protocol/agent-session-id.ts"
import { toTitle } from "../../shared/text/title.ts"
import { mediaSigningRoutes } from "./media/media-routes.ts"
import { cutPage } from "./cut-page.ts"
import { type AppEnv, parseFields, readBody, readQuery } from "./request-body.ts"
import { isUpgrade, listSubprotocols } from "./access/authorize.ts"
import { requireStorage } from "./access/require-storage.ts"
import { createOwnSession, requireSession } from "./access/require-session.ts"
import { createPrivateKey, keyToPublicId } from "../platform/session-key.ts"
import { externalTokenRoutes } from "./token-routes.ts"
import { viewerRoutes } from "./viewer-routes.ts"
import type { ImportPart } from "../platform/rpc/session-types.ts"

/** Header with the id under which the log records a message sent over HTTP, accepted or not. */
const TRACE_HEADER = "trace-id"

const titleSchema = v.pipe(
  v.string(),
  v.maxLength(MAX_TITLE_CHARS),
  // The response must show the title as it is stored.
  v.transform(toTitle),
)

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
})

/** A title that is empty or only white space is rejected. */
const renameSchema = v.object({ title: v.pipe(titleSchema, v.trim(), v.nonEmpty()) })

const sendSchema = v.object({
  id: v.optional(idSchema),
  content: v.string(),
  reply_to: v.optional(idSchema),
  attachments: v.optional(v.array(idSchema)),
})

/** Without an exchange id, the running answer is cancelled. */
const cancelSchema = v.object({ exchange_id: v.optional(idSchema) })

const decimalSchema = v.pipe(v.string(), v.regex(/^\d{1,15}$/), v.transform(Number))

const pageSchema = v.object({
  limit: v.optional(v.pipe(decimalSchema, v.minValue(1), v.maxValue(MAX_PAGE_MESSAGES)), String(DEFAULT_PAGE_MESSAGES)),
  before: v.optional(v.pipe(decimalSchema, v.minValue(1))),
})

/** `after` is a position in the session list, as `sessionCursorToText` writes it. */
const listSchema = v.object({
  after: v.optional(
    v.pipe(
      v.string(),
      v.regex(/^\d{1,15}\.\d{1,15}\.[A-Za-z0-9_-]{1,64}$/),
      v.transform((text): SessionCursor => {
        const [active, created, id = ""] = text.split(".")
        return { active: Number(active), created: Number(created), id }
      }),
    ),
  ),
})

/** `id` must be a public id: a private key would reveal that another user has the id (SPEC AU17). */
function sessionCursorToText({ active, created, id }: SessionCursor): string {
  return `${active}.${created}.${id}`
}

const exportSchema = v.object({
  after: v.optional(decimalSchema),
  format: v.optional(v.picklist(["jsonl", "markdown"]), "jsonl"),
})

const partNumberSchema = v.pipe(decimalSchema, v.minValue(1), v.maxValue(MAX_IMPORT_PARTS))

const importPartSchema = v.object({ part: partNumberSchema, of: partNumberSchema })

export const sessionRoutes = new Hono<AppEnv>()

sessionRoutes.route("/", assetRoutes)
sessionRoutes.route("/", mediaSigningRoutes)
sessionRoutes.route("/", externalTokenRoutes)
sessionRoutes.route("/", viewerRoutes)

sessionRoutes.post("/", async (context) => {
  const body = await readBody(context, createSchema)
  if (!body.ok) return faultToResponse(body.fault)
  const claims = context.get("claims")
  const { title, agent, id = nanoid() } = body.value
  const locationHint = context.get("locationHint")
  const created = Date.now()
  const createdSession = await createOwnSession(context.env, claims, id, { title, agent, created, locationHint })
  if (!createdSession.ok) return faultToResponse(createdSession.fault)
  return context.json({ id, title, created }, 201)
})

sessionRoutes.get("/", async (context) => {
  const query = readQuery(context, listSchema)
  if (!query.ok) return faultToResponse(query.fault)
  const { after } = query.value
  const directory = directoryStub(context.env, context.get("claims"), context.get("locationHint"))
  const limit = MAX_SESSIONS_LISTED + 1
  const found = await (after === undefined ? directory.listSessions(limit) : directory.listSessions(limit, after))
  const sessions = found.map((session) => ({ ...session, id: keyToPublicId(session.id) }))
  const { page, last } = cutPage(sessions, MAX_SESSIONS_LISTED)
  const next = last === undefined ? null : sessionCursorToText(last)
  return context.json({ sessions: page, next } satisfies SessionPage)
})

sessionRoutes.patch("/:id", requireSession, async (context) => {
  const body = await readBody(context, renameSchema)
  if (!body.ok) return faultToResponse(body.fault)
  const { title } = body.value
  const renamed = await context.get("session").renameSession(context.get("claims"), title)
  return renamed.ok ? context.json({ id: context.req.param("id"), title }) : faultToResponse(renamed.fault)
})

sessionRoutes.delete("/:id", requireSession, async (context) => {
  const claims = context.get("claims")
  const erased = await context.get("session").erase(claims)
  // The directory entry is removed last, even if the session is already erased, because a retry after a crash must remove
  // it.
  const directory = directoryStub(context.env, claims)
  const privateKey = createPrivateKey(context.req.param("id"), claims.user)
  const wasListed =
    (await directory.removeSession(context.get("sessionKey"))) ||
    (!erased.ok && (await directory.removeSession(privateKey)))
  return erased.ok || wasListed ? context.body(null, 204) : faultToResponse(erased.fault)
})

sessionRoutes.get("/:id/conversation/recent", requireSession, async (context) => {
  const query = readQuery(context, pageSchema)
  if (!query.ok) return faultToResponse(query.fault)
  const { limit, before } = query.value
  const pageQuery = before === undefined ? { limit } : { limit, before }
  const page = await context.get("session").readHistoryPage(context.get("claims"), pageQuery)
  if (!page.ok) return faultToResponse(page.fault)
  const { json, rowsRead } = page.value
  return context.body(json, 200, {
    "content-type": "application/json",
    "server-timing": `rows;desc="rows read";dur=${rowsRead}`,
  })
})

sessionRoutes.post("/:id/messages", requireSession, async (context) => {
  const body = await readBody(context, sendSchema)
  if (!body.ok) return faultToResponse(body.fault)
  const { id = nanoid(), ...message } = body.value
  // Generated here instead of taken from the request, because a client could give two turns the same id.
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

sessionRoutes.get("/:id/events", requireSession, async (context) => {
  const query = readQuery(context, exportSchema)
  if (!query.ok) return faultToResponse(query.fault)
  const { after = null, format } = query.value
  const exported = await context.get("session").export(context.get("claims"), after, format)
  if (!exported.ok) return faultToResponse(exported.fault)
  const [type, extension] = format === "jsonl" ? ["application/jsonl", "jsonl"] : ["text/markdown", "md"]
  return context.body(exported.value.lines, 200, {
    "content-type": `${type}; charset=utf-8`,
    "content-disposition": `attachment; filename="${context.req.param("id")}.${extension}"`,
  })
})

sessionRoutes.post("/:id/import", requireSession, requireStorage, async (context) => {
  const { body } = context.req.raw
  const part = parseImportPart(context.req.query())
  if (!part.ok) return faultToResponse(part.fault)
  // A file whose announced size is too large is refused without reading it.
  if (Number(context.req.header("content-length") ?? 0) > MAX_IMPORT_BYTES) {
    return faultToResponse({ reason: "import_too_large", max: MAX_IMPORT_BYTES })
  }
  if (body === null) return faultToResponse({ reason: "import_empty" })
  const imported = await context.get("session").import(context.get("claims"), body, part.value)
  if (!imported.ok) return faultToResponse(imported.fault)
  return context.json({ ...imported.value, ...part.value }, imported.value.state === "done" ? 200 : 202)
})

sessionRoutes.get("/:id/import", requireSession, async (context) => {
  const progress = await context.get("session").importProgress(context.get("claims"))
  return progress.ok ? context.json(progress.value) : faultToResponse(progress.fault)
})

/** `?part=&of=`. Without them the body is the whole file. */
function parseImportPart(query: Record<string, string>): Result<ImportPart> {
  const parsed = parseFields(importPartSchema, { part: "1", of: "1", ...query }, "part")
  if (!parsed.ok) return parsed
  const { part, of } = parsed.value
  return part <= of ? succeed({ part, of }) : fail({ reason: "field_invalid", field: "part" })
}

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

/** The upgrade request for the object. A header contains the verified claims, and the token is removed. */
function createSocketRequest(request: Request, claims: Claims): Request {
  const headers = new Headers(request.headers)
  headers.delete("authorization")
  headers.delete("sec-websocket-protocol")
  headers.set(CLAIMS_HEADER, JSON.stringify(claims))
  const { origin, pathname } = new URL(request.url)
  return new Request(origin + pathname, { headers })
}
