/**
 * languages.test.ts: the page in other languages in a real Chromium: choosing the language, the language files, and the
 * text direction.
 */

import { readdirSync, readFileSync } from "node:fs"
import { join } from "node:path"
import { gzipSync } from "node:zlib"
import type { Page } from "playwright-core"
import { describe, expect, test } from "vitest"
import { everyNth } from "../support/seeded.ts"
import { getDirection, LANGUAGES } from "../../client/words/languages/language.ts"
import { askQuestion, DESKTOP, FIELD, openIn, PHONE, untilSettled, untilStill } from "./page.ts"
import { useServerAndBrowser } from "./server-and-browser.ts"

const setup = useServerAndBrowser({ vars: { SCRIPTED_DELAY_MS: "0", PROBE_TOOLS: "on" } })
const ASSETS = "dist/client/assets"
const LANGUAGE_FOLDER = "client/words/languages"
/** Maximum size of a language file, gzipped, in bytes. */
const MAX_FILE_BYTES = 4_096
const TRANSLATIONS = LANGUAGES.filter((language) => language !== "en").map((tag) => tag.toLowerCase())
const SOON = { timeout: 20_000 }

async function openPage(language: string, size = DESKTOP, locale = "en-US"): Promise<Page> {
  const context = await setup.browser.newContext({ viewport: size, locale })
  if (language !== "")
    await context.addInitScript((chosen) => localStorage.setItem("cuecard.language", chosen), language)
  return (await openIn(context, setup.cuecard)).page
}

/** Returns the elements whose text is cut off, and how far the page overflows. */
function findWide(page: Page): Promise<string[]> {
  return page.evaluate(() => {
    const cut = [...document.querySelectorAll<HTMLElement>("h1, h2, p, button, legend, a, textarea")]
      .filter((element) => element.checkVisibility() && !element.matches(".visually-hidden, .skip"))
      .filter(({ scrollWidth, clientWidth }) => clientWidth > 0 && scrollWidth > clientWidth + 1)
      .map(({ tagName, className, textContent }) => `${tagName}.${className} ${textContent}`)
    const overflow = document.documentElement.scrollWidth - innerWidth
    return overflow > 0 ? [...cut, `page ${overflow}`] : cut
  })
}

test("[LG9] each file of a language is at most 4 KB, gzipped", () => {
  const names = readdirSync(ASSETS)
  // The page, shared copies and the widget are built separately, so each has its own files.
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
  test("[LG2] [LG3] follows the browser, and a choice is stored", async () => {
    const page = await openPage("", DESKTOP, "de-AT")
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

describe.each(LANGUAGES)("in %s", (language) => {
  test.each(
    everyNth(
      [
        ["phone", PHONE],
        ["desktop", DESKTOP],
      ],
      2,
    ),
  )("[LG11] nothing is wider than its container, on a %s", async (_name, size) => {
    const page = await openPage(language, size)
    await page.waitForSelector(".welcome h2", SOON)
    await page.waitForSelector(`html[dir=${getDirection(language)}]`, SOON)
    const heading = await page.$eval(".welcome h2", (element) => {
      const { lineHeight, fontSize, letterSpacing } = getComputedStyle(element)
      return { lines: Number.parseFloat(lineHeight) / Number.parseFloat(fontSize), letterSpacing }
    })
    if (language === "hi") expect(heading.lines).toBeCloseTo(1.5)
    if (language === "hi" || language === "ar") expect(heading.letterSpacing).toBe("normal")
    expect(await findWide(page), "the welcome").toEqual([])
    if (size === PHONE) await page.click(".drawer-button")
    await page.click('.sidebar a[href="#/settings"]')
    await page.waitForSelector(".settings select", SOON)
    expect(await findWide(page), "the settings").toEqual([])
    const names = await page.$$eval(".settings select option", (options) =>
      options.map(({ textContent }) => textContent),
    )
    expect(names).toEqual([
      "English",
      "Deutsch",
      "Français",
      "Español",
      "Português (Brasil)",
      "日本語",
      "简体中文",
      "हिन्दी",
      "العربية",
      "עברית",
    ])
    await page.context().close()
  })
})

describe.each(
  everyNth(
    [
      ["desktop", DESKTOP],
      ["phone", PHONE],
    ] as const,
    2,
  ),
)("from right to left on a %s", (name, size) => {
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
