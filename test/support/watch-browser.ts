/** watch-browser.ts: records the texts that pages send and receive, which no server may log (SPEC OB6). */

import type { Browser, BrowserContext, Page } from "playwright-core"
import { noteAddress, noteJson } from "./log-check.ts"
import { reuseContexts } from "./reused-contexts.ts"

/**
 * How often `waitForFunction` evaluates its function, in milliseconds. Playwright's default, once per frame, makes a page
 * draw 60 frames per second while it waits.
 */
const POLL_MS = 50

/**
 * Returns the same browser, with its contexts watched and reused. Unless a test requests motion, nothing moves, because
 * drawing each step takes processor time.
 */
export function watchBrowser(browser: Browser): Browser {
  const watched = new WeakSet<BrowserContext>()
  const newContext = reuseContexts(browser, watchSockets).newContext.bind(browser)
  browser.newContext = async (options) => {
    const context = await newContext({ reducedMotion: "reduce", ...options })
    if (!watched.has(context)) {
      watchRequests(context)
      context.on("page", pollSlowly)
    }
    watched.add(context)
    return context
  }
  browser.newPage = async (...options) => {
    const context = await browser.newContext(...options)
    const page = await context.newPage()
    page.on("close", () => void context.close().catch(() => {}))
    return page
  }
  return browser
}

function pollSlowly(page: Page): void {
  const wait = page.waitForFunction.bind(page)
  Reflect.set(page, "waitForFunction", (...[run, value, options]: Parameters<typeof wait>) =>
    wait(run, value, { polling: POLL_MS, ...options }),
  )
}

function watchRequests(context: BrowserContext): void {
  context.on("request", (request) => {
    noteAddress(request.url())
    // Bodies of uploads are bytes.
    if (request.headers()["content-type"]?.includes("json") === true) noteJson(request.postData())
  })
}

function watchSockets(page: Page): void {
  page.on("websocket", (socket) => {
    socket.on("framesent", ({ payload }) => noteJson(payload))
    socket.on("framereceived", ({ payload }) => noteJson(payload))
  })
}
