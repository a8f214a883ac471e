/**
 * register-service-worker.ts: registers the service worker, if the server's HTML says so, and tells it which scripts and styles
 * the page loads. Source: SPEC SW1, SW2, SW7.
 */

import { CACHE_PREFIX, isFilePath, type LoadedFiles } from "../service-worker/loaded-files.ts"

/** Worker: worker/routes/service-worker-route.ts. */
const SCRIPT_PATH = "/service-worker.js"

/** The only policy that the page's content policy allows. It can be created once, and returns nothing but this path. */
const POLICY_NAME = "cuecard-service-worker"

/** Part of Trusted Types. `register` takes a string where the browser has none. */
interface TrustedTypes {
  createPolicy(name: string, rules: { createScriptURL(): string }): { createScriptURL(url: string): string }
}

/** Removes the worker where the server has switched it off. Does nothing in a browser that has none, as over plain HTTP. */
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
    // The browser or the user forbids it, so the page needs a network. The next visit tries again.
  }
}

/** The browser asks for the script that removes the worker at a time of its own, so the page doesn't wait for that. */
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

/** Reports the files loaded so far, and those loaded later, such as the code of a dialog. */
function reportLoadedFiles(registration: ServiceWorkerRegistration, entry: string): void {
  const observer = new PerformanceObserver((list) => {
    const paths = list.getEntries().map(({ name }) => new URL(name))
    const files = paths.filter(({ origin }) => origin === location.origin).map(({ pathname }) => pathname)
    const message: LoadedFiles = { entry, files: files.filter(isFilePath) }
    if (message.files.length > 0) registration.active?.postMessage(message)
  })
  observer.observe({ type: "resource", buffered: true })
}
