/**
 * require-session.ts: finds and creates users' sessions. Its middleware puts a stub of the session that the path names
 * into the context.
 */

import type { Context, MiddlewareHandler } from "hono"
import * as v from "valibot"
import type { Result } from "../../../shared/fault.ts"
import { idSchema } from "../../../shared/protocol/event.ts"
import type { Env } from "../../env.ts"
import { faultToResponse } from "../../platform/fault-response.ts"
import { FreshCache } from "../../platform/fresh-cache.ts"
import { type Claims, getRole, type SessionOwner } from "../../platform/rpc/claims.ts"
import { directoryStub, sessionStub, userKey } from "../../platform/rpc/object-stubs.ts"
import { createPrivateKey } from "../../platform/session-key.ts"
import type { AppEnv } from "../request-body.ts"

/**
 * Maximum number of session keys that an isolate caches, and how long it caches them, in milliseconds. A key changes
 * only after an erasure.
 */
const MAX_CACHED_KEYS = 5_000
const KEY_FRESH_MS = 10_000

const keyCache = new FreshCache<string>(KEY_FRESH_MS, MAX_CACHED_KEYS)

/**
 * Returns the key of a user's session; the public id if the user has no session with that id. Cost: a request to the
 * session's object; the key is then cached.
 */
export async function findSessionKey(
  env: Env,
  owner: SessionOwner,
  id: string,
  locationHint?: DurableObjectLocationHint,
): Promise<string> {
  const cached = keyCache.get(cacheKey(owner, id), Date.now())
  if (cached !== undefined) return cached
  for (const key of [id, createPrivateKey(id, owner.user)]) {
    if (!(await sessionStub(env, owner.tenant, key, locationHint).checkOwner(owner)).ok) continue
    keyCache.set(cacheKey(owner, id), key, Date.now())
    return key
  }
  return id
}

function cacheKey(owner: SessionOwner, id: string): string {
  return `${userKey(owner)}:${id}`
}

export interface NewOwnSession {
  readonly title: string
  /** Milliseconds since 1970. */
  readonly created: number
  readonly agent?: string | undefined
  readonly locationHint?: DurableObjectLocationHint | undefined
  readonly isTemporary?: boolean
}

/**
 * Creates a user's session, adds it to the user's list, and returns its key. Repeating the call has no effect. If
 * another user has taken the id, the session gets a private key, and the user sees no difference (SPEC AU17).
 *
 * Errors: `agent_unknown`, `sessions_full`, `budget_exhausted`, `token_revoked`; `session_unknown` if other users have
 * taken both keys.
 */
export async function createOwnSession(
  env: Env,
  claims: Claims,
  id: string,
  { title, agent, created, locationHint, isTemporary = false }: NewOwnSession,
): Promise<Result<string>> {
  const { tenant, user } = claims
  const directory = directoryStub(env, claims, locationHint)
  const own = await findSessionKey(env, { tenant, user }, id, locationHint)
  for (const key of [own, createPrivateKey(id, user)]) {
    // The session is listed first, so that an erasure of the user finds it even if this process ends before the session
    // is created (SPEC LV9).
    const holder = { role: getRole(claims), issued: claims.issued }
    const added = await directory.addSession(key, title, created, holder, isTemporary)
    if (!added.ok) return added
    const session = sessionStub(env, tenant, key, locationHint)
    const createdSession = await session.create(claims, key, title, agent, isTemporary)
    if (createdSession.ok) {
      keyCache.set(cacheKey(claims, id), key, Date.now())
      return { ok: true, value: key }
    }
    await directory.removeSession(key)
    // A concurrent request may have created the session.
    if ((await session.checkOwner({ tenant, user })).ok)
      await directory.addSession(key, title, created, holder, isTemporary)
    if (createdSession.fault.reason !== "session_unknown") return createdSession
  }
  return { ok: false, fault: { reason: "session_unknown" } }
}

/**
 * Sets `session` and `sessionKey` from `:id`, in the token's tenant: the user's own session, or a session that its
 * owner shares with the user (`?owner=`). Errors: `session_unknown` if `:id` is not a valid id.
 *
 * The session's object checks whether the session exists and whether the user may use it, in the call that the route
 * makes anyway.
 */
export const requireSession: MiddlewareHandler<AppEnv> = async (context, next) => {
  const id = context.req.param("id")
  if (!v.is(idSchema, id)) return faultToResponse({ reason: "session_unknown" })
  await setSession(context, id)
  return await next()
}

async function setSession(context: Context<AppEnv>, id: string): Promise<void> {
  const { tenant, user, sharedBy = user } = context.get("claims")
  const locationHint = context.get("locationHint")
  const key = await findSessionKey(context.env, { tenant, user: sharedBy }, id, locationHint)
  context.set("session", sessionStub(context.env, tenant, key, locationHint))
  context.set("sessionKey", key)
}

/** Use after `requireSession`. Calls the object to check that the user owns the session. Errors: `session_unknown`. */
export const requireOwnSession: MiddlewareHandler<AppEnv> = async (context, next) => {
  const checked = await context.get("session").checkOwner(context.get("claims"))
  return checked.ok ? await next() : faultToResponse(checked.fault)
}

/**
 * For tokens of scope `external`: sets `session` if the token is for the session in the path. Errors: `scope_denied`.
 */
export const requireTokenSession: MiddlewareHandler<AppEnv> = async (context, next) => {
  const { session } = context.get("claims")
  if (session === undefined || session !== context.req.param("id")) return faultToResponse({ reason: "scope_denied" })
  await setSession(context, session)
  return await next()
}
