/**
 * service-worker-route.ts: serves the script of the page's service worker. If the deployment turns the worker off, the
 * script removes it from browsers that have registered it. Loaded on demand.
 *
 * Browsers request the script again when a page is opened, so a change to the setting reaches them. Source: SPEC SW1,
 * SW7, SW8.
 */

import type { Context } from "hono"
import type { Env } from "../env.ts"
import type { AppEnv } from "./request-body.ts"

/** Removes a worker and everything that it has stored (client/service-worker/kept-page.ts). */
const REMOVAL_SCRIPT = `addEventListener("install", (event) => event.waitUntil(skipWaiting()))
addEventListener("activate", (event) => event.waitUntil(remove()))
async function remove() {
  for (const name of await caches.keys()) if (name.startsWith("cuecard-page ")) await caches.delete(name)
  await registration.unregister()
}
`

/** The worker may only send requests to its own origin. It can't load other scripts or run strings as code. */
const HEADERS = {
  "content-type": "text/javascript; charset=utf-8",
  "cache-control": "no-cache",
  "content-security-policy":
    "default-src 'none'; connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'; require-trusted-types-for 'script'; trusted-types 'none'",
  "cross-origin-resource-policy": "same-origin",
  "x-content-type-options": "nosniff",
  "referrer-policy": "no-referrer",
}

export async function serveServiceWorker({ env, req }: Context<AppEnv>): Promise<Response> {
  const file = usesServiceWorker(env) ? await env.ASSETS.fetch(new URL(req.url)) : null
  return new Response(file?.ok === true ? file.body : REMOVAL_SCRIPT, { headers: HEADERS })
}

/**
 * Whether the page registers the service worker: by default, only in production, because a worker remains registered
 * for the origin of a local server, on which another project may be served next.
 */
export function usesServiceWorker({
  ENVIRONMENT,
  SERVICE_WORKER,
}: Pick<Env, "ENVIRONMENT" | "SERVICE_WORKER">): boolean {
  return (SERVICE_WORKER ?? (ENVIRONMENT === "production" ? "on" : "off")) === "on"
}
