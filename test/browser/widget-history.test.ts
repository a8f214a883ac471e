/** widget-history.test.ts: a long conversation in the widget. */

import { expect, test } from "vitest"
import { importMessages } from "../support/import-messages.ts"
import { useServerAndBrowser } from "./server-and-browser.ts"
import { allowSites, EVENT_LOG, openSite, siteDocument, startSite, untilSeen } from "./widget-pages.ts"

const MESSAGES = 500
const MAX_ARTICLES = 300

const setup = useServerAndBrowser()

test("[LT1] scrolling to the beginning of a long conversation in the widget drops the messages at its end", async () => {
  const { cuecard, browser } = setup
  const site = await startSite(cuecard)
  await allowSites(cuecard, [site.origin])
  const session = await importMessages(cuecard, MESSAGES, (at) => `Message ${at}`)
  const document = siteDocument(cuecard, `session="${session}"`, EVENT_LOG)
  const { page, errors } = await openSite(browser, site.serve(document))
  await untilSeen(page, "ready")
  await page
    .locator("cuecard-chat")
    .getByText(`Message ${MESSAGES - 1}`)
    .waitFor()
  const most = await page.evaluate(async () => {
    const root = window.document.querySelector("cuecard-chat")?.shadowRoot as ShadowRoot
    const nextFrame = () => new Promise((resolve) => requestAnimationFrame(resolve))
    const articles = () => [...root.querySelectorAll("article")]
    let count = 0
    const end = performance.now() + 60_000
    while (!articles().some((article) => article.textContent?.includes("Message 0")) && performance.now() < end) {
      const view = root.querySelector(".view") as HTMLElement
      // Each step is a separate event, even if the view is already at its beginning.
      view.scrollTop = view.scrollTop > 0 ? 0 : 200
      await nextFrame()
      count = Math.max(count, articles().length)
    }
    return count
  })
  await page.locator("cuecard-chat").getByText("Message 0", { exact: true }).waitFor()
  expect(most).toBeGreaterThan(0)
  expect(most).toBeLessThanOrEqual(MAX_ARTICLES)
  expect(errors).toEqual([])
  await page.context().close()
  await site.close()
}, 120_000)
