/**
 * report-request.ts: reports each request as a data point with the pattern of its route, and an exception as a log
 * line. Neither contains the path, the query or the body.
 */

import type { Context, MiddlewareHandler } from "hono"
import { faultToResponse } from "../../platform/fault-response.ts"
import { describeError, logError } from "../../platform/log.ts"
import { writeRequestPoint } from "../../telemetry/data-points.ts"
import type { AppEnv } from "../request-body.ts"
import { findAccessRule } from "./find-access-rule.ts"

/**
 * Methods that are reported by name. All others are reported as `OTHER`, because a client can send any word as its
 * method.
 */
const METHODS = new Set(["GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"])

/** Routes that the access table does not list, in the order in which they are compared. */
const OTHER_ROUTES: readonly (readonly [pattern: RegExp, route: string])[] = [
  [/^\/media\/remote$/, "/media/remote"],
  [/^\/media\//, "/media/:id"],
  [/^\/canvas\//, "/canvas/documents/:id"],
  [/^\/auth\/callback\//, "/auth/callback/:provider"],
  [/^\/auth\/connections\//, "/auth/connections/:tenant/:server"],
  [/^\/auth\/(?:login|token|logout|providers)$/, "/auth"],
  [/^\/healthz$/, "/healthz"],
  [/^\/(?:index\.html)?$/, "/"],
  [/^\/admin(?:\.html)?$/, "/admin"],
  [/^\/share(?:\/|$)/, "/share/:share"],
]

/**
 * Returns the pattern of a request's route; `other` if there is no such route. A request with a refused method also has
 * the route `other`.
 */
export async function nameRoute(method: string, path: string): Promise<string> {
  const rule = await findAccessRule(method, path)
  return rule?.path ?? OTHER_ROUTES.find(([pattern]) => pattern.test(path))?.[1] ?? "other"
}

/** Writes one data point for each request, if the deployment has a data set. */
export const reportRequest: MiddlewareHandler<AppEnv> = async (context, next) => {
  const { env, req } = context
  if (env.METRICS === undefined && env.POINTS === undefined) return await next()
  const startMs = Date.now()
  await next()
  const claims = context.get("claims") as { readonly tenant: string } | undefined
  writeRequestPoint(env, {
    tenant: claims?.tenant ?? "",
    method: METHODS.has(req.method) ? req.method : "OTHER",
    route: await nameRoute(req.method, req.path),
    status: context.res.status,
    ms: Date.now() - startMs,
  })
}

/**
 * Creates the response for an exception, which is always a bug. The log says where it was thrown, and the client gets
 * no details.
 */
export async function errorToResponse(error: Error, { req }: Context<AppEnv>): Promise<Response> {
  const route = await nameRoute(req.method, req.path)
  logError("route_error", { method: req.method, route, error: describeError(error) })
  return faultToResponse({ reason: "internal" })
}
