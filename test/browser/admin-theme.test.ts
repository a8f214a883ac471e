/** admin-theme.test.ts: the theme section of the admin page: fields, contrasts, previews, the logo, and the reset. */

import { mkdirSync } from "node:fs"
import type { Page } from "playwright-core"
import { beforeEach, describe, expect, test } from "vitest"
import { callApi, dialogButton, openAdmin, PICTURED_VIEWS, tokenFor } from "./admin-pages.ts"
import { findViolations } from "./axe-violations.ts"
import { useServerAndBrowser } from "./server-and-browser.ts"

const setup = useServerAndBrowser()
const SOON = { timeout: 20_000 }
const SHOTS = process.env["SHOTS"]
if (SHOTS !== undefined) mkdirSync(SHOTS, { recursive: true })

const api = async (method: string, body?: object) =>
  await callApi(setup.cuecard, await tokenFor(setup.cuecard, "you", "owner"), method, "/v1/theme", body)

const colorField = (page: Page, name: string) => page.getByRole("textbox", { name, exact: true })
/** Returns the colour of the nth link in the previews: 0 is in the light preview, 1 in the dark one. */
const previewAccent = (page: Page, at: number) =>
  page
    .locator(".theme-preview .cuecard a")
    .nth(at)
    .evaluate((link) => getComputedStyle(link).color)

async function openTheme(view: Parameters<typeof openAdmin>[3] = {}): Promise<Awaited<ReturnType<typeof openAdmin>>> {
  const opened = await openAdmin(setup.browser, setup.cuecard, "theme", view)
  await opened.page.waitForSelector(".theme-preview .cuecard svg.chart, .theme-preview .cuecard .card", SOON)
  return opened
}

beforeEach(async () => {
  expect((await api("DELETE")).status).toBe(200)
})

describe("the theme form", () => {
  test("[TH8] previews the light and the dark scheme before anything is saved, and saves what the previews show", async () => {
    const { page, errors } = await openTheme()
    await colorField(page, "Accent, light").fill("#0b6e4f")
    await colorField(page, "Accent, dark").fill("#5fd3a6")
    await expect.poll(() => previewAccent(page, 0)).toBe("rgb(11, 110, 79)")
    await expect.poll(() => previewAccent(page, 1)).toBe("rgb(95, 211, 166)")
    await page.getByLabel("Font").selectOption("serif")
    await page.getByLabel("Name").fill("Acme Help")
    await page.getByLabel("Welcome text").fill("How can Acme help?")
    await page.getByLabel("Suggestions").fill("Where is my order?\n\nReturn a jacket\n")
    expect(await page.locator(".theme-preview .cuecard .title").allTextContents()).toEqual(["Acme Help", "Acme Help"])
    expect((await api("GET")).body.theme.name).toBe("")
    await page.click("button:text-is('Save changes')")
    await expect
      .poll(async () => (await api("GET")).body.theme)
      .toMatchObject({
        accent: { light: "#0b6e4f", dark: "#5fd3a6" },
        font: "serif",
        name: "Acme Help",
        suggestions: ["Where is my order?", "Return a jacket"],
      })
    expect(errors).toEqual([])
    await page.context().close()
  })

  test("[TH8] shows each contrast as the colours are typed, and doesn't save a theme whose text would be unreadable", async () => {
    const { page } = await openTheme()
    const save = page.locator("button:text-is('Save changes')")
    expect(await page.locator(".contrasts [data-low]").count()).toBe(0)
    await colorField(page, "Accent, light").fill("#ffee00")
    await expect.poll(() => page.locator(".contrasts [data-low]").count()).toBeGreaterThan(3)
    expect(await page.locator(".contrasts [data-low]").first().textContent()).toBe("1.20 : 1 Too low, at least 4.5 : 1")
    expect(await page.textContent(".theme-editor .fault")).toContain("hard to read")
    expect(await save.isDisabled()).toBe(true)
    await colorField(page, "Accent, light").fill("red;}")
    await expect.poll(() => page.textContent(".theme-editor .fault")).toContain("Accent, light isn't a color")
    expect(await save.isDisabled()).toBe(true)
    await colorField(page, "Accent, light").fill("#0B6E4F")
    await expect.poll(() => save.isDisabled()).toBe(false)
    await page.context().close()
  })

  test("[TH8] uploads and removes a logo, and says why another file can't be used as a logo; a reset needs a confirmation", async () => {
    const { page } = await openTheme()
    const pixel = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=="
    const choose = (name: string, buffer: Buffer) =>
      page.setInputFiles(".logo-field input", { name, mimeType: "image/png", buffer })
    await choose("evil.png", Buffer.from("<svg xmlns='http://www.w3.org/2000/svg'><script>alert(1)</script></svg>"))
    await expect.poll(() => page.textContent(".logo-field .fault")).toBe("This isn't a PNG file.")
    await choose("large.png", Buffer.alloc(70_000))
    await expect.poll(() => page.textContent(".logo-field .fault")).toBe("This file is larger than 64 KB.")
    await choose("logo.png", Buffer.from(pixel, "base64"))
    await page.waitForSelector(".logo-field img", SOON)
    await page.waitForSelector(".theme-preview .cuecard img.mark", SOON)
    await page.click("text=Reset…")
    await dialogButton(page, "Cancel").click()
    expect((await api("GET")).body.theme.logo).not.toBeNull()
    await page.click("text=Reset…")
    await dialogButton(page, "Reset the theme").click()
    await expect.poll(async () => (await api("GET")).body.theme.logo).toBeNull()
    await expect.poll(() => page.locator(".logo-field img").count()).toBe(0)
    await page.context().close()
  })

  test.each(PICTURED_VIEWS)("[TH8] [AX1] axe finds no violations (%s)", async (name, size, theme, direction) => {
    const { page } = await openTheme({ size, theme, bypassCSP: true })
    if (direction === "rtl") await page.evaluate(() => (document.documentElement.dir = "rtl"))
    await colorField(page, "Accent, light").fill("#ffee00")
    await page.getByLabel("Name").fill("Acme Help")
    await page.waitForSelector(".contrasts [data-low]")
    expect(await findViolations(page)).toEqual([])
    expect(await page.evaluate(() => document.documentElement.scrollWidth - innerWidth)).toBeLessThanOrEqual(0)
    if (SHOTS !== undefined) {
      await page.screenshot({ path: `${SHOTS}/admin-low-${name}.png`, fullPage: true })
      await colorField(page, "Accent, light").fill("#0b6e4f")
      await page.screenshot({ path: `${SHOTS}/admin-${name}.png`, fullPage: true })
    }
    await page.context().close()
  })
})
