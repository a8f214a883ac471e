/**
 * register-service-worker.ts: registers the service worker, if the server's HTML says so, and tells it which scripts
 * and styles the page loads. Source: SPEC SW1, SW2, SW7.
 */

import { CACHE_PREFIX, isFilePath, type LoadedFiles } from "../service-worker/loaded-files.ts"

/** Served by worker/routes/service-worker-route.ts. */
const SCRIPT_PATH = "/service-worker.js"

/**
 * The only Trusted Types policy that the page's content security policy allows. The policy can be created only once,
 * and returns only SCRIPT_PATH.
 */
const POLICY_NAME = "cuecard-service-worker"

/** Part of the Trusted Types API. In browsers without it, `register` takes a string. */
interface TrustedTypes {
  createPolicy(name: string, rules: { createScriptURL(): string }): { createScriptURL(url: string): string }
}

/**
 * Registers the worker, or removes it if the server has turned it off. Does nothing in a browser without service
 * workers, or over plain HTTP.
 */
export async function registerServiceWorker(): Promise<void> {
  const { serviceWorker } = navigator as { readonly serviceWorker?: ServiceWorkerContainer }
  const isOn = document.querySelector<HTMLMetaElement>("meta[name=cuecard-service-worker]")?.content === "on"
  const entry = document.querySelector("script[type=module]")?.getAttribute("src")
  if (serviceWorker === undefined || !isFilePath(entry)) return
  if (!isOn) return await removeServiceWorker(serviceWorker)
  try {
    await serviceWorker.register(createScriptUrl(), { updateViaCache: "none" })
    reportLoadedFiles(await serviceWorker.ready, entry)
  } catch {
    // The browser or the user doesn't allow service workers, so the page can be opened only with a network connection.
    // The next visit tries again.
  }
}

/** Removes the worker now, because the browser might not request the script that removes it until much later. */
async function removeServiceWorker(serviceWorker: ServiceWorkerContainer): Promise<void> {
  const registration = await serviceWorker.getRegistration()
  if (registration === undefined) return
  await registration.unregister()
  const names = await caches.keys()
  await Promise.all(names.filter((name) => name.startsWith(CACHE_PREFIX)).map((name) => caches.delete(name)))
}

function createScriptUrl(): string {
  const { trustedTypes } = globalThis as { readonly trustedTypes?: TrustedTypes }
  const policy = trustedTypes?.createPolicy(POLICY_NAME, { createScriptURL: () => SCRIPT_PATH })
  return policy?.createScriptURL("") ?? SCRIPT_PATH
}

/** Reports the files loaded so far, and those loaded later, such as the code for a dialog. */
function reportLoadedFiles(registration: ServiceWorkerRegistration, entry: string): void {
  const observer = new PerformanceObserver((list) => {
    const paths = list.getEntries().map(({ name }) => new URL(name))
    const files = paths.filter(({ origin }) => origin === location.origin).map(({ pathname }) => pathname)
    const message: LoadedFiles = { entry, files: files.filter(isFilePath) }
    if (message.files.length > 0) registration.active?.postMessage(message)
  })
  observer.observe({ type: "resource", buffered: true })
}
