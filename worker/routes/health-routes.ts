/** health-routes.ts: reports whether this deployment may serve. Needs no token. */

import type { AppEnv } from "./request-body.ts"
import { createHono } from "./hono-app.ts"

/** A request to an unsafe deployment never reaches this route, because `requireSafeDeployment` responds with 503. */
export const healthRoutes = createHono<AppEnv>().get("/", (context) => context.json({ ok: true }))
