/** health.ts: whether this deployment may serve. Needs no token. */

import { Hono } from "hono"
import type { AppEnv } from "../platform/fault-response.ts"

export const healthRoutes = new Hono<AppEnv>().get("/", (context) => context.json({ ok: true }))
