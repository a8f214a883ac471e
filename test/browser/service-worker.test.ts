/** service-worker.test.ts: the page without a network, after a deploy and with the worker switched off, in a real Chromium. */

import { cpSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import process from "node:process"
import { type Cuecard, startCuecard } from "cuecard/testing"
import type { BrowserContext, BrowserContextOptions, Page } from "playwright-core"
import { afterAll, expect, test } from "vitest"
import { readBuild } from "../../testing/built-worker.ts"
import { usedOnce } from "../support/reused-contexts.ts"
import { askQuestion, DESK, FIELD, PHONE, sessionIn, untilSettled, untilStill } from "./page.ts"
import {
  openTab,
  openVisitor,
  SECRET,
  signIn,
  SOON,
  TENANT,
  untilSignedOut,
  useSignIn,
  type Visitor,
} from "./sign-in-pages.ts"

const OUT = process.env["SHOTS"] ?? "test/browser/out"

const setup = useSignIn({ SERVICE_WORKER: "on", SCRIPTED_DELAY_MS: "0" })

/** The server that replaces the one of `setup`, at the same address and with the same state. */
let successor: Cuecard | null = null
const folders: string[] = []

afterAll(async () => {
  await successor?.close()
  for (const folder of folders) rmSync(folder, { recursive: true, force: true })
})

const server = (): Cuecard => successor ?? setup.cuecard

/** Replaces the server, as a deploy does. `page` is the folder of its page. */
async function replaceServer(vars: Readonly<Record<string, string>>, page = readBuild().page): Promise<void> {
  await server().kill()
  const port = Number(new URL(setup.cuecard.url).port)
  const deployment = { AUTH: "jwt", PAGE_TENANT: TENANT, JWT_SECRET: SECRET, SCRIPTED_DELAY_MS: "0", ...vars }
  const build = { ...readBuild(), page }
  successor = await startCuecard({ port, persist: setup.cuecard.persist, vars: deployment, onLog: console.log }, build)
}

/** Returns a folder with another version of the page: its entry has another name, and its HTML says that it is new. */
function createNextVersion(): string {
  const folder = mkdtempSync(join(tmpdir(), "cuecard-next-version-"))
  folders.push(folder)
  cpSync(readBuild().page, folder, { recursive: true })
  const html = readFileSync(join(folder, "index.html"), "utf8")
  const [, entry = "", hash = ""] = /\/assets\/(index-([\w-]{8})\.js)/.exec(html) ?? []
  const next = entry.replace(hash, hash.split("").reverse().join(""))
  const assets = join(folder, "assets")
  cpSync(join(assets, entry), join(assets, next))
  rmSync(join(assets, entry))
  const files = readdirSync(assets).map((name) => join(assets, name))
  for (const file of [...files.filter((name) => name.endsWith(".js")), join(folder, "index.html")]) {
    const text = readFileSync(file, "utf8")
    if (text.includes(entry)) writeFileSync(file, text.replaceAll(entry, next))
  }
  writeFileSync(
    join(folder, "index.html"),
    readFileSync(join(folder, "index.html"), "utf8").replace("<body>", '<body data-version="next">'),
  )
  return folder
}

/** Opens the page in a new context, signed in. */
async function openSignedIn(options: BrowserContextOptions = {}): Promise<Visitor> {
  const visitor = await openVisitor({ ...setup, cuecard: server() }, "/", usedOnce({ viewport: DESK, ...options }))
  await signIn(visitor.page, "ada")
  return visitor
}

/** Returns the addresses that the browser keeps for the page, by the name of their cache. */
function listKept(page: Page): Promise<Readonly<Record<string, readonly string[]>>> {
  return page.evaluate(async () => {
    const entries = (await caches.keys()).map(async (name) => {
      const requests = await (await caches.open(name)).keys()
      return [name, requests.map(({ url }) => url.slice(location.origin.length))] as const
    })
    return Object.fromEntries(await Promise.all(entries))
  })
}

/** Waits until all scripts and styles that the page has loaded are kept, with its HTML. */
async function untilKept(page: Page): Promise<void> {
  await page.waitForFunction(
    async () => {
      const needed = performance
        .getEntriesByType("resource")
        .map(({ name }) => new URL(name).pathname)
        .filter((path) => path.startsWith("/assets/"))
      const missing = [...needed, "/"].map(async (path) => (await caches.match(path)) === undefined)
      return needed.length > 8 && !(await Promise.all(missing)).includes(true)
    },
    null,
    SOON,
  )
}

async function shoot(page: Page, name: string): Promise<void> {
  await untilStill(page)
  await page.screenshot({ path: `${OUT}/offline-${name}.png` })
}

async function closeContext(context: BrowserContext): Promise<void> {
  await context.setOffline(false)
  await context.close()
}

test("[SW1] [SW2] [SW3] offline, the page opens and says so; a message written then is sent later", async () => {
  const { context, page, errors } = await openSignedIn()
  await askQuestion(page, "/say hello")
  await untilSettled(page)
  const session = sessionIn(page)
  await untilKept(page)
  await context.setOffline(true)
  await page.goto(`${server().url}/`)
  await page.waitForSelector(".link:has-text('offline')", SOON)
  await page.waitForSelector(".welcome", SOON)
  await shoot(page, "start-desktop")

  await page.goto(`${server().url}/#/s/${session}`)
  await page.reload()
  await page.waitForSelector(`.note.loading:has-text("when you're back online")`, SOON)
  await askQuestion(page, "/say written offline")
  await page.waitForSelector("article:has-text('written offline')", SOON)
  await shoot(page, "conversation-desktop")
  await page.reload()
  await page.waitForSelector("article:has-text('written offline')", SOON)
  await context.setOffline(false)
  await page.waitForSelector("article[data-role=assistant]:has-text('hello')", SOON)
  await untilSettled(page, 2)
  expect(await page.locator("article[data-role=assistant]").allTextContents()).toEqual([
    expect.stringContaining("hello"),
    expect.stringContaining("written offline"),
  ])
  expect(errors).toEqual([])
  await closeContext(context)
})
