/** usage-chart.test.ts: the usage section of the admin page in a real Chromium. */

import { readFile } from "node:fs/promises"
import type { Page } from "playwright-core"
import { describe, expect, test } from "vitest"
import type { UsageRowView, UsageView } from "../../shared/usage/usage-view.ts"
import { addUser, callApi, openAdmin, PICTURED_VIEWS, tokenFor } from "./admin-pages.ts"
import { findViolations } from "./axe-violations.ts"
import { DESKTOP, PHONE } from "./page.ts"
import { useServerAndBrowser } from "./server-and-browser.ts"

const SOON = { timeout: 20_000 }
const setup = useServerAndBrowser({ vars: { SCRIPTED_DELAY_MS: "0" } })

const asOwner = async (method: string, path: string, body?: object) =>
  await callApi(setup.cuecard, await tokenFor(setup.cuecard, "you", "owner"), method, path, body)

/** Runs turns and waits until their usage has been reported in one batch. */
async function playTurns(user: string, count: number): Promise<void> {
  const token = await tokenFor(setup.cuecard, user, "member")
  const created = await callApi(setup.cuecard, token, "POST", "/v1/sessions", {})
  const session = (created.body as { id: string }).id
  const steps = [
    [
      { type: "text_delta", delta: "Yes" },
      { type: "finish", input_tokens: 1_000, output_tokens: 10 },
    ],
  ]
  const content = `/script ${JSON.stringify(steps)}`
  for (let i = 0; i < count; i++) {
    const sent = await callApi(setup.cuecard, token, "POST", `/v1/sessions/${session}/messages`, { content })
    expect(sent.status).toBe(202)
    const newest = async () => {
      const path = `/v1/sessions/${session}/conversation/recent?limit=1`
      const { body } = await callApi(setup.cuecard, token, "GET", path)
      return (body as { messages: { role: string; status: string }[] }).messages[0]
    }
    await expect.poll(newest, SOON).toMatchObject({ role: "assistant", status: "completed" })
  }
}

function rowOf(i: number): Omit<UsageRowView, "day"> {
  const input = 40_000 + ((i * 7919) % 90_000)
  return {
    calls: 20 + (i % 9),
    unpriced_calls: 0,
    retries: i % 3,
    input_tokens: input,
    cached_tokens: Math.floor(input / 2),
    cache_written_tokens: 0,
    output_tokens: 9_000 + ((i * 104_729) % 20_000),
    reasoning_tokens: 3_000,
    cost_nano_usd: 180_000_000 + ((i * 15_485_863) % 400_000_000),
  }
}

const NAMES = {
  model: [
    "gpt-5-mini",
    "claude-sonnet-4-5",
    "نموذج-خاص",
    "a-very-long-name-of-a-model-that-somebody-runs-themselves/instruct-2026-01-31",
  ],
  user: ["ada", "דנה", "bob", "guest"],
  agent: ["general", "weather", "researcher", "support"],
}

/** Responds to the page's requests with usage for many days. */
async function fakeUsage(page: Page): Promise<void> {
  await page.route("**/v1/usage?*", async (route) => {
    const url = new URL(route.request().url())
    const [from = "", to = "", by = "day"] = ["from", "to", "by"].map((name) => url.searchParams.get(name) ?? "")
    const days: string[] = []
    for (let at = Date.parse(from); at <= Date.parse(to); at += 86_400_000)
      days.push(new Date(at).toISOString().slice(0, 10))
    const unpriced = { unpriced_calls: 23, cost_nano_usd: null }
    const rows: UsageRowView[] =
      by === "day"
        ? days.map((day, i) => ({ day, ...rowOf(i), ...(i % 6 === 4 ? unpriced : {}) })).filter((_, i) => i % 7 !== 5)
        : NAMES[by as keyof typeof NAMES].map((name, i) => ({
            [by]: name,
            ...(by === "model" ? { provider: ["openai", "anthropic", "llm.example.org", "llm.example.org"][i] } : {}),
            ...rowOf(i),
            ...(i === 2 ? unpriced : {}),
          }))
    const total = { ...rowOf(3), calls: 612, unpriced_calls: 23, cost_nano_usd: 8_412_345_678 }
    await route.fulfill({ json: { from, to, by: by as UsageView["by"], rows, total, next: null } satisfies UsageView })
  })
}

/** Returns whether a label on the chart's axis extends beyond the drawing. */
async function isAxisCut(page: Page): Promise<boolean> {
  return await page.evaluate(() => {
    const left = document.querySelector(".usage-chart svg")?.getBoundingClientRect().left ?? 0
    return [...document.querySelectorAll(".usage-chart .grid text")].some(
      (label) => label.getBoundingClientRect().left < left - 0.5,
    )
  })
}

describe("usage on the admin page", () => {
  test.each([
    ["desktop", DESKTOP],
    ["phone", PHONE],
  ] as const)("[MT12] on a %s, the axis is readable without any cost and with a tiny cost", async (_, size) => {
    const { page } = await openAdmin(setup.browser, setup.cuecard, "users", { size })
    for (const cost of [0, 40]) {
      const figures = { ...rowOf(0), cost_nano_usd: cost }
      await page.unrouteAll()
      await page.route("**/v1/usage?*", async (route) => {
        const [from = "", to = ""] = ["from", "to"].map(
          (name) => new URL(route.request().url()).searchParams.get(name) ?? "",
        )
        const rows = [{ day: to, ...figures }]
        await route.fulfill({ json: { from, to, by: "day", rows, total: figures, next: null } satisfies UsageView })
      })
      await page.evaluate(() => (location.hash = "#usage"))
      await page.waitForSelector(".usage-chart svg", SOON)
      const labels = await page.locator(".usage-chart .grid text").allTextContents()
      expect(labels[0]).toBe("$0.00")
      expect(labels.length > 1).toBe(cost > 0)
      expect(await isAxisCut(page)).toBe(false)
      await page.evaluate(() => (location.hash = "#agents"))
      await page.waitForSelector(".usage-chart", { state: "detached" })
    }
    await page.context().close()
  })

  test("[MT12] totals, chart, tables by model and user, and CSV show the usage of real turns", async () => {
    await addUser(setup.cuecard, "you", "owner")
    await asOwner("PUT", "/v1/prices", { prices: [{ model: "scripted", from: "2026-01-01", input: 2, output: 8 }] })
    await playTurns("ada", 8)
    const total = async () => {
      const today = new Date().toISOString().slice(0, 10)
      const { body } = await asOwner("GET", `/v1/usage?from=${today}&to=${today}`)
      return (body as UsageView).total.calls
    }
    await expect.poll(total, SOON).toBe(8)
    const { page, errors } = await openAdmin(setup.browser, setup.cuecard, "usage")
    await page.waitForSelector(".usage-chart svg", SOON)
    // 8 × (1,000 × 2 + 10 × 8) / 1,000,000 dollars
    expect(await page.textContent(".usage-totals")).toContain("$0.0166")
    expect(await page.getByRole("img").getAttribute("aria-label")).toMatch(/^Cost, last 30 days\. \$0\.0166 in total\./)
    await page.waitForSelector("text=scripted", SOON)
    await page.getByLabel("Break down by").selectOption("user")
    await expect.poll(() => page.textContent(".usage-scroll tbody"), SOON).toContain("ada$0.0166")
    await page.getByLabel("Measure", { exact: true }).selectOption("tokens")
    await page.click("summary")
    await expect.poll(() => page.textContent("details tbody"), SOON).toContain("8,000 input, 80 output")
    const downloading = page.waitForEvent("download")
    await page.getByRole("button", { name: "Download CSV" }).click()
    const file = await readFile(await (await downloading).path(), "utf8")
    expect(file).toMatch(/^user,calls,.*\r\nada,8,0,0,8000,0,0,80,0,0\.016640000\r\n$/)
    expect(errors).toEqual([])
    await page.context().close()
  })

  test.each(PICTURED_VIEWS)(
    "[MT12] many days, unknown prices and names in other scripts are shown: %s",
    async (name, size, theme, direction) => {
      const { page, errors } = await openAdmin(setup.browser, setup.cuecard, "users", { size, theme, bypassCSP: true })
      await fakeUsage(page)
      await page.evaluate((dir) => document.documentElement.setAttribute("dir", dir), direction)
      await page.evaluate(() => (location.hash = "#usage"))
      await page.waitForSelector(".usage-scroll table", SOON)
      expect(await page.textContent(".usage-totals")).toContain("23 calls without a known price")
      expect(await page.locator(".usage-scroll tbody tr").count()).toBe(4)
      const isTooWide = await page.evaluate(() => document.documentElement.scrollWidth > innerWidth)
      expect(isTooWide).toBe(false)
      expect(
        await page
          .locator(".usage-scroll th[scope=row]")
          .first()
          .evaluate(({ clientWidth }) => clientWidth),
      ).toBeGreaterThan(100)
      expect(await findViolations(page)).toEqual([])
      await page.getByLabel("Measure", { exact: true }).selectOption("tokens")
      await page.screenshot({ path: `test/browser/out/usage-${name}.png` })
      await page.getByLabel("Period", { exact: true }).selectOption("year")
      await expect.poll(() => page.locator(".usage-chart rect.input").count(), SOON).toBeLessThan(15)
      expect(errors).toEqual([])
      await page.context().close()
    },
  )
})
