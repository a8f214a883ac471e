/** mount-administration.ts: mounts the routes of administration.ts, whose code is loaded with the first request. */

import type { Handler, Hono } from "hono"
import { ACCESS_TABLE } from "./access/access-table.ts"
import type { AppEnv } from "./request-body.ts"

/** The access table lists the routes below these. */
const ADMINISTRATION_PREFIXES = ["/v1/tenants", "/v1/keys", "/v1/token-keys", "/v1/users", "/v1/audit", "/v1/issuers"]

export function mountAdministration(app: Hono<AppEnv>): void {
  for (const { method, path } of ACCESS_TABLE) {
    if (!ADMINISTRATION_PREFIXES.some((prefix) => path === prefix || path.startsWith(`${prefix}/`))) continue
    app.on(method, path, async (context, next) => {
      const handler = await loadHandler(method, path)
      return handler === undefined ? await next() : await handler(context, next)
    })
  }
}

/** Each of these routes has one handler. Hono lists it under its whole path. */
async function loadHandler(method: string, path: string): Promise<Handler<AppEnv> | undefined> {
  const { administration } = await import("./administration.ts")
  const route = administration.routes.find((one) => one.method === method && one.path.replace(/\/$/, "") === path)
  return route?.handler as Handler<AppEnv> | undefined
}
