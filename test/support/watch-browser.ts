/** watch-browser.ts: records the texts that pages send and receive, which no server may log (SPEC OB6). */

import type { Browser, BrowserContext } from "playwright-core"
import { noteAddress, noteJson } from "./log-check.ts"

/** Returns the same browser, with its contexts watched. */
export function watchBrowser(browser: Browser): Browser {
  const newContext = browser.newContext.bind(browser)
  browser.newContext = async (...options) => watchContext(await newContext(...options))
  browser.newPage = async (...options) => {
    const context = await browser.newContext(...options)
    const page = await context.newPage()
    page.on("close", () => void context.close().catch(() => {}))
    return page
  }
  return browser
}

function watchContext(context: BrowserContext): BrowserContext {
  context.on("request", (request) => {
    noteAddress(request.url())
    // Bodies of uploads are bytes.
    if (request.headers()["content-type"]?.includes("json") === true) noteJson(request.postData())
  })
  context.on("page", (page) => {
    page.on("websocket", (socket) => {
      socket.on("framesent", ({ payload }) => noteJson(payload))
      socket.on("framereceived", ({ payload }) => noteJson(payload))
    })
  })
  return context
}
