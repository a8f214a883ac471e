/**
 * admin-cards.test.ts: the cards section of the admin page: the playground with its editors and its result, and the
 * stored cards.
 */

import { mkdirSync } from "node:fs"
import type { Page } from "playwright-core"
import { describe, expect, test } from "vitest"
import { readTemplates } from "../shared/card/card-templates.ts"
import { HOSTILE_RESULTS, HOSTILE_TEMPLATES } from "../shared/card/hostile-corpus.ts"
import { everyNth } from "../support/seeded.ts"
import { callApi, dialogButton, openAdmin, PICTURED_VIEWS, rowWith, tokenFor, tryToLeave } from "./admin-pages.ts"
import { findViolations } from "./axe-violations.ts"
import { useServerAndBrowser } from "./server-and-browser.ts"

const setup = useServerAndBrowser()
const SOON = { timeout: 20_000 }
const SHOTS = process.env["SHOTS"]
/** Screenshots for the documentation, which `npm run pictures` retakes. */
const PICTURE =
  process.env["PICTURES"] === "docs" ? "docs/pictures/playground-light.png" : "test/browser/out/playground-light.png"
if (SHOTS !== undefined) mkdirSync(SHOTS, { recursive: true })

const api = async (method: string, path: string, body?: object) =>
  await callApi(setup.cuecard, await tokenFor(setup.cuecard, "you", "owner"), method, path, body)

const templateField = (page: Page) => page.getByLabel("Template", { exact: true })
const sampleField = (page: Page) => page.getByRole("textbox", { name: "Sample result 1" })
const card = (page: Page) => page.locator(".card-box .card")

async function openPlayground(view: Parameters<typeof openAdmin>[3] = {}) {
  const opened = await openAdmin(setup.browser, setup.cuecard, "cards", view)
  await card(opened.page).waitFor(SOON)
  return opened
}

async function startWith(page: Page, name: string): Promise<void> {
  await page.getByLabel("Start with").selectOption({ label: name })
}

/** Replaces part of a field's text. */
async function replaceIn(field: ReturnType<typeof templateField>, piece: string, other: string): Promise<void> {
  const text = await field.inputValue()
  expect(text).toContain(piece)
  await field.fill(text.replace(piece, other))
}

describe("the playground", () => {
  test("[CV41] draws each shipped template, and shows changes to it and to its samples", async () => {
    const { page, errors } = await openPlayground()
    const names = await page.locator(".start-field optgroup").first().locator("option").allTextContents()
    expect(names).toHaveLength(readTemplates().size)
    for (const name of names) {
      await startWith(page, name)
      await expect.poll(() => page.textContent(".playground-save")).toContain("No problems found")
      await expect.poll(() => card(page).locator(".view-inner").count()).toBe(1)
    }
    await startWith(page, "Search results")
    await expect.poll(() => card(page).getAttribute("aria-label")).toBe("Results for green tea")
    await replaceIn(templateField(page), '"resultsFor"', '"timer"')
    await replaceIn(sampleField(page), "green tea", "black tea")
    await expect.poll(() => card(page).getAttribute("aria-label")).toBe("Timer: black tea")
    expect((await api("GET", "/v1/cards")).body.cards).toEqual([])
    expect(errors).toEqual([])
    await page.context().close()
  })

  test("[CV41] shows each problem's line and JSON pointer, and a click on the problem selects the faulty text", async () => {
    const { page } = await openPlayground()
    const problem = page.locator(".json-problem p")
    await startWith(page, "Search results")
    await replaceIn(templateField(page), '"/query"', '"/quarry"')
    await expect.poll(() => problem.textContent()).toMatch(/^Line 7 \/title\/args\/value finds no value in any sample$/)
    await startWith(page, "Table")
    await dialogButton(page, "Discard them").click()
    await replaceIn(templateField(page), '"component": "Table"', '"component": "Tabel"')
    await expect.poll(() => problem.textContent()).toMatch(/^Line \d+ \/view\/\d+\/component must be one of Text/)
    await problem.getByRole("button").click()
    const chosen = await templateField(page).evaluate((field: HTMLTextAreaElement) => ({
      text: field.value.slice(field.selectionStart, field.selectionEnd),
      isFocused: field === document.activeElement,
    }))
    expect(chosen).toEqual({ text: '"component": "Tabel"', isFocused: true })
    expect(await page.textContent(".card-result")).toContain("last result without a problem")
    expect(await page.getByRole("button", { name: "Save the card" }).isDisabled()).toBe(true)
    await templateField(page).fill('{"for": "table",\n "view": [}')
    await expect.poll(() => problem.textContent()).toBe("Line 2 The text isn't valid JSON from here on.")
    await startWith(page, "Facts")
    await dialogButton(page, "Discard them").click()
    await sampleField(page).fill("[]")
    await expect
      .poll(() => page.locator(".playground-side .json-problem p").textContent())
      .toContain("must be an object")
    await page.context().close()
  })

  test("[CV41] needs a connection only for saving; a pasted body is split into a template and its samples", async () => {
    const { page } = await openPlayground()
    // The playground preloads the code that it may need later.
    await page.waitForFunction(() => {
      const loaded = performance.getEntriesByType("resource").map(({ name }) => name)
      return ["chart-card", "view-controls", "icon-paths"].every((part) => loaded.some((name) => name.includes(part)))
    })
    await page.waitForLoadState("networkidle")
    await page.context().setOffline(true)
    await startWith(page, "Bar chart")
    await page.locator(".card-box svg.chart, .card-box .bars").first().waitFor(SOON)
    await startWith(page, "Form")
    await page.locator(".card-box .view-field").first().waitFor(SOON)
    const body = { ...readTemplates().get("facts"), title: "Pasted" }
    await templateField(page).fill(JSON.stringify(body))
    await expect.poll(() => card(page).getAttribute("aria-label")).toBe("Pasted")
    expect(await templateField(page).inputValue()).not.toContain('"samples"')
    await page.getByLabel("Name", { exact: true }).fill("pasted")
    await page.getByRole("button", { name: "Save the card" }).click()
    await page.locator(".playground-save .fault").waitFor(SOON)
    await page.context().setOffline(false)
    await page.getByRole("button", { name: "Save the card" }).click()
    await rowWith(page, "pasted").waitFor(SOON)
    expect((await api("GET", "/v1/cards/pasted")).body).toMatchObject({ for: body.for, title: "Pasted" })
    await page.context().close()
  })

  test("[CV41] shows the card in another language, and the page around it doesn't change", async () => {
    const { page } = await openPlayground()
    await startWith(page, "Table")
    const before = await card(page).textContent()
    await page.getByLabel("Reader's language").selectOption("ar")
    await expect.poll(() => page.locator(".card-box .transcript").getAttribute("dir")).toBe("rtl")
    await page.getByLabel("Reader's language").selectOption("de")
    await expect.poll(() => card(page).textContent()).not.toBe(before)
    expect(await page.textContent("h1")).toBe("Cards")
    expect(await page.evaluate(() => document.documentElement.dir)).not.toBe("rtl")
    await page.context().close()
  })

  test("[CV41] [CV7] [CV8] hostile templates and results run nothing and fetch nothing", async () => {
    const { page, errors } = await openPlayground()
    await page.waitForLoadState("networkidle")
    const requests: string[] = []
    const dialogs: string[] = []
    page.on("request", (request) => requests.push(request.url()))
    page.on("dialog", (dialog) => {
      dialogs.push(dialog.message())
      void dialog.dismiss()
    })
    const own = new URL(setup.cuecard.url).origin
    for (const [name, body] of everyNth([...HOSTILE_RESULTS, ...HOSTILE_TEMPLATES], 3)) {
      await templateField(page).fill(JSON.stringify(body))
      const state = await page.evaluate(() => {
        const root = document.querySelector(".card-box")?.shadowRoot
        const links = [...(root?.querySelectorAll("a") ?? [])].map(({ href }) => href)
        return { links, elements: root?.querySelectorAll("script, iframe, object, embed, style, img, link").length }
      })
      expect(state.elements, name).toBe(0)
      for (const link of state.links) expect(link, name).toMatch(/^(?:https?:|mailto:|tel:)/)
    }
    expect(requests.filter((url) => !url.startsWith(`${own}/`))).toEqual([])
    expect(requests.filter((url) => !/\.(?:js|css)$/.test(url))).toEqual([])
    expect(dialogs).toEqual([])
    expect(errors).toEqual([])
    await page.context().close()
  }, 120_000)
})

describe("stored cards", () => {
  test("[AD20] are saved, listed, loaded into the playground and deleted", async () => {
    const { page, errors } = await openPlayground()
    await startWith(page, "Place")
    await page.getByLabel("Name", { exact: true }).fill("My Place")
    await page.getByRole("button", { name: "Save the card" }).click()
    await page.locator(".playground-save .fault").waitFor(SOON)
    await page.getByLabel("Name", { exact: true }).fill("my-place")
    await page.getByRole("button", { name: "Save the card" }).click()
    await expect.poll(() => page.textContent(".notice")).toContain("appear in this card")
    await page.reload()
    await rowWith(page, "my-place").getByRole("button", { name: "Edit" }).click()
    await expect.poll(() => page.getByLabel("Name", { exact: true }).inputValue()).toBe("my-place")
    await expect.poll(() => templateField(page).inputValue()).toContain('"for": "place"')
    await replaceIn(templateField(page), '"for": "place"', '"for": "places"')
    await page.getByRole("link", { name: "Models" }).click()
    await page.getByRole("heading", { name: "Models" }).waitFor(SOON)
    await tryToLeave(page)
    await page.getByRole("link", { name: "Cards" }).click()
    await expect.poll(() => templateField(page).inputValue()).toContain('"for": "places"')
    await rowWith(page, "my-place").getByRole("button", { name: "Edit" }).click()
    await dialogButton(page, "Cancel").click()
    expect(await templateField(page).inputValue()).toContain('"for": "places"')
    await rowWith(page, "my-place").getByRole("button", { name: "Delete…" }).click()
    await dialogButton(page, "Delete the card").click()
    await expect.poll(() => rowWith(page, "my-place").count()).toBe(0)
    expect(errors).toEqual([])
    await page.context().close()
  })

  test.each(PICTURED_VIEWS)("[AD20] [AX1] axe finds no violations (%s)", async (name, size, theme, direction) => {
    await api("PUT", "/v1/cards/orders", { ...readTemplates().get("table"), for: "orders" })
    const { page } = await openPlayground({ size, theme, bypassCSP: true })
    if (direction === "rtl") await page.evaluate(() => (document.documentElement.dir = "rtl"))
    await startWith(page, "Product")
    await expect.poll(() => page.textContent(".playground-save")).toContain("No problems found")
    if (SHOTS !== undefined) await page.screenshot({ path: `${SHOTS}/cards-${name}.png` })
    if (name === "desk-light") await page.locator(".playground-section").screenshot({ path: PICTURE })
    await page.evaluate(() => document.querySelector(".admin > main")?.scrollTo(0, 0))
    await replaceIn(templateField(page), '"component": "Image"', '"component": "Picture"')
    await page.locator(".json-problem p").waitFor(SOON)
    expect(await findViolations(page)).toEqual([])
    expect(await page.evaluate(() => document.documentElement.scrollWidth - innerWidth)).toBeLessThanOrEqual(0)
    if (SHOTS !== undefined) {
      await page.getByLabel("Reader's language").selectOption("ar")
      await page.locator(".json-problem button").click()
      await page.setViewportSize({ width: size.width, height: 1900 })
      await page.screenshot({ path: `${SHOTS}/cards-problem-${name}.png` })
    }
    await page.context().close()
  })
})
