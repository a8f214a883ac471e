/**
 * page.ts: everything that is no API path is a file of the page.
 *
 * Normally the platform serves these before the Worker runs (wrangler.toml, `run_worker_first`); their headers come
 * from public/_headers either way.
 */

import { Hono } from "hono"
import type { App } from "./answer.ts"

export const page = new Hono<App>().get("*", (context) => context.env.ASSETS.fetch(context.req.raw))
