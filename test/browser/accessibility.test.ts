/**
 * accessibility.test.ts: keyboard focus, headings, text alternatives of images, forced colours and print in a real
 * Chromium. every-state.test.ts runs axe and measures the sizes of targets.
 */

import type { Page } from "playwright-core"
import { describe, expect, test } from "vitest"
import { askQuestion, DESKTOP, FIELD, openPage, PHONE, untilSettled } from "./page.ts"
import { useServerAndBrowser } from "./server-and-browser.ts"

const SOON = { timeout: 20_000 }

const setup = useServerAndBrowser({ vars: { SCRIPTED_DELAY_MS: "0", PROBE_TOOLS: "on" } })

async function askAndWait(page: Page, question: string): Promise<void> {
  await askQuestion(page, question)
  await untilSettled(page)
}

/** Returns the names of the focused element and of the box that contains it. */
function readFocus(page: Page): Promise<string> {
  return page.evaluate(() => {
    const one = document.activeElement
    const place = one?.closest(".sidebar, .topbar, .view, .foot")
    return `${place?.className.split(" ")[0] ?? "none"}/${one?.className || one?.tagName.toLowerCase()}`
  })
}

describe("the keyboard", () => {
  test("[AX2] the first Tab reaches a button that moves the focus to the message field", async () => {
    const { page } = await openPage(setup.browser, setup.cuecard)
    // Moves the focus to the top of the page, because the page focuses the message field when it opens.
    await page.$eval(".page", (top) => {
      top.setAttribute("tabindex", "-1")
      ;(top as HTMLElement).focus()
    })
    await page.keyboard.press("Tab")
    expect(await page.textContent(":focus")).toBe("Skip to message box")
    await page.keyboard.press("Enter")
    await expect.poll(() => page.evaluate((field) => document.activeElement?.matches(field), FIELD)).toBe(true)
    await page.context().close()
  })

  test("[AX3] the drawer takes and keeps the focus, which returns to the button that opened the drawer", async () => {
    const { page } = await openPage(setup.browser, setup.cuecard, { size: PHONE })
    await askAndWait(page, "/say one")
    await page.focus(".drawer-button")
    await page.keyboard.press("Enter")
    await expect.poll(() => readFocus(page)).toBe("sidebar/sidebar")
    const reached: string[] = []
    for (let press = 0; press < 16; press++) {
      await page.keyboard.press("Tab")
      reached.push(await readFocus(page))
    }
    expect(reached[0]).toMatch(/^sidebar/)
    // After the last control, the focus passes through the browser's own controls and the backdrop, which closes the
    // drawer.
    expect(reached.filter((name) => !/^sidebar|^none\/(?:body|backdrop)$/.test(name))).toEqual([])
    await page.keyboard.press("Escape")
    await expect.poll(() => readFocus(page)).toBe("topbar/drawer-button")
    // When the window becomes wide, the drawer becomes a column, so nothing may stay inert.
    await page.keyboard.press("Enter")
    await expect.poll(() => page.$eval(".behind-drawer", (element) => element.hasAttribute("inert"))).toBe(true)
    await page.setViewportSize(DESKTOP)
    await expect.poll(() => page.$eval(".behind-drawer", (element) => element.hasAttribute("inert"))).toBe(false)
    await page.context().close()
  })
})

describe("the rendered page", () => {
  test("[AX4] the page has one heading of level 1, which names the conversation", async () => {
    const { page } = await openPage(setup.browser, setup.cuecard)
    expect(await page.$$eval("h1", (all) => all.map((element) => element.textContent))).toEqual(["Cuecard"])
    await askAndWait(page, "What's the weather in London?")
    await expect.poll(() => page.textContent("h1")).toContain("weather in London")
    await askAndWait(page, `/say ${JSON.stringify("# One\n\n## Two\n\n<h1>Raw</h1>")}`)
    expect(await page.$$eval(".prose :is(h1, h2)", (all) => all.length)).toBe(0)
    expect(await page.$$eval("h1", (all) => all.length)).toBe(1)
    expect(await page.$$eval(".prose :is(h3, h4)", (all) => all.map((element) => element.textContent))).toContain("Two")
    await page.context().close()
  })

  test("[AX6] a chart's labels contain its title and values, and an image's alternative text is its description", async () => {
    const { page } = await openPage(setup.browser, setup.cuecard)
    await askAndWait(page, "Draw a chart of tea 4, coffee 7.")
    expect(await page.getAttribute(".chart", "aria-label", SOON)).toBe("Chart: tea, coffee")
    expect(await page.getAttribute(".chart .plot", "aria-label")).toBe("tea 4, coffee 7")
    await askAndWait(page, "Paint a sunset.")
    expect(await page.getAttribute(".frame img", "alt", SOON)).toBe("a sunset")
    await page.context().close()
  })

  test("[AX7] in forced-colours mode, the current conversation, the user's message and the focused field are outlined", async () => {
    const { page } = await openPage(setup.browser, setup.cuecard)
    await askAndWait(page, "/say one")
    await page.emulateMedia({ forcedColors: "active" })
    const edgeOf = (selector: string) =>
      page.$eval(selector, (element) => {
        const { outlineStyle, outlineWidth, borderTopStyle, borderTopWidth } = getComputedStyle(element)
        return (
          (outlineStyle !== "none" ? Number.parseFloat(outlineWidth) : 0) +
          (borderTopStyle !== "none" ? Number.parseFloat(borderTopWidth) : 0)
        )
      })
    await page.focus(FIELD)
    for (const selector of [".sidebar li[data-current]", "article[data-role=user] > p[data-segment]", ".composer"])
      expect(await edgeOf(selector), selector).toBeGreaterThan(0)
    await page.context().close()
  })

  test("[AX8] a printed page wraps code and has no buttons", async () => {
    const { page } = await openPage(setup.browser, setup.cuecard)
    await askAndWait(page, `/say \`\`\`\n${"long ".repeat(100)}\n\`\`\``)
    await page.emulateMedia({ media: "print" })
    const box = await page.$eval(".prose pre", (pre) => ({ all: pre.scrollWidth, shown: pre.clientWidth }))
    expect(box.all).toBeLessThanOrEqual(box.shown + 1)
    expect(
      await page.$$eval("button", (all) =>
        all.filter((element) => element.checkVisibility()).map((element) => element.textContent),
      ),
    ).toEqual([])
    await page.context().close()
  })
})
