/** health-routes.ts: reports whether this deployment may serve. Needs no token. */

import { Hono } from "hono"
import type { AppEnv } from "./request-body.ts"

/** An unsafe deployment never reaches this route: `requireSafeDeployment` answers with 503. */
export const healthRoutes = new Hono<AppEnv>().get("/", (context) => context.json({ ok: true }))
