/**
 * sign-in-routes.ts: the page's sign-in (`/auth`). These routes use a cookie instead of a token, and are meant only for
 * the page.
 *
 * `/providers` is public, and the other GET routes are navigations. The POST routes need the page's own origin and a
 * JSON body, which no other site can send without a preflight request. The routes' implementation is loaded on demand.
 */

import type { Context, MiddlewareHandler } from "hono"
import * as v from "valibot"
import {
  SIGN_IN_ERROR_PATH,
  type SignedOut,
  type SignInError,
  type SignInProviders,
} from "../../shared/protocol/sign-in.ts"
import { recordFailure } from "../auth/record-failure.ts"
import { type Env, getPageTenant } from "../env.ts"
import { checkSignIn, countFailedSignIn } from "../limits/failed-sign-ins.ts"
import { checkRate, createRateFault, isUserWithinRate } from "../limits/rate-limits.ts"
import { faultToResponse } from "../platform/fault-response.ts"
import { errorToResponse } from "./access/report-request.ts"
import { tenantStub } from "../platform/rpc/object-stubs.ts"
import { readCachedConfig } from "../settings/config-cache.ts"
import type { IssuerView } from "../settings/issuer-config.ts"
import { clearCachedRevocations } from "./access/authorize.ts"
import { createActor, readLimitAddress } from "./access/request-actor.ts"
import { type AppEnv, JSON_TYPE, readBody } from "./request-body.ts"
import { createHono } from "./hono-app.ts"

/** Maximum length of a callback's query, in characters. Some providers' codes have 2,000 characters. */
const MAX_CALLBACK_CHARS = 8 * 1024

export const signInRoutes = createHono<AppEnv>().basePath("/auth")

const loadFlow = () => import("../signin/sign-in-flow.ts")
const loadCookies = () => import("../signin/sign-in-cookies.ts")
const loadPageToken = () => import("../signin/page-token.ts")

/**
 * Admits only requests from the page itself. With every POST, a browser sends the origin of the requesting page and
 * whether it is the server's own.
 */
const requireOwnPage: MiddlewareHandler<AppEnv> = async ({ req }, next) => {
  const isOwn = req.header("origin") === new URL(req.url).origin
  const site = req.header("sec-fetch-site") ?? "same-origin"
  if (!isOwn || site !== "same-origin") return faultToResponse({ reason: "origin_denied" })
  if (!JSON_TYPE.test(req.header("content-type") ?? "")) return faultToResponse({ reason: "body_type_refused" })
  return await next()
}

/** Admits only top-level navigations, so that no frame, image or script of another site can begin a sign-in. */
const requireNavigation: MiddlewareHandler<AppEnv> = async ({ req }, next) => {
  const isDocument = (req.header("sec-fetch-dest") ?? "document") === "document"
  return isDocument ? await next() : faultToResponse({ reason: "origin_denied" })
}

/**
 * Limits how often one IP address can cause a call to the tenant's object. Before a sign-in, the user is unknown (SPEC
 * LI7).
 */
signInRoutes.use("*", async (context, next) => {
  const { env, req } = context
  const [tenant, address] = [getPageTenant(env, new URL(req.url)), readLimitAddress(context)]
  if (tenant === null || address === null) return await next()
  // The request is not counted against the tenant's limit, because then anybody could use up that limit. No user id
  // contains a colon.
  const isAdmitted = await isUserWithinRate(env, "read", { tenant, user: `auth:${address}` })
  return isAdmitted ? await next() : faultToResponse(createRateFault("read", "user"))
})

/** Redirects a client back to the page if its IP address has failed too often. */
const limitAttempts: MiddlewareHandler<AppEnv> = async (context, next) => {
  const tenant = getPageTenant(context.env, new URL(context.req.url))
  if (tenant === null) return await next()
  const admitted = checkSignIn({ tenant, address: readLimitAddress(context) }, Date.now())
  return admitted.ok ? await next() : redirectToError("attempts_limited")
}

async function listIssuers(env: Env, tenant: string): Promise<readonly IssuerView[]> {
  return await readCachedConfig(tenant, "issuers", () => tenantStub(env, tenant).listIssuers())
}

signInRoutes.get("/providers", async (context) => {
  const tenant = getPageTenant(context.env, new URL(context.req.url))
  const issuers = tenant === null ? [] : await listIssuers(context.env, tenant)
  const clients = issuers.filter(({ client_id }) => client_id !== null)
  const body: SignInProviders = { tenant, providers: clients.map(({ name, label }) => ({ name, label })) }
  return context.json(body)
})

signInRoutes.get("/login", requireNavigation, limitAttempts, async (context) => {
  const { env, req } = context
  const url = new URL(req.url)
  const tenant = getPageTenant(env, url)
  if (tenant === null) return redirectToError("provider_unknown")
  const provider = req.query("provider") ?? (await findOnlyProvider(context, tenant))
  const { beginSignIn } = await loadFlow()
  const begun = await beginSignIn(env, tenant, provider, req.query("to") ?? "/", url.origin)
  if (!begun.ok) {
    await recordRefusal(context, tenant, begun.error)
    return redirectToError(begun.error)
  }
  const { formatTransactionCookies } = await loadCookies()
  const { location, transaction } = begun.value
  const header = req.header("cookie") ?? null
  return createRedirect(location, await formatTransactionCookies(env.JWT_SECRET ?? "", transaction, header))
})

/** Returns the name of the tenant's only sign-in provider; an empty string unless there is exactly one. */
async function findOnlyProvider({ env }: Context<AppEnv>, tenant: string): Promise<string> {
  const issuers = await listIssuers(env, tenant)
  const clients = issuers.filter(({ client_id }) => client_id !== null)
  return clients.length === 1 ? (clients[0]?.name ?? "") : ""
}

signInRoutes.get("/callback/:provider", requireNavigation, limitAttempts, async (context) => {
  const { env, req } = context
  const url = new URL(req.url)
  const cookies = await loadCookies()
  const [secret, header] = [env.JWT_SECRET ?? "", req.header("cookie") ?? null]
  const state = url.searchParams.get("state") ?? ""
  const transaction = await cookies.readTransactionCookie(secret, header, state, Date.now())
  const isOwn =
    transaction !== null &&
    transaction.tenant === getPageTenant(env, url) &&
    transaction.provider === req.param("provider")
  if (!isOwn || url.search.length > MAX_CALLBACK_CHARS) {
    // A signed-in user without a transaction has returned here through the browser's history, so there is nothing to
    // complete.
    const isSignedIn = transaction === null && (await cookies.readLoginCookie(secret, header)) !== null
    if (isSignedIn) return createRedirect("/")
    await recordRefusal(context, getPageTenant(env, url), "state_invalid")
    return redirectToError("state_invalid")
  }
  const noTransaction = cookies.removeTransactionCookie(transaction)
  const { completeSignIn } = await loadFlow()
  const completed = await completeSignIn(env, url, transaction)
  if (completed.ok) {
    const cookie = await cookies.formatLoginCookie(secret, completed.value)
    return createRedirect(transaction.to, [noTransaction, cookie])
  }
  await recordRefusal(context, transaction.tenant, completed.error, transaction.provider)
  return redirectToError(completed.error, [noTransaction])
})

/** Completes a connection when the user returns from the authorization server of an MCP server. Source: SPEC MP12. */
signInRoutes.get("/connections/:tenant/:server", requireNavigation, async ({ env, req }) => {
  const { completeConnection } = await import("../signin/mcp-connection.ts")
  return await completeConnection(env, req.raw, req.param())
})

signInRoutes.post("/token", requireOwnPage, async (context) => {
  const body = await readBody(context, v.strictObject({}))
  if (!body.ok) return faultToResponse(body.fault)
  const cookies = await loadCookies()
  const { env, req } = context
  const cookie = await cookies.readLoginCookie(env.JWT_SECRET ?? "", req.header("cookie") ?? null)
  if (cookie === null || cookie.tenant !== getPageTenant(env, new URL(req.url)))
    return faultToResponse({ reason: "sign_in_required" })
  const admitted = await checkRate(env, "write", cookie)
  if (!admitted.ok) return faultToResponse(admitted.fault)
  const { issuePageToken } = await loadPageToken()
  const issued = await issuePageToken(env, cookie, createActor(context, "anonymous"))
  if (!issued.ok) {
    const refusal = faultToResponse(issued.fault)
    // A suspended user may be restored, so the sign-in is kept. An erased user's sign-in is kept so that the page can
    // report the erasure (SPEC PG88).
    if (issued.fault.reason === "sign_in_required") refusal.headers.append("set-cookie", cookies.NO_LOGIN_COOKIE)
    return refusal
  }
  context.header("set-cookie", await cookies.formatLoginCookie(env.JWT_SECRET ?? "", issued.value.cookie))
  return context.json(issued.value.body)
})

const logoutSchema = v.strictObject({ everywhere: v.optional(v.boolean(), false) })

signInRoutes.post("/logout", requireOwnPage, async (context) => {
  const body = await readBody(context, logoutSchema)
  if (!body.ok) return faultToResponse(body.fault)
  const cookies = await loadCookies()
  const { env, req } = context
  const cookie = await cookies.readLoginCookie(env.JWT_SECRET ?? "", req.header("cookie") ?? null)
  const { everywhere } = body.value
  const { signOut } = await loadPageToken()
  const actor = createActor(context, "anonymous")
  const ended = cookie === null ? null : await signOut(env, cookie, everywhere, actor, new URL(req.url).origin)
  if (cookie !== null) clearCachedRevocations(cookie)
  const isDone = ended === null ? !everywhere : ended.ok
  const response = isDone
    ? createSignedOut(ended?.ok === true ? ended.value : null)
    : faultToResponse({ reason: "sign_in_required" })
  response.headers.append("set-cookie", cookies.NO_LOGIN_COOKIE)
  return response
})

/** `location`: the URL at which the user also signs out at the provider; null if there is none. */
function createSignedOut(location: string | null): Response {
  return location === null ? new Response(null, { status: 204 }) : Response.json({ location } satisfies SignedOut)
}

signInRoutes.notFound(() => faultToResponse({ reason: "route_unknown" }))
signInRoutes.onError(errorToResponse)

/** Records a failed sign-in. `provider` must be one that the tenant has, because anybody can send an arbitrary name. */
async function recordRefusal(
  context: Context<AppEnv>,
  tenant: string | null,
  code: SignInError,
  provider?: string,
): Promise<void> {
  if (tenant === null) return
  await countFailedSignIn(context.env, { tenant, address: readLimitAddress(context) }, Date.now())
  const event = { action: "sign_in.failed", details: { code }, ...(provider === undefined ? {} : { target: provider }) }
  await recordFailure(context.env, tenant, createActor(context, "anonymous"), event)
}

function redirectToError(error: SignInError, cookies: readonly string[] = []): Response {
  return createRedirect(`${SIGN_IN_ERROR_PATH}${error}`, cookies)
}

function createRedirect(location: string, cookies: readonly string[] = []): Response {
  const headers = new Headers({ location })
  for (const cookie of cookies) headers.append("set-cookie", cookie)
  return new Response(null, { status: 302, headers })
}
