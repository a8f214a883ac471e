/**
 * request-guard.ts: middleware that runs before the routes: it requires a safe deployment and an allowed origin, and
 * sets secure headers.
 */

import type { Context, MiddlewareHandler } from "hono"
import { CANVAS_PATH } from "../../../shared/protocol/asset-url.ts"
import { findDeploymentFault, getCanvasOrigin, parseAllowedOrigins } from "../../env.ts"
import { faultToResponse } from "../../platform/fault-response.ts"
import type { AppEnv } from "../request-body.ts"
import { mayComeFromWidget } from "./embed-access.ts"

/** How long a browser may cache a preflight response, in seconds. Some browsers cap the time at this value. */
const PREFLIGHT_SECONDS = "600"

/** Headers that a page of another origin may read, in addition to those that browsers always expose. */
const EXPOSED_HEADERS = "retry-after, ratelimit, ratelimit-policy, trace-id"

/** Headers of all responses from the Worker itself. The page's files have their own (public/_headers). */
const SECURE_HEADERS: Readonly<Record<string, string>> = {
  "x-content-type-options": "nosniff",
  "referrer-policy": "no-referrer",
  "cache-control": "no-store",
  "content-security-policy": "default-src 'none'; frame-ancestors 'none'",
}

/** An unsafe deployment responds to every request with 503 and the reason. */
export const requireSafeDeployment: MiddlewareHandler<AppEnv> = async (context, next) => {
  const because = findDeploymentFault(context.env, new URL(context.req.url))
  return because === null ? await next() : faultToResponse({ reason: "deployment_unsafe", because })
}

/**
 * Admits the request's own origin and those of ALLOWED_ORIGINS. A request from another site needs a token, and
 * `authorize` checks whether the token's tenant allows the site (SPEC WG10). The site can read a refusal, which
 * contains only an error code. A request without an Origin header is not a call from another site.
 */
export const checkOrigin: MiddlewareHandler<AppEnv> = async (context, next) => {
  const origin = context.req.header("origin")
  if (origin !== undefined && !isAllowedOrigin(origin, context)) {
    if (!mayComeFromWidget(context, origin)) {
      const denied = faultToResponse({ reason: "origin_denied" })
      denied.headers.set("vary", "Origin")
      return denied
    }
    context.set("widgetOrigin", origin)
  }
  if (origin !== undefined && context.req.header("access-control-request-method") !== undefined) {
    return new Response(null, { status: 204, headers: createPreflightHeaders(origin) })
  }
  await next()
  // The headers of an upgrade cannot be changed, and no script can read them.
  if (context.res.status !== 101) {
    context.header("vary", "Origin")
    if (origin !== undefined) {
      context.header("access-control-allow-origin", origin)
      context.header("access-control-expose-headers", EXPOSED_HEADERS)
    }
  }
  return undefined
}

function isAllowedOrigin(origin: string, context: Context<AppEnv>): boolean {
  return origin === new URL(context.req.url).origin || parseAllowedOrigins(context.env).includes(origin)
}

function createPreflightHeaders(origin: string): Record<string, string> {
  return {
    "access-control-allow-origin": origin,
    "access-control-allow-headers": "authorization, content-type",
    "access-control-allow-methods": "GET, POST, PUT, PATCH, DELETE",
    "access-control-max-age": PREFLIGHT_SECONDS,
    vary: "Origin",
  }
}

/** Adds the secure headers, unless the route has set them itself. */
export const setSecureHeaders: MiddlewareHandler<AppEnv> = async (context, next) => {
  await next()
  if (context.res.status === 101) return
  for (const [name, value] of Object.entries(SECURE_HEADERS)) {
    if (!context.res.headers.has(name)) context.header(name, value)
  }
}

/**
 * Runs before all routes. If a canvas origin is configured, canvas documents are served only from that origin, and
 * everything else only from other origins.
 */
export const isolateCanvasOrigin: MiddlewareHandler<AppEnv> = async (context, next) => {
  const canvasOrigin = getCanvasOrigin(context.env)
  const { origin, pathname } = new URL(context.req.url)
  const isDocument = pathname.startsWith(CANVAS_PATH)
  const isSeparate = canvasOrigin === null || isDocument === (origin === canvasOrigin)
  return isSeparate ? await next() : faultToResponse({ reason: "route_unknown" })
}
