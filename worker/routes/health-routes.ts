/** health-routes.ts: reports whether this deployment may serve. Needs no token. */

import { Hono } from "hono"
import type { AppEnv } from "./request-body.ts"

/** A request to an unsafe deployment never reaches this route, because `requireSafeDeployment` responds with 503. */
export const healthRoutes = new Hono<AppEnv>().get("/", (context) => context.json({ ok: true }))
