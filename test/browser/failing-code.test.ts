/** failing-code.test.ts: what the page and the widget show if part of their code can't be loaded. */

import { expect, test } from "vitest"
import { DESKTOP, untilSettled } from "./page.ts"
import { useServerAndBrowser } from "./server-and-browser.ts"
import { writeConversation } from "./state-conversations.ts"
import { allowSites, siteDocument, startSite } from "./widget-pages.ts"

const MISSING = "Part of the page couldn't be loaded."

const setup = useServerAndBrowser({ vars: { SCRIPTED_DELAY_MS: "0" } })

// The code of the whole transcript, of a card, and of the buttons below an answer.
test.each(["transcript", "weather-card", "answer-tools"])(
  "[PF14] if the script %s can't be loaded, the page says that a part is missing and offers to reload",
  async (name) => {
    const session = await writeConversation(setup.cuecard, ["What's the weather in London?"])
    const context = await setup.browser.newContext({ viewport: DESKTOP, serviceWorkers: "block" })
    const pattern = new RegExp(`/assets/${name}-[^/]+\\.js`)
    await context.route(pattern, (route) => route.fulfill({ status: 503 }))
    const page = await context.newPage()
    await page.goto(`${setup.cuecard.url}/#/s/${session}`)
    const note = page.getByRole("alert").filter({ hasText: MISSING })
    await note.waitFor()
    // Without the transcript, there is nothing to reply to.
    expect(await page.locator("textarea").isVisible()).toBe(name !== "transcript")
    await context.unroute(pattern)
    await note.getByRole("button", { name: "Reload" }).click()
    await page.waitForSelector("article .card svg")
    await untilSettled(page)
    expect(await note.count()).toBe(0)
    expect(await page.locator("article footer.acts > .tools").count()).toBeGreaterThan(0)
    await context.close()
  },
)

test("[PF14] [WG5] if some of its styles can't be loaded, the widget says that a part is missing", async () => {
  const site = await startSite(setup.cuecard)
  await allowSites(setup.cuecard, [site.origin])
  const context = await setup.browser.newContext({ viewport: DESKTOP })
  await context.route(/\/assets\/widget-part-styles-[^/]+\.js/, (route) => route.fulfill({ status: 503 }))
  const page = await context.newPage()
  await page.goto(site.serve(siteDocument(setup.cuecard, 'language="en"')))
  const note = page.locator("cuecard-chat").getByRole("alert").filter({ hasText: MISSING })
  await note.waitFor()
  await context.close()
  await site.close()
})
