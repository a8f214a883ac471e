/**
 * budgets.test.ts: budgets in a real Chromium: what users see of their budgets, what a refusal looks like, and the
 * admin page.
 */

import type { Page } from "playwright-core"
import { describe, expect, test } from "vitest"
import { callApi, openAdmin, rowWith, tokenFor } from "./admin-pages.ts"
import { findViolations } from "./axe-violations.ts"
import { askQuestion, DESKTOP, openPage, openIn, PHONE, THEMES } from "./page.ts"
import { useServerAndBrowser } from "./server-and-browser.ts"

const SOON = { timeout: 20_000 }
const setup = useServerAndBrowser({ vars: { SCRIPTED_DELAY_MS: "0" } })

async function setBudgets(change: object): Promise<void> {
  const token = await tokenFor(setup.cuecard, "you", "owner")
  expect((await callApi(setup.cuecard, token, "PUT", "/v1/budgets", change)).status).toBe(200)
}

const saveButton = (page: Page) => page.locator("dialog[open]").getByRole("button", { name: "Save changes" })

async function closeAll(page: Page): Promise<void> {
  await setBudgets({ tenant: null, roles: { member: null, owner: null } })
  await page.context().close()
}

describe("the page", () => {
  test("[BU13] the menu shows what is left of each budget and when it resets; without budgets, it loads no code for them", async () => {
    await setBudgets({
      tenant: { cost_per_month: 20_000_000_000 },
      roles: { member: { tokens_per_day: 50_000, sessions: 3 } },
    })
    for (const theme of THEMES) {
      const size = theme === "light" ? DESKTOP : PHONE
      const { page } = await openPage(setup.browser, setup.cuecard, { theme, size, bypassCSP: true })
      await askQuestion(page, "/say hello")
      await page.waitForSelector("[data-role=assistant]", SOON)
      const loaded: string[] = []
      page.on("request", (request) => loaded.push(request.url()))
      if (size === PHONE) await page.getByRole("button", { name: "Conversations" }).first().click()
      await page.click(".account-button")
      const rows = page.locator(".budgets li")
      await expect.poll(() => rows.count(), SOON).toBe(3)
      expect(loaded.some((url) => url.includes("budget-meters"))).toBe(true)
      const texts = (await rows.allTextContents()).map((text) => text.replaceAll(" ", " "))
      expect(texts[0]).toMatch(/^Tokens today(?:50,000|.*) of 50,000 left · Resets at \d\d:\d\d/)
      expect(texts[1]).toMatch(/^Cost this month, whole organization\$20\.00 of \$20\.00 left · Resets on /)
      expect(texts[2]).toMatch(/^Conversations\d of 3 left$/)
      expect(await rows.first().getByRole("meter").getAttribute("aria-valuetext")).toContain("left")
      expect(await findViolations(page)).toEqual([])
      await page.context().close()
    }
    await setBudgets({ tenant: null, roles: { member: null } })
  })

  test("[BU14] a refused message stays where it is and shows the reason, even after a reload, and can be sent once the budget allows it", async () => {
    await setBudgets({ tenant: { tokens_per_day: 0 } })
    const { page } = await openPage(setup.browser, setup.cuecard)
    await askQuestion(page, "/say hello")
    const note = page.locator("[data-role=user] .note")
    await expect.poll(() => note.textContent(), SOON).toContain("It resets on ")
    expect(await note.textContent()).toContain("Your organization's token budget for the day is used up.")
    await page.reload()
    await expect.poll(() => page.locator("[data-role=user]").textContent(), SOON).toContain("/say hello")
    await expect.poll(() => note.textContent(), SOON).toContain("is used up")
    await setBudgets({ tenant: null })
    // The directory requests a new lease after a few seconds.
    const retry = async (): Promise<number> => {
      const button = note.getByRole("button", { name: "Retry" })
      if ((await button.count()) > 0) await button.click()
      return await page.locator("[data-role=assistant]").count()
    }
    await expect.poll(retry, { ...SOON, interval: 1_000 }).toBe(1)
    expect(await note.count()).toBe(0)
    await closeAll(page)
  })
})

test("[PG86] a refusal says when the budget resets, in the reader's time zone: live, after a reload, and in a second tab", async () => {
  await setBudgets({ tenant: { tokens_per_day: 0 } })
  // This time zone is 5:30 ahead of UTC.
  const context = await setup.browser.newContext({ viewport: PHONE, timezoneId: "Asia/Kolkata", locale: "en-GB" })
  const { page, errors } = await openIn(context, setup.cuecard)
  await askQuestion(page, "/say hello")
  const note = page.locator("[data-role=user] .note bdi")
  const midnight = new Date(Math.ceil(Date.now() / 86_400_000) * 86_400_000)
  const day = midnight.toLocaleDateString("en-GB", { day: "numeric", month: "long", timeZone: "Asia/Kolkata" })
  const words = `Your organization's token budget for the day is used up. It resets on ${day} at 05:30.`
  await expect.poll(() => note.textContent(), SOON).toBe(words)
  await page.screenshot({ path: "test/browser/out/budget-refusal-phone.png" })
  await page.reload()
  await expect.poll(() => note.textContent(), SOON).toBe(words)
  const second = await openIn(context, setup.cuecard, new URL(page.url()).hash)
  await expect.poll(() => second.page.locator("[data-role=user] .note bdi").textContent(), SOON).toBe(words)
  expect([...errors, ...second.errors]).toEqual([])
  await setBudgets({ tenant: null })
  await context.close()
})

describe("the admin page", () => {
  test("[BU15] lists and changes the limits of the organization, a role and a user", async () => {
    await setBudgets({ tenant: null, roles: { member: null } })
    const { page, errors } = await openAdmin(setup.browser, setup.cuecard, "budgets", { bypassCSP: true })
    await rowWith(page, "Whole organization").getByRole("button").click()
    await page.getByLabel("Cost per month, in US dollars").fill("12.5")
    await page.getByLabel("Tokens per day").fill("-1")
    await saveButton(page).click()
    await expect.poll(() => page.textContent("dialog .fault")).toBe("“Tokens per day” must be 0 or more.")
    await page.getByLabel("Tokens per day").fill("2000000")
    await saveButton(page).click()
    await expect.poll(() => rowWith(page, "Whole organization").textContent(), SOON).toContain("$12.50")
    await rowWith(page, "Member").getByRole("button").click()
    await page.getByLabel("Stored files in megabytes").fill("1.5")
    await saveButton(page).click()
    await expect.poll(() => rowWith(page, "Member").textContent(), SOON).toContain("1.5 MB")
    await page.getByRole("button", { name: "Add a user…" }).click()
    await page.getByLabel("User ID").fill("ada")
    await page.getByLabel("Answers at once").fill("1")
    await saveButton(page).click()
    await expect.poll(() => rowWith(page, "ada").textContent(), SOON).toContain("Answers at once")
    const token = await tokenFor(setup.cuecard, "you", "owner")
    expect((await callApi(setup.cuecard, token, "GET", "/v1/budgets")).body).toEqual({
      tenant: { tokens_per_day: 2_000_000, cost_per_month: 12_500_000_000 },
      roles: { member: { stored_bytes: 1_500_000 } },
      users: { ada: { concurrent_turns: 1 } },
    })
    expect(await findViolations(page)).toEqual([])
    await rowWith(page, "ada").getByRole("button").click()
    await page.getByRole("button", { name: "Remove all limits" }).click()
    await expect.poll(() => page.textContent("main"), SOON).toContain("No users have their own limits.")
    expect(errors).toEqual([])
    await closeAll(page)
  })

  test("[BU15] an admin can't change the budget of owners", async () => {
    const { page } = await openAdmin(setup.browser, setup.cuecard, "budgets", {
      role: "admin",
      user: "an-admin",
      size: PHONE,
      theme: "dark",
    })
    await rowWith(page, "Only owners can change it.").waitFor(SOON)
    expect(await rowWith(page, "Only owners can change it.").getByRole("button").count()).toBe(0)
    await page.context().close()
  })
})
