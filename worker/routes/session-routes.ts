/** sessions.ts: a user's sessions: make one, list them, name or erase one, read one's history, say something, open a socket. */

import { Hono } from "hono"
import { nanoid } from "nanoid"
import * as v from "valibot"
import { idSchema } from "../../shared/protocol/event.ts"
import { fail, type Result, succeed } from "../../shared/fault.ts"
import {
  DEFAULT_PAGE_MESSAGES,
  EXTERNAL_TOKEN_SECONDS,
  MAX_EXTERNAL_TOKEN_SECONDS,
  MAX_IMPORT_BYTES,
  MAX_IMPORT_PARTS,
  MAX_PAGE_MESSAGES,
  MAX_SESSIONS_LISTED,
  MAX_TITLE_CHARS,
  PROTOCOL_VERSION,
} from "../../shared/limits.ts"
import { agentNameSchema } from "../tenant/agent-config.ts"
import { getDirectoryStub } from "../auth/user-directory.ts"
import { CLAIMS_HEADER, type Claims, issueToken } from "../auth/verify-token.ts"
import type { ImportPart } from "../transfer/session-import.ts"
import { AGENT_SESSION_PREFIX } from "../agent/ask-agent.ts"
import { SUBPROTOCOL } from "../socket/sockets.ts"
import { type AppEnv, faultToResponse, readBody, getSessionStub } from "../platform/fault-response.ts"
import { assetRoutes } from "./asset-routes.ts"
import { isUpgrade, refuseRevoked, requireScope, requireToken, listSubprotocols } from "./request-guard.ts"
import { mediaSigningRoutes } from "./media-routes.ts"

const titleSchema = v.pipe(
  v.string(),
  v.maxLength(MAX_TITLE_CHARS),
  // What is stored is UTF-8, which has no lone surrogates: the answer must not show what the list will not.
  v.transform((title) => title.toWellFormed()),
)

/** With an id of the client's own, a session that is asked for twice is made once. */
const createSchema = v.object({
  /** Ids of agents' sessions are made by whoever asks them. */
  id: v.optional(
    v.pipe(
      idSchema,
      v.check((id) => !id.startsWith(AGENT_SESSION_PREFIX)),
    ),
  ),
  title: v.optional(titleSchema, ""),
  /** Who answers in it. */
  agent: v.optional(agentNameSchema),
})

/** A title of nothing but white space is none. */
const retitleSchema = v.object({ title: v.pipe(titleSchema, v.trim(), v.nonEmpty()) })

const sendSchema = v.object({
  id: v.optional(idSchema),
  content: v.string(),
  reply_to: v.optional(idSchema),
  attachments: v.optional(v.array(idSchema)),
})

/** Without an exchange: the answer that runs, whichever it is. */
const cancelSchema = v.object({ exchange_id: v.optional(idSchema) })

const decimalSchema = v.pipe(v.string(), v.regex(/^\d{1,15}$/), v.transform(Number))

const pageSchema = v.object({
  limit: v.optional(v.pipe(decimalSchema, v.minValue(1), v.maxValue(MAX_PAGE_MESSAGES)), String(DEFAULT_PAGE_MESSAGES)),
  before: v.optional(v.pipe(decimalSchema, v.minValue(1))),
})

/** How long a token for a producer outside is good, in seconds. */
const externalTokenSchema = v.object({
  seconds: v.optional(
    v.pipe(v.number(), v.integer(), v.minValue(1), v.maxValue(MAX_EXTERNAL_TOKEN_SECONDS)),
    EXTERNAL_TOKEN_SECONDS,
  ),
})

const eventsSchema = v.object({
  after: v.optional(decimalSchema),
  format: v.optional(v.picklist(["jsonl", "markdown"]), "jsonl"),
})

const partNumberSchema = v.pipe(decimalSchema, v.minValue(1), v.maxValue(MAX_IMPORT_PARTS))

const partSchema = v.object({ part: partNumberSchema, of: partNumberSchema })

export const sessionRoutes = new Hono<AppEnv>()

sessionRoutes.use("*", requireToken, requireScope("user"), refuseRevoked)
sessionRoutes.route("/", assetRoutes)
sessionRoutes.route("/", mediaSigningRoutes)

sessionRoutes.post("/", async (context) => {
  const body = await readBody(context, createSchema)
  if (!body.ok) return faultToResponse(body.fault)
  const claims = context.get("claims")
  const { title, agent, id = nanoid() } = body.value
  const made = await context.env.SESSION.getByName(`${claims.tenant}:${id}`).create(claims, id, title, agent)
  if (!made.ok) return faultToResponse(made.fault)
  const created = Date.now()
  await getDirectoryStub(context.env, claims).addSession(id, title, created)
  return context.json({ id, title, created }, 201)
})

sessionRoutes.get("/", async (context) => {
  const list = await getDirectoryStub(context.env, context.get("claims")).listSessions(MAX_SESSIONS_LISTED)
  return context.json({ sessions: list })
})

sessionRoutes.patch("/:id", async (context) => {
  const body = await readBody(context, retitleSchema)
  if (!body.ok) return faultToResponse(body.fault)
  const claims = context.get("claims")
  const id = context.req.param("id")
  const session = getSessionStub(context.env, claims, id)
  if (session === null) return faultToResponse({ reason: "session_unknown" })
  const retitled = await session.renameSession(claims, body.value.title)
  return retitled.ok ? context.json({ id, title: body.value.title }) : faultToResponse(retitled.fault)
})

sessionRoutes.delete("/:id", async (context) => {
  const claims = context.get("claims")
  const id = context.req.param("id")
  const session = getSessionStub(context.env, claims, id)
  if (session === null) return faultToResponse({ reason: "session_unknown" })
  const erased = await session.erase(claims)
  // Last of all, and also where nothing else is left of it: should this end half-way, asking again mends it.
  const wasListed = await getDirectoryStub(context.env, claims).removeSession(id)
  return erased.ok || wasListed ? context.body(null, 204) : faultToResponse(erased.fault)
})

sessionRoutes.get("/:id/conversation/recent", async (context) => {
  const query = v.safeParse(pageSchema, context.req.query(), { abortEarly: true })
  if (!query.success) {
    return faultToResponse({ reason: "field_invalid", field: v.getDotPath(query.issues[0]) ?? "query" })
  }
  const claims = context.get("claims")
  const session = getSessionStub(context.env, claims, context.req.param("id"))
  if (session === null) return faultToResponse({ reason: "session_unknown" })
  const { limit, before } = query.output
  const page = await session.readHistoryPage(claims, before === undefined ? { limit } : { limit, before })
  if (!page.ok) return faultToResponse(page.fault)
  const { json, rowsRead } = page.value
  return context.body(json, 200, {
    "content-type": "application/json",
    "server-timing": `rows;desc="rows read";dur=${rowsRead}`,
  })
})

sessionRoutes.post("/:id/messages", async (context) => {
  const body = await readBody(context, sendSchema)
  if (!body.ok) return faultToResponse(body.fault)
  const claims = context.get("claims")
  const session = getSessionStub(context.env, claims, context.req.param("id"))
  if (session === null) return faultToResponse({ reason: "session_unknown" })
  const { id = nanoid(), ...message } = body.value
  const accepted = await session.send(claims, { id, ...message })
  return accepted.ok ? context.json(accepted.value, 202) : faultToResponse(accepted.fault)
})

sessionRoutes.post("/:id/cancel", async (context) => {
  const body = await readBody(context, cancelSchema)
  if (!body.ok) return faultToResponse(body.fault)
  const claims = context.get("claims")
  const session = getSessionStub(context.env, claims, context.req.param("id"))
  if (session === null) return faultToResponse({ reason: "session_unknown" })
  const cancelled = await session.cancel(claims, body.value.exchange_id ?? null)
  return cancelled.ok ? context.json({ ...cancelled.value, status: "cancelled" }) : faultToResponse(cancelled.fault)
})

sessionRoutes.get("/:id/events", async (context) => {
  const query = v.safeParse(eventsSchema, context.req.query(), { abortEarly: true })
  if (!query.success) {
    return faultToResponse({ reason: "field_invalid", field: v.getDotPath(query.issues[0]) ?? "query" })
  }
  const claims = context.get("claims")
  const id = context.req.param("id")
  const session = getSessionStub(context.env, claims, id)
  if (session === null) return faultToResponse({ reason: "session_unknown" })
  const { after = null, format } = query.output
  const exported = await session.export(claims, after, format)
  if (!exported.ok) return faultToResponse(exported.fault)
  const [type, extension] = format === "jsonl" ? ["application/jsonl", "jsonl"] : ["text/markdown", "md"]
  return context.body(exported.value.lines, 200, {
    "content-type": `${type}; charset=utf-8`,
    "content-disposition": `attachment; filename="${id}.${extension}"`,
  })
})

sessionRoutes.post("/:id/import", async (context) => {
  const claims = context.get("claims")
  const session = getSessionStub(context.env, claims, context.req.param("id"))
  const { body } = context.req.raw
  if (session === null) return faultToResponse({ reason: "session_unknown" })
  const part = parsePart(context.req.query())
  if (!part.ok) return faultToResponse(part.fault)
  // Told beforehand, it need not be read to be refused.
  if (Number(context.req.header("content-length") ?? 0) > MAX_IMPORT_BYTES) {
    return faultToResponse({ reason: "import_too_large", max: MAX_IMPORT_BYTES })
  }
  if (body === null) return faultToResponse({ reason: "import_empty" })
  const imported = await session.import(claims, body, part.value)
  if (!imported.ok) return faultToResponse(imported.fault)
  return context.json({ ...imported.value, ...part.value }, imported.value.state === "done" ? 200 : 202)
})

sessionRoutes.post("/:id/external-token", async (context) => {
  const body = await readBody(context, externalTokenSchema)
  if (!body.ok) return faultToResponse(body.fault)
  const claims = context.get("claims")
  const id = context.req.param("id")
  const session = getSessionStub(context.env, claims, id)
  const checked = session === null ? null : await session.checkOwner(claims)
  if (checked?.ok !== true) return faultToResponse({ reason: "session_unknown" })
  const { tenant, user } = claims
  // With its fraction: a token that was issued just after a revocation is not taken for one issued before.
  const issued = Date.now() / 1000
  const expires = Math.floor(issued) + body.value.seconds
  const scopeClaims = { scope: "external", session: id } as const
  const token = await issueToken(
    { tenant, user, expires, token: nanoid(), issued, ...scopeClaims },
    context.env.JWT_SECRET ?? "",
  )
  return context.json({ token, expires })
})

sessionRoutes.get("/:id/import", async (context) => {
  const claims = context.get("claims")
  const session = getSessionStub(context.env, claims, context.req.param("id"))
  if (session === null) return faultToResponse({ reason: "session_unknown" })
  const progress = await session.importProgress(claims)
  return progress.ok ? context.json(progress.value) : faultToResponse(progress.fault)
})

/** Both numbers or none: without them a file comes whole. */
function parsePart(query: Record<string, string>): Result<ImportPart> {
  const parsed = v.safeParse(partSchema, { part: "1", of: "1", ...query }, { abortEarly: true })
  if (!parsed.success) return fail({ reason: "field_invalid", field: v.getDotPath(parsed.issues[0]) ?? "part" })
  const { part, of } = parsed.output
  return part <= of ? succeed({ part, of }) : fail({ reason: "field_invalid", field: "part" })
}

sessionRoutes.get("/:id/socket", async (context) => {
  if (!isUpgrade(context)) return faultToResponse({ reason: "upgrade_expected" })
  const protocols = listSubprotocols(context)
  const isSupported = protocols.includes(SUBPROTOCOL)
  if (protocols.length > 0 && !isSupported)
    return faultToResponse({ reason: "protocol_unsupported", supported: PROTOCOL_VERSION })
  const claims = context.get("claims")
  const session = getSessionStub(context.env, claims, context.req.param("id"))
  if (session === null) return faultToResponse({ reason: "session_unknown" })
  const response = await session.fetch(createSocketRequest(context.req.raw, claims))
  // It says why it opened none.
  if (response.webSocket === null) return new Response(response.body, response)
  // A client that offered no subprotocol must not be told one.
  const headers: Record<string, string> = isSupported ? { "sec-websocket-protocol": SUBPROTOCOL } : {}
  return new Response(null, { status: 101, webSocket: response.webSocket, headers })
})

/** What the object learns of an upgrade: who asks. Not the token, nor claims that came from outside. */
function createSocketRequest(from: Request, claims: Claims): Request {
  const headers = new Headers(from.headers)
  headers.delete("authorization")
  headers.delete("sec-websocket-protocol")
  headers.set(CLAIMS_HEADER, JSON.stringify(claims))
  const { origin, pathname } = new URL(from.url)
  return new Request(origin + pathname, { headers })
}
