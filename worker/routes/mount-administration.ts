/** mount-administration.ts: mounts the routes of administration.ts, whose code is loaded with the first request. */

import type { Handler, Hono } from "hono"
import { ACCESS_TABLE } from "./access/access-table.ts"
import type { AppEnv } from "./request-body.ts"

/** The access table lists the routes below these. */
const ADMINISTRATION_PREFIXES = [
  "/v1/tenants",
  "/v1/keys",
  "/v1/token-keys",
  "/v1/users",
  "/v1/audit",
  "/v1/issuers",
  "/v1/tenant",
]

export function mountAdministration(app: Hono<AppEnv>): void {
  for (const { method, path } of ACCESS_TABLE) {
    if (!ADMINISTRATION_PREFIXES.some((prefix) => path === prefix || path.startsWith(`${prefix}/`))) continue
    app.on(method, path, async (context, next) => await (await loadHandler(method, path))(context, next))
  }
}

/** Each of these routes has one handler. Hono lists it under its whole path. */
async function loadHandler(method: string, path: string): Promise<Handler<AppEnv>> {
  const { administration } = await import("./administration.ts")
  const route = administration.routes.find((one) => one.method === method && one.path.replace(/\/$/, "") === path)
  if (route === undefined) throw new Error(`no handler for ${method} ${path}`)
  return route.handler as Handler<AppEnv>
}
