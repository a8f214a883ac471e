/**
 * languages.test.ts: the page in other languages in a real Chromium: texts that aren't translated, and the direction.
 */

import { readdirSync, readFileSync } from "node:fs"
import { join } from "node:path"
import { gzipSync } from "node:zlib"
import type { Page } from "playwright-core"
import { describe, expect, test } from "vitest"
import { LANGUAGES } from "../../client/words/languages/language.ts"
import { askQuestion, DESK, FIELD, openIn, PHONE, untilSettled, untilStill } from "./page.ts"
import { useServerAndBrowser } from "./server-and-browser.ts"

const setup = useServerAndBrowser({ vars: { SCRIPTED_DELAY_MS: "0", PROBE_TOOLS: "on" } })
const ASSETS = "dist/client/assets"
const LANGUAGE_FOLDER = "client/words/languages"
/** Gzipped. */
const MAX_FILE_BYTES = 4_096
const TRANSLATIONS = LANGUAGES.filter((language) => language !== "en").map((tag) => tag.toLowerCase())
const SOON = { timeout: 20_000 }

async function openPage(language: string, size = DESK, locale = "en-US"): Promise<Page> {
  const context = await setup.browser.newContext({ viewport: size, locale })
  if (language !== "")
    await context.addInitScript((chosen) => localStorage.setItem("cuecard.language", chosen), language)
  return (await openIn(context, setup.cuecard)).page
}

/** Texts of the page that are names, figures, the user's or the server's. */
const DATA =
  "article .prose, article .body, article code, article pre, [data-segment=media], [data-segment=canvas], .card, .sidebar nav a, .sidebar .brand, option, .account-button, dd, .title, h1, .calls .hint, .calls b, .calls summary > span:first-child, time, .agent b, .menu [dir=auto], [role=status].visually-hidden, [aria-live], article[data-role=user] p:not(.note)"

/** Visible texts and labels without the brackets of the pseudo-language. */
function findBareTexts(page: Page): Promise<string[]> {
  return page.evaluate((data) => {
    const bare: string[] = []
    const isBare = (text: string): boolean => /\p{L}{2}/u.test(text.replace(/⟦[^⟧]*⟧/gu, ""))
    for (const element of document.body.querySelectorAll("*")) {
      if (element.closest(`script, style, noscript, svg, ${data}`) !== null) continue
      for (const name of ["aria-label", "title", "placeholder", "alt"]) {
        const value = element.getAttribute(name) ?? ""
        // A label may contain data around the translated text, but it must contain a translated text.
        if (isBare(value) && !value.includes("⟦")) bare.push(`${element.tagName}[${name}] ${value}`)
      }
      const own = [...element.childNodes]
        .filter((node) => node.nodeType === Node.TEXT_NODE)
        .map((node) => node.textContent)
      if (isBare(own.join(""))) bare.push(`${element.tagName}.${element.className} ${own.join("")}`)
    }
    return bare
  }, DATA)
}

describe("the pseudo-language", () => {
  test("[LG6] no state of the page has a text that isn't in the texts of the languages", async () => {
    const page = await openPage("en-XA")
    await page.waitForSelector(".import-slot button", SOON)
    await expect.poll(() => findBareTexts(page)).toEqual([])
    await askQuestion(page, "What's the weather in London and Paris?")
    await untilSettled(page)
    expect(await findBareTexts(page), "cards and tool calls").toEqual([])
    await page.hover(".sidebar nav li")
    await page.click(".sidebar nav .more")
    await page.waitForSelector(".menu", SOON)
    expect(await findBareTexts(page), "a menu").toEqual([])
    await page.click(".menu .grave")
    await page.waitForSelector(".notice .undo", SOON)
    expect(await findBareTexts(page), "a deletion that can be undone").toEqual([])
    await page.click(".notice .undo")
    await page.waitForSelector("article", SOON)
    await page.click(".import-slot button")
    await page.waitForSelector("dialog[open]", SOON)
    expect(await findBareTexts(page), "the import dialog").toEqual([])
    await page.keyboard.press("Escape")
    await page.click(".account-button")
    await page.waitForSelector(".account-panel", SOON)
    expect(await findBareTexts(page), "the user's menu").toEqual([])
    await page.click(".account-panel a[href='#/settings']")
    await page.waitForSelector(".settings h1:focus", SOON)
    expect(await findBareTexts(page), "the settings").toEqual([])
    await page.goBack()
    await page.waitForSelector("article", SOON)
    await askQuestion(page, "Draw a chart of tea 4, coffee 7")
    await page.waitForSelector(".chart", SOON)
    await untilSettled(page)
    expect(await findBareTexts(page), "a chart").toEqual([])
    await askQuestion(page, "Rename this conversation to Plans.")
    await page.waitForSelector(".ask button", SOON)
    await untilStill(page)
    expect(await findBareTexts(page), "a call that needs approval").toEqual([])
    await page.context().setOffline(true)
    await page.waitForSelector("footer .link", SOON)
    expect(await findBareTexts(page), "without a connection").toEqual([])
    await page.context().close()
  })
})

test("[LG9] each file of a language is small", () => {
  const names = readdirSync(ASSETS)
  // The page, shared copies and the widget are built separately, so each has files of its own.
  const groups = readdirSync(LANGUAGE_FOLDER, { withFileTypes: true }).filter((entry) => entry.isDirectory())
  const files = groups.flatMap(({ name: group }) =>
    TRANSLATIONS.map((tag) => names.filter((name) => new RegExp(`^(?:widget-)?${group}-${tag}-.{8}\\.js$`).test(name))),
  )
  expect(files.filter(({ length }) => length === 0)).toEqual([])
  const sizes = files
    .flat()
    .map((name) => [name, gzipSync(readFileSync(join(ASSETS, name)), { level: 9 }).byteLength] as const)
  expect(sizes.filter(([, bytes]) => bytes > MAX_FILE_BYTES)).toEqual([])
})

describe("the language of the page", () => {
  test("[LG2] [LG3] it follows the browser, and a choice is kept", async () => {
    const page = await openPage("", DESK, "de-AT")
    expect(await page.getAttribute("html", "lang")).toBe("de-AT")
    expect(await page.textContent(".welcome h2")).toBe("Wie kann ich helfen?")
    await page.click('.sidebar a[href="#/settings"]')
    await page.selectOption(".settings select", "ar")
    await page.waitForSelector("html[dir=rtl]", SOON)
    await page.click(".settings-back")
    await page.reload()
    await page.waitForSelector("html[dir=rtl]", SOON)
    expect(await page.getAttribute(FIELD, "placeholder")).toBe("اسأل عن أي شيء")
    await page.context().close()
  })
})

describe.each([
  ["desktop", DESK],
  ["phone", PHONE],
])("from right to left on a %s", (name, size) => {
  test("[LG8] nothing overflows, code runs from left to right, and the sidebar is on the right", async () => {
    const page = await openPage("ar", size)
    await askQuestion(page, "What's the weather in London and Paris?")
    await untilSettled(page)
    await askQuestion(page, "/say Use `npm start`.\n\n```ts\nconst a = 1\n```\n\nمرحبا بالعالم")
    await untilSettled(page, 2)
    if (process.env["SHOTS"] !== undefined) await page.screenshot({ path: `${process.env["SHOTS"]}/ar-${name}.png` })
    if (size === PHONE) {
      await page.click(".drawer-button")
      await page.waitForSelector(".sidebar[data-open]", SOON)
      await untilStill(page)
      await page.waitForTimeout(0)
    }
    const seen = await page.evaluate(() => ({
      overflow: document.documentElement.scrollWidth - innerWidth,
      code: getComputedStyle(document.querySelector("article pre") ?? document.body).direction,
      sidebar: Math.round(document.querySelector(".sidebar")?.getBoundingClientRect().right ?? 0) - innerWidth,
      arabic: getComputedStyle([...document.querySelectorAll("article .prose p")].at(-1) ?? document.body).direction,
    }))
    expect(seen).toEqual({ overflow: 0, code: "ltr", sidebar: 0, arabic: "rtl" })
    if (process.env["SHOTS"] !== undefined) await page.screenshot({ path: `${process.env["SHOTS"]}/ar-${name}-2.png` })
    await page.context().close()
  })
})
