/** theme.test.ts: a tenant's theme on the page, on a shared copy and in the widget, from the first paint onwards. */

import { mkdirSync } from "node:fs"
import type { Page } from "playwright-core"
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest"
import { callApi } from "./admin-pages.ts"
import { askQuestion, DESKTOP, openPage, PHONE, sessionIn, THEMES, untilSettled } from "./page.ts"
import { useServerAndBrowser } from "./server-and-browser.ts"
import { allowSites, openSite, type Site, siteDocument, startSite } from "./widget-pages.ts"

const setup = useServerAndBrowser()
const SHOTS = process.env["SHOTS"]
if (SHOTS !== undefined) mkdirSync(SHOTS, { recursive: true })

const ACCENT = { light: "#0b6e4f", dark: "#5fd3a6" }
const RGB = { light: "rgb(11, 110, 79)", dark: "rgb(95, 211, 166)" }
const GREEN = {
  accent: ACCENT,
  font: "serif",
  radius: 4,
  density: "compact",
  name: "Acme Help",
  welcome: "How can Acme help?",
  suggestions: ["Where is my order?", "I want to return a jacket"],
}
/** A PNG of one pixel. */
const LOGO = Buffer.from(
  "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==",
  "base64",
)

async function shoot(page: Page, name: string): Promise<void> {
  if (SHOTS !== undefined) await page.screenshot({ path: `${SHOTS}/${name}.png` })
}

const adminToken = () => setup.cuecard.tokenFor({ scope: "admin" })

async function putLogo(): Promise<void> {
  const headers = { authorization: `Bearer ${await adminToken()}`, "content-type": "image/png" }
  const put = await fetch(`${setup.cuecard.url}/v1/theme/logo`, { method: "PUT", headers, body: LOGO })
  expect(put.status).toBe(200)
}

beforeEach(async () => {
  expect((await callApi(setup.cuecard, await adminToken(), "PUT", "/v1/theme", GREEN)).status).toBe(200)
})

/** Returns the computed colour, font and corners of an element. */
const readStyle = (page: Page, selector: string) =>
  page.locator(selector).evaluate((element) => {
    const { fontFamily } = getComputedStyle(element)
    const probe = element.appendChild(document.createElement("i"))
    probe.style.color = "var(--accent)"
    probe.style.width = "var(--radius)"
    probe.style.display = "block"
    const { color, width } = getComputedStyle(probe)
    probe.remove()
    return { color, width, font: fontFamily.split(",")[0] }
  })

describe.each(THEMES)("in the %s theme", (theme) => {
  test("[TH4] the page has the tenant's theme, text and logo at its first paint", async () => {
    await putLogo()
    const context = await setup.browser.newContext({ colorScheme: theme, viewport: DESKTOP })
    const page = await context.newPage()
    const errors: string[] = []
    page.on("console", (message) => {
      if (message.type() === "error") errors.push(message.text())
    })
    // Records the style that applies when the document's body begins, before anything can be painted.
    await page.addInitScript(() => {
      new MutationObserver((_records, observer) => {
        if (document.body === null) return
        observer.disconnect()
        Reflect.set(window, "first", document.documentElement.style.cssText)
      }).observe(document, { childList: true, subtree: true })
    })
    await page.goto(setup.cuecard.url)
    await page.waitForSelector("textarea")
    expect(await page.evaluate(() => Reflect.get(window, "first"))).toContain(`--accent: light-dark(${ACCENT.light},`)
    expect(await readStyle(page, "main.view")).toEqual({ color: RGB[theme], width: "4px", font: "Charter" })
    expect(await page.title()).toBe("Acme Help")
    expect(await page.textContent(".welcome h2")).toBe("How can Acme help?")
    expect(await page.locator(".suggestions li:not(.temporary-switch) button").allTextContents()).toEqual(
      GREEN.suggestions,
    )
    expect(await page.locator(".welcome img.mark").evaluate((image: HTMLImageElement) => image.naturalWidth)).toBe(1)
    await callApi(setup.cuecard, await adminToken(), "DELETE", "/v1/theme/logo")
    await page.reload()
    await page.waitForSelector(".welcome svg.mark")
    await shoot(page, `page-${theme}`)
    await askQuestion(page, "What's the weather in London?")
    await untilSettled(page)
    await shoot(page, `answer-${theme}`)
    expect(errors).toEqual([])
    await context.close()
  })

  test("[TH7] the widget has the theme, too, and its attribute selects light or dark", async () => {
    const other = theme === "light" ? "dark" : "light"
    const { page, errors } = await openSite(
      setup.browser,
      site.serve(siteDocument(setup.cuecard, `theme="${theme}"`)),
      { colorScheme: other },
    )
    await page.locator("cuecard-chat .composer textarea").waitFor()
    expect(await readStyle(page, "cuecard-chat .cuecard .view")).toEqual({
      color: RGB[theme],
      width: "4px",
      font: "Charter",
    })
    expect(await page.locator("cuecard-chat .welcome h2").textContent()).toBe("How can Acme help?")
    expect(await page.evaluate(() => document.documentElement.style.cssText)).toBe("")
    await shoot(page, `widget-${theme}`)
    expect(errors).toEqual([])
    await page.context().close()
  })
})

let site: Site
beforeAll(async () => {
  site = await startSite(setup.cuecard)
  await allowSites(setup.cuecard, [site.origin])
})
afterAll(async () => await site?.close())

test("[TH7] the page of a shared copy has the theme, without an account", async () => {
  const { page } = await openPage(setup.browser, setup.cuecard)
  await askQuestion(page, "/say Shared.")
  await untilSettled(page)
  const created = await page.evaluate(
    async ({ id, token }) => {
      const headers = { authorization: `Bearer ${token}`, "content-type": "application/json" }
      const made = await fetch(`/v1/sessions/${id}/shares`, { method: "POST", headers, body: "{}" })
      return (await made.json()) as { url?: string; reference?: string; id?: string }
    },
    { id: sessionIn(page), token: await tokenOfPage(page) },
  )
  const context = await setup.browser.newContext({ viewport: PHONE })
  const copy = await context.newPage()
  await copy.goto(new URL(created.url ?? `/share/${created.reference ?? created.id}`, setup.cuecard.url).href)
  await copy.waitForSelector(".shared-head")
  expect(await readStyle(copy, "main.view")).toMatchObject({ color: RGB.light, width: "4px" })
  expect(await copy.title()).toContain("Acme Help")
  await shoot(copy, "copy-phone")
  await context.close()
  await page.context().close()
})

/** Returns a token for the page's user. */
async function tokenOfPage(page: Page): Promise<string> {
  return await page.evaluate(async () => {
    const response = await fetch("/v1/dev/token", { method: "POST" })
    return ((await response.json()) as { token: string }).token
  })
}

test("[TH1] [TH4] after a reset, a newly opened page has the default theme", async () => {
  expect((await callApi(setup.cuecard, await adminToken(), "DELETE", "/v1/theme")).status).toBe(200)
  const { page } = await openPage(setup.browser, setup.cuecard)
  expect(await page.evaluate(() => document.documentElement.style.cssText)).toBe("")
  expect(await page.title()).toBe("Cuecard")
  await page.context().close()
})
