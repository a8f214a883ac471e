/** health.ts: whether this deployment may serve. Needs no token. */

import { Hono } from "hono"
import type { App } from "../platform/fault-response.ts"

export const health = new Hono<App>().get("/", (context) => context.json({ ok: true }))
