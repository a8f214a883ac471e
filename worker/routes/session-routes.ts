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
import { directoryOf } from "../auth/user-directory.ts"
import { CLAIMS_HEADER, type Claims, issueToken } from "../auth/verify-token.ts"
import type { PartOf } from "../transfer/session-import.ts"
import { AGENT_SESSION } from "../agent/ask-agent.ts"
import { SUBPROTOCOL } from "../socket/sockets.ts"
import { type App, answerFault, readBody, sessionOf } from "../platform/fault-response.ts"
import { assets } from "./asset-routes.ts"
import { isUpgrade, refuseRevoked, requireScope, requireToken, spokenProtocols } from "./request-guard.ts"
import { signing } from "./media-routes.ts"

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
      v.check((id) => !id.startsWith(AGENT_SESSION)),
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

const decimal = v.pipe(v.string(), v.regex(/^\d{1,15}$/), v.transform(Number))

const pageSchema = v.object({
  limit: v.optional(v.pipe(decimal, v.minValue(1), v.maxValue(MAX_PAGE_MESSAGES)), String(DEFAULT_PAGE_MESSAGES)),
  before: v.optional(v.pipe(decimal, v.minValue(1))),
})

/** How long a token for a producer outside is good, in seconds. */
const externalSchema = v.object({
  seconds: v.optional(
    v.pipe(v.number(), v.integer(), v.minValue(1), v.maxValue(MAX_EXTERNAL_TOKEN_SECONDS)),
    EXTERNAL_TOKEN_SECONDS,
  ),
})

const eventsSchema = v.object({
  after: v.optional(decimal),
  format: v.optional(v.picklist(["jsonl", "markdown"]), "jsonl"),
})

const partNumber = v.pipe(decimal, v.minValue(1), v.maxValue(MAX_IMPORT_PARTS))

const partSchema = v.object({ part: partNumber, of: partNumber })

export const sessions = new Hono<App>()

sessions.use("*", requireToken, requireScope("user"), refuseRevoked)
sessions.route("/", assets)
sessions.route("/", signing)

sessions.post("/", async (context) => {
  const body = await readBody(context, createSchema)
  if (!body.ok) return answerFault(body.fault)
  const claims = context.get("claims")
  const { title, agent, id = nanoid() } = body.value
  const made = await context.env.SESSION.getByName(`${claims.tenant}:${id}`).create(claims, id, title, agent)
  if (!made.ok) return answerFault(made.fault)
  const created = Date.now()
  await directoryOf(context.env, claims).add(id, title, created)
  return context.json({ id, title, created }, 201)
})

sessions.get("/", async (context) => {
  const list = await directoryOf(context.env, context.get("claims")).list(MAX_SESSIONS_LISTED)
  return context.json({ sessions: list })
})

sessions.patch("/:id", async (context) => {
  const body = await readBody(context, retitleSchema)
  if (!body.ok) return answerFault(body.fault)
  const claims = context.get("claims")
  const id = context.req.param("id")
  const session = sessionOf(context.env, claims, id)
  if (session === null) return answerFault({ reason: "session_unknown" })
  const retitled = await session.retitle(claims, body.value.title)
  return retitled.ok ? context.json({ id, title: body.value.title }) : answerFault(retitled.fault)
})

sessions.delete("/:id", async (context) => {
  const claims = context.get("claims")
  const id = context.req.param("id")
  const session = sessionOf(context.env, claims, id)
  if (session === null) return answerFault({ reason: "session_unknown" })
  const erased = await session.erase(claims)
  // Last of all, and also where nothing else is left of it: should this end half-way, asking again mends it.
  const wasListed = await directoryOf(context.env, claims).remove(id)
  return erased.ok || wasListed ? context.body(null, 204) : answerFault(erased.fault)
})

sessions.get("/:id/conversation/recent", async (context) => {
  const query = v.safeParse(pageSchema, context.req.query(), { abortEarly: true })
  if (!query.success) {
    return answerFault({ reason: "field_invalid", field: v.getDotPath(query.issues[0]) ?? "query" })
  }
  const claims = context.get("claims")
  const session = sessionOf(context.env, claims, context.req.param("id"))
  if (session === null) return answerFault({ reason: "session_unknown" })
  const { limit, before } = query.output
  const page = await session.recent(claims, before === undefined ? { limit } : { limit, before })
  if (!page.ok) return answerFault(page.fault)
  const { json, rowsRead } = page.value
  return context.body(json, 200, {
    "content-type": "application/json",
    "server-timing": `rows;desc="rows read";dur=${rowsRead}`,
  })
})

sessions.post("/:id/messages", async (context) => {
  const body = await readBody(context, sendSchema)
  if (!body.ok) return answerFault(body.fault)
  const claims = context.get("claims")
  const session = sessionOf(context.env, claims, context.req.param("id"))
  if (session === null) return answerFault({ reason: "session_unknown" })
  const { id = nanoid(), ...said } = body.value
  const accepted = await session.send(claims, { id, ...said })
  return accepted.ok ? context.json(accepted.value, 202) : answerFault(accepted.fault)
})

sessions.post("/:id/cancel", async (context) => {
  const body = await readBody(context, cancelSchema)
  if (!body.ok) return answerFault(body.fault)
  const claims = context.get("claims")
  const session = sessionOf(context.env, claims, context.req.param("id"))
  if (session === null) return answerFault({ reason: "session_unknown" })
  const cancelled = await session.cancel(claims, body.value.exchange_id ?? null)
  return cancelled.ok ? context.json({ ...cancelled.value, status: "cancelled" }) : answerFault(cancelled.fault)
})

sessions.get("/:id/events", async (context) => {
  const query = v.safeParse(eventsSchema, context.req.query(), { abortEarly: true })
  if (!query.success) {
    return answerFault({ reason: "field_invalid", field: v.getDotPath(query.issues[0]) ?? "query" })
  }
  const claims = context.get("claims")
  const id = context.req.param("id")
  const session = sessionOf(context.env, claims, id)
  if (session === null) return answerFault({ reason: "session_unknown" })
  const { after = null, format } = query.output
  const exported = await session.export(claims, after, format)
  if (!exported.ok) return answerFault(exported.fault)
  const [type, end] = format === "jsonl" ? ["application/jsonl", "jsonl"] : ["text/markdown", "md"]
  return context.body(exported.value.lines, 200, {
    "content-type": `${type}; charset=utf-8`,
    "content-disposition": `attachment; filename="${id}.${end}"`,
  })
})

sessions.post("/:id/import", async (context) => {
  const claims = context.get("claims")
  const session = sessionOf(context.env, claims, context.req.param("id"))
  const { body } = context.req.raw
  if (session === null) return answerFault({ reason: "session_unknown" })
  const place = partIn(context.req.query())
  if (!place.ok) return answerFault(place.fault)
  // Told beforehand, it need not be read to be refused.
  if (Number(context.req.header("content-length") ?? 0) > MAX_IMPORT_BYTES) {
    return answerFault({ reason: "import_too_large", max: MAX_IMPORT_BYTES })
  }
  if (body === null) return answerFault({ reason: "import_empty" })
  const imported = await session.import(claims, body, place.value)
  if (!imported.ok) return answerFault(imported.fault)
  return context.json({ ...imported.value, ...place.value }, imported.value.state === "done" ? 200 : 202)
})

sessions.post("/:id/external-token", async (context) => {
  const body = await readBody(context, externalSchema)
  if (!body.ok) return answerFault(body.fault)
  const claims = context.get("claims")
  const id = context.req.param("id")
  const session = sessionOf(context.env, claims, id)
  const known = session === null ? null : await session.check(claims)
  if (known?.ok !== true) return answerFault({ reason: "session_unknown" })
  const { tenant, user } = claims
  // With its fraction: a token that was issued just after a revocation is not taken for one issued before.
  const issued = Date.now() / 1000
  const expires = Math.floor(issued) + body.value.seconds
  const bounds = { scope: "external", session: id } as const
  const token = await issueToken(
    { tenant, user, expires, token: nanoid(), issued, ...bounds },
    context.env.JWT_SECRET ?? "",
  )
  return context.json({ token, expires })
})

sessions.get("/:id/import", async (context) => {
  const claims = context.get("claims")
  const session = sessionOf(context.env, claims, context.req.param("id"))
  if (session === null) return answerFault({ reason: "session_unknown" })
  const progress = await session.importProgress(claims)
  return progress.ok ? context.json(progress.value) : answerFault(progress.fault)
})

/** Both numbers or none: without them a file comes whole. */
function partIn(query: Record<string, string>): Result<PartOf> {
  const parsed = v.safeParse(partSchema, { part: "1", of: "1", ...query }, { abortEarly: true })
  if (!parsed.success) return fail({ reason: "field_invalid", field: v.getDotPath(parsed.issues[0]) ?? "part" })
  const { part, of } = parsed.output
  return part <= of ? succeed({ part, of }) : fail({ reason: "field_invalid", field: "part" })
}

sessions.get("/:id/socket", async (context) => {
  if (!isUpgrade(context)) return answerFault({ reason: "upgrade_expected" })
  const spoken = spokenProtocols(context)
  const speaksOurs = spoken.includes(SUBPROTOCOL)
  if (spoken.length > 0 && !speaksOurs) return answerFault({ reason: "protocol_unsupported", speaks: PROTOCOL_VERSION })
  const claims = context.get("claims")
  const session = sessionOf(context.env, claims, context.req.param("id"))
  if (session === null) return answerFault({ reason: "session_unknown" })
  const answer = await session.fetch(socketRequest(context.req.raw, claims))
  // It says why it opened none.
  if (answer.webSocket === null) return new Response(answer.body, answer)
  // A client that offered no subprotocol must not be told one.
  const headers: Record<string, string> = speaksOurs ? { "sec-websocket-protocol": SUBPROTOCOL } : {}
  return new Response(null, { status: 101, webSocket: answer.webSocket, headers })
})

/** What the object learns of an upgrade: who asks. Not the token, nor claims that came from outside. */
function socketRequest(from: Request, claims: Claims): Request {
  const headers = new Headers(from.headers)
  headers.delete("authorization")
  headers.delete("sec-websocket-protocol")
  headers.set(CLAIMS_HEADER, JSON.stringify(claims))
  const { origin, pathname } = new URL(from.url)
  return new Request(origin + pathname, { headers })
}
