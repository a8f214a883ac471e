/**
 * main-job.test.ts: the user asks about the weather, gets a card, and sees the same after a reload, in a real Chromium
 * on the built page.
 */

import { mkdirSync } from "node:fs"
import { fileURLToPath } from "node:url"
import { type Cuecard, startCuecard } from "cuecard/testing"
import type { Browser } from "playwright-core"
import { afterAll, beforeAll, describe, expect, test } from "vitest"
import { closeContexts, openChromium } from "../support/chromium.ts"
import { everyNth, testInFull } from "../support/seeded.ts"
import { askQuestion, DESKTOP, openPage, PHONE, sessionIn, untilSettled, transcriptOf } from "./page.ts"

/** `npm run pictures` updates the documentation's screenshots. Other runs write to an ignored folder. */
const PICTURES = fileURLToPath(
  new URL(process.env["PICTURES"] === "docs" ? "../../docs/pictures/" : "out/", import.meta.url),
)
const WEATHER = "What's the weather in London and in Tokyo?"

let cuecard: Cuecard
let browser: Browser

beforeAll(async () => {
  mkdirSync(PICTURES, { recursive: true })
  cuecard = await startCuecard({ vars: { SCRIPTED_DELAY_MS: "12" } })
  browser = await openChromium()
})

afterAll(async () => {
  await closeContexts(browser)
  await cuecard?.close()
})

const VIEWS = [
  ["desk-light", DESKTOP, "light"],
  ["desk-dark", DESKTOP, "dark"],
  ["phone-light", PHONE, "light"],
  ["phone-dark", PHONE, "dark"],
] as const

describe("the main job", () => {
  test.each(everyNth(VIEWS, 4))(
    "[PG1] %s: an answer about the weather in two cities is the same after a reload",
    async (name, size, theme) => {
      const { page, errors, externalUrls } = await openPage(browser, cuecard, { size, theme, hasMotion: true })
      await askQuestion(page, WEATHER)
      await untilSettled(page)
      const kinds = await page.$$eval("article[data-role=assistant] [data-segment]", (all) =>
        all.map((element) => element.getAttribute("data-segment")),
      )
      expect(kinds.slice(0, 2)).toEqual(["thinking", "text"])
      expect(kinds.filter((kind) => kind === "tool")).toHaveLength(2)
      expect(kinds.filter((kind) => kind === "rich")).toHaveLength(2)
      await page.screenshot({ path: `${PICTURES}${name}.png` })
      const live = await transcriptOf(page)
      await page.reload()
      await untilSettled(page)
      expect(await transcriptOf(page)).toBe(live)
      expect(errors).toEqual([])
      expect(externalUrls).toEqual([])
      await page.context().close()
    },
  )

  testInFull("[PG2] two tabs, and a third that opens in the middle of the turn, show the same transcript", async () => {
    const { page: first } = await openPage(browser, cuecard)
    await askQuestion(first, "hello")
    await untilSettled(first)
    const at = `#/s/${sessionIn(first)}`
    const { page: second } = await openPage(browser, cuecard, { at })
    await second.waitForSelector("article[data-role=assistant]")
    await askQuestion(first, WEATHER)
    await first.waitForSelector("article[data-status=running] [data-segment=text]")
    const { page: third } = await openPage(browser, cuecard, { at })
    await Promise.all([first, second, third].map((page) => untilSettled(page, 2)))
    const shown = await transcriptOf(first)
    expect(await transcriptOf(second)).toBe(shown)
    expect(await transcriptOf(third)).toBe(shown)
    await Promise.all([first, second, third].map((page) => page.context().close()))
  })

  test("[PG3] text from the model runs no code and makes no request", async () => {
    const hostile = [
      "<script>document.title='owned'</script>",
      "<img src=x onerror=\"document.title='owned'\">",
      "[click](javascript:document.title='owned')",
      "![pixel](https://evil.example/p.png)",
      "<a href='javascript:alert(1)'>link</a> <iframe src='https://evil.example'></iframe>",
      "<svg onload=alert(1)><style>*{display:none}</style>",
      "safe end",
    ].join("\n\n")
    const { page, errors, externalUrls } = await openPage(browser, cuecard)
    await askQuestion(page, `/say ${JSON.stringify(hostile)}`)
    await untilSettled(page)
    for (const when of ["live", "after a reload"]) {
      const found = await page.evaluate(() => ({
        title: document.title,
        elements: document.querySelectorAll("[data-transcript] :is(script, img, iframe, style, object, embed)").length,
        handlers: [...document.querySelectorAll("[data-transcript] *")].filter((element) =>
          [...element.attributes].some(({ name }) => name.startsWith("on") || name === "style"),
        ).length,
        links: [...document.querySelectorAll<HTMLAnchorElement>("[data-transcript] a")].map((link) => link.protocol),
      }))
      // The document title contains the conversation's title, which is the hostile text.
      expect(found.title, when).toMatch(/^(?:\/say .* · )?Cuecard$/)
      expect(found.elements, when).toBe(0)
      expect(found.handlers, when).toBe(0)
      expect(found.links.filter((scheme) => !["http:", "https:", "mailto:", "tel:"].includes(scheme))).toEqual([])
      expect(await page.textContent("article[data-role=assistant]")).toContain("safe end")
      await page.reload()
      await untilSettled(page)
    }
    expect(errors).toEqual([])
    expect(externalUrls).toEqual([])
    await page.context().close()
  })

  test("[PG4] the page stays responsive after a message of 100 KB", async () => {
    const { page, errors } = await openPage(browser, cuecard)
    const script = [
      [{ type: "text_delta", delta: `${"A long line of words. ".repeat(5_000)}\n\nthe end` }, { type: "finish" }],
    ] as const
    const long = await startCuecard({ script })
    await page.goto(`${long.url}/`)
    await page.waitForSelector("textarea")
    await askQuestion(page, "long, please")
    await untilSettled(page)
    await page.fill("textarea", "still here")
    expect(await page.inputValue("textarea")).toBe("still here")
    expect(await page.textContent("article[data-role=assistant]")).toContain("the end")
    expect(errors).toEqual([])
    await page.context().close()
    await long.close()
  })

  test("[PG5] Enter sends, Shift+Enter inserts a line break, and an empty message is not sent", async () => {
    const { page } = await openPage(browser, cuecard)
    await page.press("textarea", "Enter")
    expect(await page.$$("article")).toHaveLength(0)
    await page.type("textarea", "/say one")
    await page.press("textarea", "Shift+Enter")
    await page.type("textarea", "two")
    await page.press("textarea", "Enter")
    await untilSettled(page)
    expect(await page.textContent("article[data-role=user]")).toContain("/say one\ntwo")
    await page.context().close()
  })
})
