/**
 * service-worker.test.ts: the page without a network, after a deployment and with the service worker switched off, in a
 * real Chromium.
 */

import process from "node:process"
import { type Cuecard, startCuecard } from "cuecard/testing"
import type { BrowserContext, BrowserContextOptions, Page } from "playwright-core"
import { afterAll, expect, test } from "vitest"
import { testInFull } from "../support/seeded.ts"
import { readBuild } from "../../testing/built-worker.ts"
import { usedOnce } from "../support/reused-contexts.ts"
import { askQuestion, DESKTOP, FIELD, PHONE, sessionIn, untilSettled, untilStill } from "./page.ts"
import { countWorkers, createNextVersion, createUnroutedPage, deletePages, listKept, untilKept } from "./kept-pages.ts"
import {
  enterLogin,
  giveConsent,
  openVisitor,
  SECRET,
  SOON,
  TENANT,
  untilSignedOut,
  useSignIn,
  type Visitor,
} from "./sign-in-pages.ts"

const OUT = process.env["SHOTS"] ?? "test/browser/out"

const setup = useSignIn({ SERVICE_WORKER: "on", SCRIPTED_DELAY_MS: "0" })

/** The server that replaces the server of `setup`, at the same URL and with the same state. */
let successor: Cuecard | null = null

afterAll(async () => {
  await successor?.close()
  deletePages()
})

const server = (): Cuecard => successor ?? setup.cuecard

/** Replaces the server, as a deployment does. `page` is the folder of the new server's page. */
async function replaceServer(vars: Readonly<Record<string, string>>, page?: string): Promise<void> {
  await server().kill()
  await startSuccessor(vars, page)
}

async function startSuccessor(vars: Readonly<Record<string, string>>, page = readBuild().page): Promise<void> {
  const port = Number(new URL(setup.cuecard.url).port)
  const deployment = { AUTH: "jwt", PAGE_TENANT: TENANT, JWT_SECRET: SECRET, SCRIPTED_DELAY_MS: "0", ...vars }
  const build = { ...readBuild(), page }
  successor = await startCuecard({ port, persist: setup.cuecard.persist, vars: deployment, onLog: console.log }, build)
}

/** Opens the page as a signed-in user in a new context. */
async function openSignedIn(options: BrowserContextOptions = {}): Promise<Visitor> {
  const visitor = await openVisitor({ ...setup, cuecard: server() }, "/", usedOnce({ viewport: DESKTOP, ...options }))
  const { page } = visitor
  await page.click(".sign-in a", SOON)
  await page.waitForSelector("input[name=login]", SOON)
  await enterLogin(page, "ada")
  await giveConsent(page)
  await page.waitForSelector(".account-button", { state: "attached", ...SOON })
  return visitor
}

async function shoot(page: Page, name: string): Promise<void> {
  await untilStill(page)
  await page.screenshot({ path: `${OUT}/offline-${name}.png` })
}

async function closeContext(context: BrowserContext): Promise<void> {
  await context.setOffline(false)
  await context.close()
}

test("[SW1] [SW2] [SW3] the page opens offline and says so; a message written offline is sent later", async () => {
  const { context, page, errors } = await openSignedIn()
  await askQuestion(page, "/say hello")
  await untilSettled(page)
  const session = sessionIn(page)
  await untilKept(page)
  const policy = await page.evaluate(async () => (await fetch("/")).headers.get("content-security-policy"))
  await context.setOffline(true)
  const opened = await page.goto(`${server().url}/`)
  expect(opened?.headers()["content-security-policy"]).toBe(policy)
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

testInFull("[SW1] [SW2] a conversation can begin offline, in another language, on a phone", async () => {
  const { context, page, errors } = await openSignedIn({
    viewport: PHONE,
    colorScheme: "dark",
    locale: "ar",
    bypassCSP: true,
  })
  await untilKept(page)
  await context.setOffline(true)
  await page.reload()
  await page.waitForSelector(".link", SOON)
  expect(await page.evaluate(() => document.documentElement.lang)).toBe("ar")
  await expect.poll(() => page.textContent(".link"), SOON).toMatch(/[\u0600-\u06ff]/)
  await shoot(page, "start-phone")
  await page.fill(FIELD, "/say began offline")
  await page.press(FIELD, "Enter")
  await page.waitForSelector("article:has-text('began offline')", SOON)
  await context.setOffline(false)
  await untilSettled(page)
  expect(await page.textContent("article[data-role=assistant]")).toContain("began offline")
  expect(errors).toEqual([])
  await closeContext(context)
})

test("[SW3] only the page and its scripts and styles are stored, both before and after a sign-out", async () => {
  const { context, page } = await openSignedIn()
  await askQuestion(page, "Draw a chart of apples 3, pears 5")
  await untilSettled(page)
  await askQuestion(page, "/say a secret answer")
  await untilSettled(page, 2)
  await page.click(".account-button")
  await page.waitForSelector(".account-panel")
  await untilKept(page)
  const kept = await listKept(page)
  expect(Object.keys(kept)).toEqual([expect.stringMatching(/^cuecard-page \/assets\/index-[\w-]{8}\.js$/)])
  const paths = Object.values(kept).flat()
  expect(paths.filter((path) => path !== "/" && !/^\/assets\/[\w.-]+-[\w-]{8}\.(?:js|css)$/.test(path))).toEqual([])
  expect(paths.length).toBeLessThan(60)
  const html = await page.evaluate(async () => (await caches.match("/"))?.text())
  const { text } = await page.evaluate(async () => ({ text: await (await fetch("/")).text() }))
  expect(html).toBe(text)
  expect(html).not.toContain("secret")
  await page.click(".account-panel >> text='Sign out'")
  await untilSignedOut(page)
  // After a sign-out, the page shows none of the user's data offline.
  await context.setOffline(true)
  await page.reload()
  await page.waitForSelector(".welcome", SOON)
  expect(await page.textContent("body")).not.toContain("Ada")
  await closeContext(context)
})

/** Paths for which the worker must not answer requests. */
const OTHER_PATHS = [
  "/admin",
  "/share/none",
  "/embed",
  "/healthz",
  "/auth/login",
  "/canvas/documents/none/index.html",
  "/media/none",
]

/**
 * Opens a conversation and OTHER_PATHS. Returns for each requested path whether the worker has answered the request.
 */
async function listAnswered(page: Page): Promise<ReadonlyMap<string, boolean>> {
  const answered = new Map<string, boolean>()
  page.on("response", (response) => {
    answered.set(new URL(response.url()).pathname.replace(/^(\/assets\/).*/, "$1"), response.fromServiceWorker())
  })
  await page.reload()
  await untilSettled(page)
  for (const path of OTHER_PATHS) await page.goto(`${server().url}${path}`)
  return answered
}

function expectOnlyPageAnswered(answered: ReadonlyMap<string, boolean>): void {
  const others = [...answered].filter(([path]) => path !== "/" && path !== "/assets/")
  expect(answered.get("/")).toBe(true)
  expect(others.map(([path]) => path)).toEqual(expect.arrayContaining(["/admin", "/auth/token", "/v1/sessions"]))
  expect(others.filter(([, isFromWorker]) => isFromWorker)).toEqual([])
}

test("[SW6] the worker answers requests for the page and its files, but no others", async () => {
  const { context, page } = await openSignedIn()
  await askQuestion(page, "/say hello")
  await untilSettled(page)
  await untilKept(page)
  await page.reload()
  await untilSettled(page)
  const sources = await page.evaluate(() =>
    performance
      .getEntriesByType("resource")
      .filter(({ name }) => new URL(name).pathname.startsWith("/v1/"))
      .map((entry) => Reflect.get(entry, "workerMatchedSourceType")),
  )
  // Because of static routing, Chromium doesn't even start the worker for these requests.
  expect([...new Set(sources)]).toEqual(["network"])
  expectOnlyPageAnswered(await listAnswered(page))
  // The admin page isn't stored.
  await context.setOffline(true)
  await expect(page.goto(`${server().url}/admin`)).rejects.toThrow("ERR_INTERNET_DISCONNECTED")
  await closeContext(context)
})

test("[SW7] the content security policy allows no other worker, and only one Trusted Types policy, which can't be used for anything else", async () => {
  const { context, page } = await openSignedIn()
  await untilKept(page)
  const attempts = await page.evaluate(async () => {
    const { trustedTypes } = globalThis as unknown as {
      trustedTypes: { createPolicy(name: string, rules: object): unknown }
    }
    const nameOf = (run: () => unknown): string => {
      try {
        run()
        return "allowed"
      } catch (error) {
        return error instanceof Error ? error.name : "unknown"
      }
    }
    const frame = document.createElement("div")
    return {
      "the same policy": nameOf(() => trustedTypes.createPolicy("cuecard-service-worker", {})),
      "another policy": nameOf(() => trustedTypes.createPolicy("other", {})),
      "the default policy": nameOf(() => trustedTypes.createPolicy("default", {})),
      markup: nameOf(() => {
        frame.innerHTML = "<p>"
      }),
      "a worker by a string": nameOf(() => new Worker("/assets/worker.js")),
      "another service worker": await navigator.serviceWorker.register("/theme.js").then(
        () => "allowed",
        (error: Error) => error.name,
      ),
    }
  })
  expect(new Set(Object.values(attempts))).toEqual(new Set(["TypeError"]))
  const registrations = await page.evaluate(async () =>
    (await navigator.serviceWorker.getRegistrations()).map(({ active, updateViaCache }) => [
      active?.scriptURL,
      updateViaCache,
    ]),
  )
  expect(registrations).toEqual([[`${server().url}/service-worker.js`, "none"]])
  await closeContext(context)
})

test("[WR36] the page is installable", async () => {
  const { context, page, errors } = await openSignedIn()
  const session = await context.newCDPSession(page)
  const { installabilityErrors } = await session.send("Page.getInstallabilityErrors")
  // Chromium doesn't offer installation in a private window, and every test runs in such a window.
  expect(installabilityErrors.map(({ errorId }) => errorId).filter((id) => id !== "in-incognito")).toEqual([])
  const { url, errors: faults, data } = await session.send("Page.getAppManifest")
  expect({ url, faults }).toEqual({ url: `${server().url}/manifest.webmanifest`, faults: [] })
  const { icons, start_url } = JSON.parse(data ?? "") as { icons: { src: string; sizes: string }[]; start_url: string }
  expect(start_url).toBe("/")
  for (const { src, sizes } of icons) {
    const size = await page.evaluate(async (path) => {
      const image = new Image()
      image.src = path
      await image.decode()
      return image.naturalWidth
    }, src)
    if (sizes !== "any") expect(`${size}x${size}`).toBe(sizes)
  }
  expect(errors).toEqual([])
  await closeContext(context)
})

testInFull("[SW4] while the server doesn't respond, the stored page is shown", async () => {
  const { context, page } = await openSignedIn()
  await untilKept(page)
  const pid = server().pid()
  process.kill(pid, "SIGSTOP")
  try {
    await page.reload({ waitUntil: "commit" })
    await page.waitForSelector(".welcome", SOON)
  } finally {
    process.kill(pid, "SIGCONT")
  }
  await askQuestion(page, "/say hello again")
  await untilSettled(page)
  await closeContext(context)
})

testInFull(
  "[SW1] [PG93] while the server can't be reached, the page opens and says so, and the user can try again",
  async () => {
    const { context, page } = await openSignedIn()
    await untilKept(page)
    await server().kill()
    await page.reload()
    await page.waitForSelector(".link:has-text('reach the server')", SOON)
    await page.waitForSelector(".welcome")
    await shoot(page, "unreachable-desktop")
    await startSuccessor({ SERVICE_WORKER: "on" })
    await page.click(".link button")
    await page.waitForSelector(".link", { state: "detached", ...SOON })
    await askQuestion(page, "/say back again")
    await untilSettled(page)
    await closeContext(context)
  },
)

test("[SW5] a new version is shown at once, and replaces the stored version", async () => {
  const { context, page, errors } = await openSignedIn()
  await untilKept(page)
  const before = Object.keys(await listKept(page))
  await replaceServer({ SERVICE_WORKER: "on" }, createNextVersion())
  await page.reload()
  await page.waitForSelector("body[data-version=next] .welcome", SOON)
  await untilKept(page)
  await expect.poll(async () => Object.keys(await listKept(page)).length, SOON).toBe(1)
  expect(Object.keys(await listKept(page))).not.toEqual(before)
  await context.setOffline(true)
  await page.reload()
  await page.waitForSelector("body[data-version=next] .welcome", SOON)
  expect(errors).toEqual([])
  await closeContext(context)
})

testInFull("[SW6] a worker that receives all requests answers only those for the page and its files, too", async () => {
  await replaceServer({ SERVICE_WORKER: "on" }, createUnroutedPage())
  const { context, page } = await openSignedIn()
  await askQuestion(page, "/say hello")
  await untilSettled(page)
  await untilKept(page)
  expectOnlyPageAnswered(await listAnswered(page))
  await closeContext(context)
})

test("[SW8] a deployment that switches the worker off removes the worker and everything that it has stored", async () => {
  const { context, page, errors } = await openSignedIn()
  await untilKept(page)
  await replaceServer({ SERVICE_WORKER: "off" })
  await page.reload()
  await expect.poll(() => countWorkers(page), SOON).toBe(0)
  await expect.poll(() => listKept(page), SOON).toEqual({})
  const response = await page.reload()
  expect(response?.fromServiceWorker()).toBe(false)
  expect(response?.headers()["content-security-policy"]).toContain("trusted-types 'none'")
  await page.waitForSelector(".welcome", SOON)
  expect(await listKept(page)).toEqual({})
  await context.setOffline(true)
  await expect(page.reload()).rejects.toThrow("ERR_INTERNET_DISCONNECTED")
  expect(errors).toEqual([])
  await closeContext(context)
})
