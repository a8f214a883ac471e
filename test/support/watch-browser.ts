/** watch-browser.ts: records the text that pages send and receive, because no server may log it (SPEC OB6). */

import type { Browser, BrowserContext, Page } from "playwright-core"
import { noteAddress, noteJson } from "./log-check.ts"
import { reuseContexts } from "./reused-contexts.ts"

/**
 * Interval at which `waitForFunction` evaluates its function, in milliseconds. Playwright's default is once per frame,
 * which makes a page draw 60 frames per second during the wait.
 */
const POLL_MS = 50

/**
 * Makes a browser watch and reuse its contexts, and returns that browser. Animations are off unless a test requests
 * motion, because drawing each step takes processor time.
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
    // Only JSON bodies are read, because the bodies of uploads are bytes.
    if (request.headers()["content-type"]?.includes("json") === true) noteJson(request.postData())
  })
}

function watchSockets(page: Page): void {
  page.on("websocket", (socket) => {
    socket.on("framesent", ({ payload }) => noteJson(payload))
    socket.on("framereceived", ({ payload }) => noteJson(payload))
  })
}
