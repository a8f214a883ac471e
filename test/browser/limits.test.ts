/** limits.test.ts: the page while the server is rate-limiting it. */

import { mkdirSync } from "node:fs"
import { expect, test } from "vitest"
import { faultToWire } from "../../shared/fault.ts"
import { everyNth } from "../support/seeded.ts"
import { askQuestion, DESKTOP, openPage, PHONE, untilSettled, THEMES } from "./page.ts"
import { useServerAndBrowser } from "./server-and-browser.ts"

const setup = useServerAndBrowser()

const RETRY_AFTER_SECONDS = 3
const { code, text } = faultToWire({
  reason: "rate_limited",
  rateClass: "write",
  per: "user",
  retryAfterSeconds: RETRY_AFTER_SECONDS,
})
const LINE = "Too many requests at once. Nothing is lost. We'll continue automatically in about 3 seconds."
/** The browser itself logs this refusal. */
const EXPECTED_ERROR = /status of 429/

const VIEWS = THEMES.flatMap((theme) => [DESKTOP, PHONE].map((size) => ({ theme, size })))

test.each(everyNth(VIEWS, 4))(
  "[LI6] a first message waits for Retry-After while a status line says so, and is then answered ($theme, $size.width)",
  async ({ theme, size }) => {
    const { page, errors } = await openPage(setup.browser, setup.cuecard, { theme, size })
    let refusals = 0
    await page.route("**/v1/sessions", async (route) => {
      if (route.request().method() !== "POST" || refusals > 0) return await route.continue()
      refusals += 1
      const headers = { "retry-after": String(RETRY_AFTER_SECONDS) }
      await route.fulfill({
        status: 429,
        headers,
        contentType: "application/json",
        body: JSON.stringify({ code, text }),
      })
    })
    await askQuestion(page, "/say Here.")
    await expect.poll(() => page.locator(".foot .link[role=status]").textContent()).toBe(LINE)
    mkdirSync("test/browser/out", { recursive: true })
    await page.screenshot({ path: `test/browser/out/limit-${theme}-${size.width}.png` })
    expect(await page.getByText("/say Here.").count()).toBeGreaterThan(0)
    await untilSettled(page, 1)
    await expect.poll(() => page.locator(".foot .link[role=status]").count()).toBe(0)
    expect(refusals).toBe(1)
    expect(errors.filter((error) => !EXPECTED_ERROR.test(error))).toEqual([])
    await page.context().close()
  },
)
