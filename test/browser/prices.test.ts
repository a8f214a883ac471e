/** prices.test.ts: prices on the admin page in a real Chromium, and models that were used without a price. */

import type { Page } from "playwright-core"
import { describe, expect, test } from "vitest"
import type { UsageRowView, UsageView } from "../../shared/usage/usage-view.ts"
import { callApi, dialogButton, openAdmin, PICTURED_VIEWS, rowWith, tokenFor } from "./admin-pages.ts"
import { findViolations } from "./axe-violations.ts"
import { useServerAndBrowser } from "./server-and-browser.ts"

const SOON = { timeout: 20_000 }
const setup = useServerAndBrowser({ vars: { SCRIPTED_DELAY_MS: "0" } })

const callApiAs = async (method: string, body?: object) =>
  await callApi(setup.cuecard, await tokenFor(setup.cuecard, "you", "owner"), method, "/v1/prices", body)

async function storedPrices(): Promise<readonly Record<string, unknown>[]> {
  return (await callApiAs("GET")).body.prices
}

const dialogFault = (page: Page) => page.textContent("dialog .fault", SOON)

const FIGURES: Omit<UsageRowView, "model" | "provider"> = {
  calls: 12,
  unpriced_calls: 12,
  retries: 0,
  input_tokens: 40_000,
  cached_tokens: 0,
  cache_written_tokens: 0,
  output_tokens: 9_000,
  reasoning_tokens: 0,
  cost_nano_usd: null,
}

/**
 * Responds with calls whose cost is unknown: calls to two models without a price, and to a model that has a
 * built-in price.
 */
async function fakeUsage(page: Page): Promise<void> {
  await page.route("**/v1/usage?*", async (route) => {
    const query = new URL(route.request().url()).searchParams
    const [from = "", to = "", by = "day"] = ["from", "to", "by"].map((name) => query.get(name) ?? "")
    const models = [
      { provider: "llm.example.org", model: "own-model-2026-01-31" },
      { provider: "llm.example.org", model: "نموذج-خاص" },
      { provider: "openai", model: "gpt-5-mini" },
    ]
    const rows = by === "day" ? [{ day: to, ...FIGURES }] : models.map((model) => ({ ...model, ...FIGURES }))
    const view = { from, to, by: by as UsageView["by"], rows, total: FIGURES, next: null } satisfies UsageView
    await route.fulfill({ json: view })
  })
}

describe("prices on the admin page", () => {
  test("[AD10] [AD24] a price can be added by keyboard, changed, ended and deleted, and is checked before it is sent", async () => {
    await callApiAs("PUT", { prices: [] })
    const { page, errors } = await openAdmin(setup.browser, setup.cuecard, "prices")
    await page.waitForSelector("text=You have no prices of your own.", SOON)
    const sent: string[] = []
    page.on("request", (request) => {
      if (request.method() === "PUT") sent.push(request.url())
    })
    await page.getByRole("button", { name: "Add a price" }).focus()
    await page.keyboard.press("Enter")
    await page.keyboard.type("house-model")
    await page.getByLabel("First day (UTC)").fill("2026-01-01")
    await page.getByLabel("Last day (UTC)").fill("2025-12-31")
    await page.getByLabel(/^Input, US dollars/).fill("1,000")
    await page.getByLabel("Output, US dollars per million tokens").fill("8")
    await page.keyboard.press("Enter")
    expect(await dialogFault(page)).toBe(
      "“Input” is “1,000”. Write it without a thousands separator, for example: 1000 or 0.25.",
    )
    expect(await page.getByLabel(/^Input, US dollars/).getAttribute("inputmode")).toBe("decimal")
    await page.getByLabel(/^Input, US dollars/).fill("1,5")
    await page.keyboard.press("Enter")
    await expect.poll(() => page.textContent("dialog .fault")).toBe("“Last day” can't be before the first day.")
    expect(sent).toEqual([])
    await page.getByLabel("Last day (UTC)").fill("")
    await page.getByLabel(/^Input, US dollars/).focus()
    // Meanwhile, another administrator changes the list.
    const other = { provider: "acme", model: "other", from: "2026-02-01", input: 1, output: 2 }
    await callApiAs("PUT", { prices: [other] })
    await page.keyboard.press("Enter")
    await expect.poll(() => rowWith(page, "house-model").textContent(), SOON).toContain("Input$1.50Output$8.00")
    const added = { model: "house-model", from: "2026-01-01", input: 1.5, output: 8 }
    expect(await storedPrices()).toMatchObject([other, added])
    const row = rowWith(page, "house-model")
    await row.getByRole("button", { name: "Edit" }).click()
    await page.getByLabel("Cached input").fill("0.15")
    await dialogButton(page, "Save changes").click()
    await expect.poll(() => row.textContent(), SOON).toContain("Cached input$0.15")
    await page.getByRole("button", { name: "Add a price" }).click()
    await page.getByLabel("Model", { exact: true }).fill("house-model")
    await page.getByLabel("First day (UTC)").fill("2026-01-01")
    await page.getByLabel(/^Input, US dollars/).fill("1")
    await page.getByLabel("Output, US dollars per million tokens").fill("1")
    await dialogButton(page, "Save changes").click()
    expect(await dialogFault(page)).toBe("This model already has a price from the same day. Edit that price.")
    await dialogButton(page, "Cancel").click()
    await row.getByRole("button", { name: "End…" }).click()
    await page.getByLabel("Last day (UTC)").fill("2026-03-31")
    await dialogButton(page, "End the price").click()
    await expect.poll(() => row.textContent(), SOON).toContain("Ended")
    expect(await storedPrices()).toMatchObject([other, { ...added, cached: 0.15, until: "2026-03-31" }])
    await row.getByRole("button", { name: "Delete…" }).click()
    await dialogButton(page, "Delete the price").click()
    await expect.poll(() => row.count(), SOON).toBe(0)
    // The button that opened the dialog is gone, so the heading has focus.
    await expect.poll(() => page.locator(":focus").textContent(), SOON).toBe("Prices")
    expect(await storedPrices()).toMatchObject([other])
    expect(errors).toEqual([])
    await page.context().close()
  })

  test("[AD24] another administrator's simultaneous change is kept, and a price that they changed isn't replaced", async () => {
    const mine = { model: "mine", from: "2026-01-01", input: 1, output: 2 }
    const theirs = { model: "theirs", from: "2026-01-01", input: 3, output: 4 }
    await callApiAs("PUT", { prices: [mine] })
    const { page } = await openAdmin(setup.browser, setup.cuecard, "prices")
    await rowWith(page, "mine").getByRole("button", { name: "Edit" }).click(SOON)
    let puts = 0
    await page.route("**/v1/prices", async (route) => {
      if (route.request().method() === "PUT" && ++puts === 1) await callApiAs("PUT", { prices: [mine, theirs] })
      await route.continue()
    })
    await page.getByLabel("Cached input").fill("0.5")
    await dialogButton(page, "Save changes").click()
    await expect.poll(() => rowWith(page, "mine").textContent(), SOON).toContain("Cached input$0.50")
    expect(puts).toBe(2)
    expect(await storedPrices()).toMatchObject([theirs, { ...mine, cached: 0.5 }])
    await rowWith(page, "theirs").getByRole("button", { name: "Edit" }).click()
    await callApiAs("PUT", { prices: [{ ...theirs, input: 9 }] })
    await dialogButton(page, "Save changes").click()
    expect(await dialogFault(page)).toContain("Someone else has changed or deleted this price.")
    expect(await storedPrices()).toMatchObject([{ ...theirs, input: 9 }])
    await page.context().close()
  })

  test("[AD10] if a change is refused, the server's error text is shown; the tenant's own price replaces a built-in price from today on", async () => {
    await callApiAs("PUT", { prices: [] })
    const { page } = await openAdmin(setup.browser, setup.cuecard, "prices")
    await page.getByRole("button", { name: "Replace the price of gpt-5-mini from 2025-08-07" }).click(SOON)
    expect(await page.getByLabel("Provider").inputValue()).toBe("openai")
    await page.getByLabel(/^Input, US dollars/).fill("0.2")
    const refusal = { code: "internal", text: "The server's own text." }
    await page.route("**/v1/prices", async (route) =>
      route.request().method() === "PUT" ? await route.fulfill({ status: 500, json: refusal }) : await route.continue(),
    )
    await dialogButton(page, "Save changes").click()
    expect(await dialogFault(page)).toBe("The server's own text.")
    await page.unroute("**/v1/prices")
    await dialogButton(page, "Save changes").click()
    const own = page.getByRole("list", { name: "Your prices" })
    await expect.poll(() => own.textContent(), SOON).toContain("gpt-5-miniNow")
    const today = new Date().toISOString().slice(0, 10)
    expect(await storedPrices()).toMatchObject([{ provider: "openai", model: "gpt-5-mini", from: today, input: 0.2 }])
    await page.context().close()
  })

  test("[AD11] models that were used without a price are listed, and a link opens the form for a model", async () => {
    await callApiAs("PUT", { prices: [] })
    const { page, errors } = await openAdmin(setup.browser, setup.cuecard, "users")
    const scripts: string[] = []
    page.on("request", (request) => {
      if (request.url().endsWith(".js")) scripts.push(request.url())
    })
    await fakeUsage(page)
    await page.evaluate(() => (location.hash = "#usage"))
    const unpriced = page.getByRole("list", { name: "Models without a price" })
    await expect.poll(() => unpriced.locator("li").count(), SOON).toBe(2)
    expect(scripts.some((url) => url.includes("prices-section"))).toBe(true)
    await page.getByRole("link", { name: "Set a price for own-model-2026-01-31" }).click()
    await page.waitForSelector("dialog[open]", SOON)
    expect(await page.textContent("h1")).toBe("Prices")
    expect(await page.getByLabel("Model", { exact: true }).inputValue()).toBe("own-model-2026-01-31")
    expect(await page.getByLabel("Provider").inputValue()).toBe("llm.example.org")
    expect(page.url()).toMatch(/#prices$/)
    await page.getByLabel("Model", { exact: true }).fill("own-model")
    await page.getByLabel(/^Input, US dollars/).fill("0.4")
    await page.getByLabel("Output, US dollars per million tokens").fill("1.2")
    await dialogButton(page, "Save changes").click()
    await expect.poll(() => unpriced.locator("li").count(), SOON).toBe(1)
    expect(await unpriced.textContent()).toContain("نموذج-خاص")
    expect(errors).toEqual([])
    await page.context().close()
  })

  test.each(PICTURED_VIEWS)(
    "[AD8] the prices and the form fit the screen, and axe finds no violations: %s",
    async (name, size, theme, direction) => {
      const house = { model: "a-very-long-name-of-a-model-that-somebody-runs-themselves/instruct", input: 2, output: 8 }
      await callApiAs("PUT", {
        prices: [
          { ...house, from: "2026-01-01", cached: 0.25, cache_write: 2.5 },
          { ...house, from: "2026-06-01", until: "2026-08-31" },
          { provider: "llm.example.org", model: "نموذج-خاص", from: "2999-01-01", input: 0.000001, output: 0 },
        ],
      })
      const { page, errors } = await openAdmin(setup.browser, setup.cuecard, "users", { size, theme, bypassCSP: true })
      await fakeUsage(page)
      await page.evaluate((dir) => document.documentElement.setAttribute("dir", dir), direction)
      await page.evaluate(() => (location.hash = "#prices"))
      await page.waitForSelector(".unpriced li", SOON)
      const isTooWide = () => page.evaluate(() => document.documentElement.scrollWidth > innerWidth)
      expect(await isTooWide()).toBe(false)
      expect(await findViolations(page)).toEqual([])
      await page.screenshot({ path: `test/browser/out/prices-${name}.png` })
      await page.getByRole("button", { name: "Edit" }).first().click()
      await page.waitForSelector("dialog[open]")
      expect(await isTooWide()).toBe(false)
      expect(await findViolations(page)).toEqual([])
      await page.screenshot({ path: `test/browser/out/price-form-${name}.png` })
      expect(errors).toEqual([])
      await page.context().close()
    },
  )
})
