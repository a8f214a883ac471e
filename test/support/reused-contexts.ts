/**
 * reused-contexts.ts: empties the contexts that tests have closed (storage, cookies and history), so that later tests
 * reuse them. Creating a context takes more processor time than most tests, because it needs a process that loads the
 * page's code again.
 *
 * A context is really closed if a test has added something that can't be removed from it, such as a header. The window
 * size and the user's preferences don't matter, because they can be changed.
 */

import type { Browser, BrowserContext, BrowserContextOptions, CDPSession, Disposable, Page } from "playwright-core"

/** Methods whose effect lasts until the context is closed. */
const LASTING_CHANGES = ["grantPermissions", "newCDPSession", "routeWebSocket", "setExtraHTTPHeaders"] as const

/** Methods whose effect can be removed. */
const REMOVABLE_CHANGES = ["addInitScript", "exposeBinding", "exposeFunction"] as const

/** Playwright's default. */
const DEFAULT_VIEWPORT = { width: 1280, height: 720 }

/** The page events that tests listen to. */
const PAGE_EVENTS = [
  "console",
  "dialog",
  "download",
  "filechooser",
  "framenavigated",
  "load",
  "pageerror",
  "popup",
  "request",
  "response",
  "websocket",
]

const EMPTY_PAGE = "/an-empty-page"

/** Maximum number of unused contexts per browser. Each of them keeps a process alive. */
const MAX_UNUSED = 3

/**
 * Makes a browser reuse its contexts, and returns that browser. `watchPage` is called for each page, and again when a
 * page is reused.
 */
export function reuseContexts(browser: Browser, watchPage: (page: Page) => void): Browser {
  const create = browser.newContext.bind(browser)
  const unused: ReusableContext[] = []
  browser.newContext = async (options = {}) => {
    if (IS_USED_ONCE in options) {
      const context = await create(options)
      context.on("page", watchPage)
      return context
    }
    const key = createKey(options)
    const at = unused.findIndex((context) => context.key === key)
    const [found] = at === -1 ? [] : unused.splice(at, 1)
    found?.prepare(options)
    const reusable = found ?? new ReusableContext(await create(options), options, watchPage)
    reusable.onEmptied = () => {
      unused.push(reusable)
      if (unused.length > MAX_UNUSED) void unused.shift()?.close()
    }
    return reusable.context
  }
  return browser
}

/** A context option that only this module reads. Playwright ignores it. */
const ROUTES_SOCKETS = Symbol("routes sockets")

/**
 * Returns the options of a context whose test routes the sockets before it opens a page. Socket routes can't be
 * removed, but only the newest one takes effect. So only contexts with such routes replace each other.
 */
export function withRoutedSockets(options: BrowserContextOptions = {}): BrowserContextOptions {
  return Object.assign({ ...options }, { [ROUTES_SOCKETS]: true })
}

/** A context option that only this module reads. Playwright ignores it. */
const IS_USED_ONCE = Symbol("is used once")

/**
 * Returns the options of a context that is closed after its test, because its pages might not release their process.
 */
export function usedOnce(options: BrowserContextOptions = {}): BrowserContextOptions {
  return Object.assign({ ...options }, { [IS_USED_ONCE]: true })
}

/** Returns the key of a context. Contexts with the same key can replace each other. */
function createKey(options: BrowserContextOptions): string {
  const { viewport, colorScheme: _, reducedMotion: __, forcedColors: ___, contrast: ____, ...others } = options
  const set = Object.entries(others).filter(([, value]) => value !== false && value !== undefined)
  return JSON.stringify([set.sort(), viewport !== null, ROUTES_SOCKETS in options])
}

class ReusableContext {
  readonly context: BrowserContext
  readonly key: string
  readonly close: () => Promise<void>
  onEmptied: () => void = () => {}
  #options: BrowserContextOptions
  readonly #watchPage: (page: Page) => void
  readonly #newCdpSession: BrowserContext["newCDPSession"]
  readonly #removable: Disposable[] = []
  /** The origins that the pages have visited. */
  readonly #origins = new Set<string>()
  /** The page of an emptied context. */
  #emptied: Page | null = null
  #isChanged = false

  constructor(context: BrowserContext, options: BrowserContextOptions, watchPage: (page: Page) => void) {
    this.context = context
    this.key = createKey(options)
    this.#options = options
    this.#watchPage = watchPage
    this.close = context.close.bind(context)
    this.#newCdpSession = context.newCDPSession.bind(context)
    const newPage = context.newPage.bind(context)
    context.newPage = async () => {
      const page = this.#emptied ?? (await newPage())
      this.#emptied = null
      if (this.#options !== options) await this.#setView(page)
      return page
    }
    context.close = () => this.#release()
    context.on("request", (request) => {
      if (request.isNavigationRequest()) this.#origins.add(new URL(request.url()).origin)
    })
    context.on("page", (page) => {
      this.#noteChanges(page)
      watchPage(page)
    })
    this.#noteChanges(context)
  }

  #noteChanges(target: BrowserContext | Page): void {
    for (const name of LASTING_CHANGES) {
      const change: unknown = Reflect.get(target, name)
      if (typeof change !== "function") continue
      Reflect.set(target, name, (...values: unknown[]) => {
        this.#isChanged ||= name !== "routeWebSocket" || !(ROUTES_SOCKETS in this.#options)
        return Reflect.apply(change, target, values)
      })
    }
    for (const name of REMOVABLE_CHANGES) {
      const change: unknown = Reflect.get(target, name)
      if (typeof change !== "function") continue
      Reflect.set(target, name, async (...values: unknown[]) => {
        const made: Disposable = await Reflect.apply(change, target, values)
        this.#removable.push(made)
        return made
      })
    }
  }

  /** Prepares an emptied context for a test that requested these options. */
  prepare(options: BrowserContextOptions): void {
    this.#options = options
  }

  /** Empties the context for another test, or closes it if that isn't possible. Has no effect on an unused context. */
  async #release(): Promise<void> {
    if (this.#emptied !== null) return
    const isUsable = !this.#isChanged && this.context.browser()?.isConnected() === true
    this.#emptied = isUsable ? await Promise.race([this.#empty().catch(() => null), waitForEmptying()]) : null
    if (this.#emptied === null) await this.close()
    else this.onEmptied()
  }

  async #empty(): Promise<Page | null> {
    const { context } = this
    const [page, ...others] = context.pages()
    if (page === undefined) return null
    await Promise.all(others.map((other) => other.close()))
    for (const event of PAGE_EVENTS) page.removeAllListeners(event)
    for (const one of this.#removable.splice(0)) await one.dispose()
    for (const target of [page, context]) await target.unrouteAll({ behavior: "ignoreErrors" })
    await context.setOffline(false)
    await page.evaluate(() => sessionStorage.clear())
    const session = await this.#newCdpSession(page)
    // Leaving the page may write to its storage.
    await leavePage(page, session)
    await this.#clearStorage(session)
    await session.detach()
    this.#watchPage(page)
    return page
  }

  async #setView(page: Page): Promise<void> {
    const { viewport, colorScheme, reducedMotion, forcedColors, contrast } = this.#options
    // Null would mean the preferences of the system, not those of the context.
    await page.emulateMedia({
      media: null,
      colorScheme: colorScheme ?? "light",
      reducedMotion: reducedMotion ?? "no-preference",
      forcedColors: forcedColors ?? "none",
      contrast: contrast ?? "no-preference",
    })
    if (viewport !== null) await page.setViewportSize(viewport ?? DEFAULT_VIEWPORT)
  }

  async #clearStorage(session: CDPSession): Promise<void> {
    await this.context.clearCookies()
    for (const origin of this.#origins)
      await session.send("Storage.clearDataForOrigin", { origin, storageTypes: "local_storage,indexeddb" })
    await session.send("Page.resetNavigationHistory")
    this.#origins.clear()
  }
}

/** Time limit for emptying a context, in milliseconds. A page whose script doesn't end can't be emptied. */
const MAX_EMPTYING_MS = 20_000

function waitForEmptying(): Promise<null> {
  return new Promise((resolve) => setTimeout(() => resolve(null), MAX_EMPTYING_MS).unref())
}

const EMPTY_PAGE_HEADERS = [
  { name: "content-type", value: "text/html" },
  { name: "cross-origin-opener-policy", value: "same-origin" },
]

/**
 * Navigates to an empty page of the same origin. The empty page has the same opener policy as our pages; otherwise, the
 * browser would start a new process. `page.route` isn't used, because it turns off the browser's cache, and the next
 * page would have to load its code again.
 */
async function leavePage(page: Page, session: CDPSession): Promise<void> {
  session.on("Fetch.requestPaused", ({ requestId }) => {
    const response = { requestId, responseCode: 200, responseHeaders: EMPTY_PAGE_HEADERS, body: "" }
    session.send("Fetch.fulfillRequest", response).catch(() => {})
  })
  await session.send("Fetch.enable", { patterns: [{ urlPattern: `*${EMPTY_PAGE}` }] })
  await page.goto(new URL(EMPTY_PAGE, page.url()).href)
  await session.send("Fetch.disable")
}
