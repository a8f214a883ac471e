/**
 * kept-pages.ts: creates other versions of the built page, and reads what a browser stores for a page, for the service
 * worker tests.
 */

import { cpSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import type { Page } from "playwright-core"
import { expect } from "vitest"
import { readBuild } from "../../testing/built-worker.ts"
import { SOON } from "./sign-in-pages.ts"

const folders: string[] = []

/** Deletes the folders that this module has created. */
export function deletePages(): void {
  for (const folder of folders) rmSync(folder, { recursive: true, force: true })
}

function copyPage(): string {
  const folder = mkdtempSync(join(tmpdir(), "cuecard-page-"))
  folders.push(folder)
  cpSync(readBuild().page, folder, { recursive: true })
  return folder
}

/**
 * Creates a copy of the page whose worker receives all requests, as in browsers without static routing. Returns its
 * folder.
 */
export function createUnroutedPage(): string {
  const folder = copyPage()
  const script = join(folder, "service-worker.js")
  const text = readFileSync(script, "utf8")
  const unrouted = text.replace("addRoutes?.(", "addNoRoutes?.(")
  expect(unrouted).not.toBe(text)
  writeFileSync(script, unrouted)
  return folder
}

/** Creates another version of the page, with other file names and HTML that says that it is new. Returns its folder. */
export function createNextVersion(): string {
  const folder = copyPage()
  const assets = join(folder, "assets")
  const names = new Set(readdirSync(assets))
  const rename = (name: string): string =>
    names.has(name) ? name.replace(/[\w-]{8}(?=\.\w+$)/, (hash) => hash.split("").reverse().join("")) : name
  const renameAll = (text: string): string => text.replaceAll(/[\w-]+\.(?:js|css)/g, rename)
  for (const name of names) {
    const text = readFileSync(join(assets, name), "utf8")
    rmSync(join(assets, name))
    writeFileSync(join(assets, rename(name)), renameAll(text))
  }
  const html = join(folder, "index.html")
  writeFileSync(html, renameAll(readFileSync(html, "utf8")).replace("<body>", '<body data-version="next">'))
  return folder
}

/** Returns the URLs that the browser stores for the page, by the name of their cache. */
export function listKept(page: Page): Promise<Readonly<Record<string, readonly string[]>>> {
  return page.evaluate(async () => {
    const entries = (await caches.keys()).map(async (name) => {
      const requests = await (await caches.open(name)).keys()
      return [name, requests.map(({ url }) => url.slice(location.origin.length))] as const
    })
    return Object.fromEntries(await Promise.all(entries))
  })
}

/** Waits until the page's HTML and all scripts and styles that it has loaded are stored. */
export async function untilKept(page: Page): Promise<void> {
  const findMissing = (): Promise<readonly string[]> =>
    page.evaluate(async () => {
      const paths = performance.getEntriesByType("resource").map(({ name }) => new URL(name).pathname)
      const needed = ["/", ...paths.filter((path) => path.startsWith("/assets/"))]
      const found = await Promise.all(needed.map((path) => caches.match(path)))
      return needed.filter((_, at) => found[at] === undefined)
    })
  // Waits for the last code that the page loads without a user action.
  await page.waitForFunction(
    () => performance.getEntriesByType("resource").some(({ name }) => name.includes("/register-service-worker-")),
    null,
    SOON,
  )
  await expect.poll(findMissing, SOON).toEqual([])
}

/** Returns the number of registered workers. */
export function countWorkers(page: Page): Promise<number> {
  return page.evaluate(async () => (await navigator.serviceWorker.getRegistrations()).length)
}
