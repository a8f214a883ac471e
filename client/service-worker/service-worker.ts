/**
 * service-worker.ts: the chat page's service worker, which lets the page open even without a network connection.
 *
 * The worker answers only requests for the page at `/`, from the network first, and for scripts and styles whose names
 * contain a hash, from the cache first. The worker never receives tokens, API responses or media, and makes no
 * decisions: the page shows that it is offline and keeps unsent messages. A click on a notification opens its
 * conversation. Source: SPEC SW1–SW9, WR34.
 */

import { keepPage, readKeptFile, readKeptPage, refreshKeptPage } from "./kept-page.ts"
import { type LoadedFiles, parseLoadedFiles } from "./loaded-files.ts"
import { openNotified } from "./open-notified.ts"

declare const self: ServiceWorkerGlobalScope

/** How long to wait for the page from the network before the cached page is shown, in milliseconds. */
const NETWORK_TIMEOUT_MS = 3_000

/** In browsers that support static routing, only requests for these paths start the worker. */
const HANDLED_PATHS = { or: [{ urlPattern: { pathname: "/" } }, { urlPattern: { pathname: "/assets/*" } }] }

/** Part of the static routing API, which has no types yet. */
interface RoutedInstallEvent extends ExtendableEvent {
  addRoutes?(route: { readonly condition: object; readonly source: "network" }): Promise<void>
}

self.addEventListener("install", (event: RoutedInstallEvent) => {
  // A new worker can replace the old one at once, because neither has any state.
  event.waitUntil(self.skipWaiting())
  event.addRoutes?.({ condition: { not: HANDLED_PATHS }, source: "network" }).catch(() => {})
})

self.addEventListener("fetch", (event) => {
  const { request } = event
  const { origin, pathname } = new URL(request.url)
  if (request.method !== "GET" || origin !== self.location.origin) return
  if (request.mode === "navigate") {
    if (pathname === "/") event.respondWith(openPage(event))
  } else if (pathname.startsWith("/assets/")) event.respondWith(loadFile(request))
})

self.addEventListener("message", (event) => {
  const loaded = parseLoadedFiles(event.data)
  if (loaded !== null) event.waitUntil(keepInTurn(loaded))
})

self.addEventListener("notificationclick", (event) => {
  event.notification.close()
  event.waitUntil(openNotified(self.clients, self.location.origin, event.notification.data))
})

/** Returns the page from the network, or the cached page if the network fails or takes too long. */
async function openPage(event: FetchEvent): Promise<Response> {
  const fetched = fetchPage(event)
  // The response is cached even if it arrives too late to be shown.
  event.waitUntil(fetched.catch(() => {}))
  const kept = await readKeptPage()
  if (kept === undefined) return await fetched
  const timeout = new Promise<Response>((resolve) => setTimeout(() => resolve(kept), NETWORK_TIMEOUT_MS))
  return await Promise.race([fetched.catch(() => kept), timeout])
}

async function fetchPage(event: FetchEvent): Promise<Response> {
  const response = await fetch(event.request)
  event.waitUntil(refreshKeptPage(response.clone()).catch(() => {}))
  return response
}

async function loadFile(request: Request): Promise<Response> {
  return (await readKeptFile(request)) ?? (await fetch(request))
}

let lastKept: Promise<void> = Promise.resolve()

/**
 * Caches the files once all earlier calls have finished, because two tabs can have different versions. A failure, such
 * as a full storage, leaves the cache as it is; the next message triggers another attempt.
 */
function keepInTurn(loaded: LoadedFiles): Promise<void> {
  lastKept = lastKept.then(() => keepPage(loaded)).catch(() => {})
  return lastKept
}
