/**
 * axe.test.ts: accessibility of the page in a real Chromium: axe in every state, keyboard focus, target sizes, text
 * alternatives of images, forced colours and print.
 */

import type { Browser, Page } from "playwright-core"
import { describe, expect, test } from "vitest"
import { IS_FULL } from "../support/seeded.ts"
import { findViolations } from "./axe-violations.ts"
import { askQuestion, DESK, FIELD, openPage, PHONE, untilSettled, THEMES, untilStill, type View } from "./page.ts"
import { useServerAndBrowser } from "./server-and-browser.ts"

const SOON = { timeout: 20_000 }
/** Minimum width and height of a target, in CSS pixels. SPEC AX5. */
const MIN_TARGET_PX = 24

const setup = useServerAndBrowser({ vars: { SCRIPTED_DELAY_MS: "0", PROBE_TOOLS: "on" } })

const RICH_TEXT = [
  "/say # Plan",
  "",
  "- [x] one",
  "- [ ] two",
  "",
  "| a | b |",
  "|---|---|",
  "| 1 | 2 |",
  "",
  "```ts",
  "const x = 1",
  "```",
  "",
  "> quote with [a link](https://example.com)",
].join("\n")

interface State {
  readonly name: string
  readonly size?: View["size"]
  enter(page: Page): Promise<void>
}

async function askAndWait(page: Page, question: string): Promise<void> {
  await askQuestion(page, question)
  await untilSettled(page)
}

async function openMenu(page: Page): Promise<void> {
  await askAndWait(page, "/say one")
  await page.hover(".sidebar nav li")
  await page.click(".sidebar nav .more")
  await page.waitForSelector(".menu", SOON)
}

const STATES: readonly State[] = [
  { name: "the welcome", enter: async () => {} },
  { name: "the welcome on a phone", size: PHONE, enter: async () => {} },
  { name: "cards and tool calls", enter: (page) => askAndWait(page, "What's the weather in London and Paris?") },
  {
    name: "an opened tool call",
    enter: async (page) => {
      await askAndWait(page, "What's the weather in Oslo?")
      await page.click(".calls summary")
    },
  },
  { name: "rich text", enter: (page) => askAndWait(page, RICH_TEXT) },
  { name: "rich text on a phone", size: PHONE, enter: (page) => askAndWait(page, RICH_TEXT) },
  {
    name: "a call that needs approval",
    enter: async (page) => {
      await askQuestion(page, "Rename this conversation to Plans.")
      await page.waitForSelector(".ask button", SOON)
      await untilStill(page)
    },
  },
  { name: "a failed answer", enter: (page) => askAndWait(page, "/fault model_unreachable") },
  { name: "a chart", enter: (page) => askAndWait(page, "Draw a chart of tea 4, coffee 7.") },
  { name: "a voice note", enter: (page) => askAndWait(page, "Say hello world") },
  { name: "a document", enter: (page) => askAndWait(page, "Make a counter canvas") },
  { name: "another agent", enter: (page) => askAndWait(page, "Ask the researcher about the weather in Oslo.") },
  { name: "the menu of a conversation", enter: openMenu },
  {
    name: "a deletion that can be undone",
    enter: async (page) => {
      await openMenu(page)
      await page.click(".menu .grave")
      await page.waitForSelector(".notice .undo", SOON)
    },
  },
  {
    name: "the import dialog",
    enter: async (page) => {
      await page.click("text=Import a conversation")
      await page.waitForSelector("dialog[open]", SOON)
    },
  },
  {
    name: "the drawer",
    size: PHONE,
    enter: async (page) => {
      await askAndWait(page, "/say one")
      await page.click(".drawer-button")
      await page.waitForSelector(".sidebar[data-open]", SOON)
    },
  },
  {
    name: "the settings",
    enter: async (page) => {
      await page.evaluate(() => {
        location.hash = "#/settings"
      })
      await page.waitForSelector(".settings h1:focus", SOON)
    },
  },
  {
    name: "the menu of the header",
    enter: async (page) => {
      await askAndWait(page, "/say one")
      await page.click(".title-menu")
      await page.waitForSelector(".menu", SOON)
    },
  },
  {
    name: "an open image",
    enter: async (page) => {
      await askAndWait(page, "Paint a sunset.")
      await page.click(".frame img")
      await page.waitForSelector(".lightbox", SOON)
    },
  },
  {
    name: "an open editor",
    enter: async (page) => {
      await askAndWait(page, "/say one")
      await page.hover("article[data-role=user]")
      await page.click("article[data-role=user] [aria-label=Edit]")
      await page.waitForSelector(".editor textarea", SOON)
    },
  },
  {
    name: "a page without a connection",
    enter: async (page) => {
      await askAndWait(page, "/say one")
      await page.context().setOffline(true)
      await page.waitForSelector("footer .link", SOON)
    },
  },
]

/** Opens the page without its content security policy, which would block axe's script. */
async function openBare(browser: Browser, view: View): Promise<Page> {
  const { page } = await openPage(browser, setup.cuecard, { ...view, bypassCSP: true })
  return page
}

describe("axe finds nothing in", () => {
  STATES.forEach(({ name, size = DESK, enter }, index) => {
    // A short run checks the states alternately in the light and the dark theme.
    const themes = IS_FULL ? THEMES : [THEMES[index % THEMES.length] ?? "light"]
    test(`[AX1] ${name}, ${themes.join(" and ")}`, async () => {
      const page = await openBare(setup.browser, { size })
      await enter(page)
      for (const colorScheme of themes) {
        await page.emulateMedia({ colorScheme, reducedMotion: "reduce" })
        expect(await findViolations(page), `${name}, ${colorScheme}`).toEqual([])
      }
      await page.context().close()
    })
  })
})

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

  test("[AX3] the drawer takes the focus, keeps it, and returns it to the button that opened it", async () => {
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
    // After the last control, the focus passes the browser's own controls and the backdrop, which closes the drawer.
    expect(reached.filter((name) => !/^sidebar|^none\/(?:body|backdrop)$/.test(name))).toEqual([])
    await page.keyboard.press("Escape")
    await expect.poll(() => readFocus(page)).toBe("topbar/drawer-button")
    // When the window becomes wide, the drawer becomes a column, so nothing may stay inert.
    await page.keyboard.press("Enter")
    await expect.poll(() => page.$eval(".behind-drawer", (one) => one.hasAttribute("inert"))).toBe(true)
    await page.setViewportSize(DESK)
    await expect.poll(() => page.$eval(".behind-drawer", (one) => one.hasAttribute("inert"))).toBe(false)
    await page.context().close()
  })
})

describe("what is drawn", () => {
  test("[AX4] the page has one heading of level 1, which names the conversation", async () => {
    const { page } = await openPage(setup.browser, setup.cuecard)
    expect(await page.$$eval("h1", (all) => all.map((one) => one.textContent))).toEqual(["Cuecard"])
    await askAndWait(page, "What's the weather in London?")
    await expect.poll(() => page.textContent("h1")).toContain("weather in London")
    await askAndWait(page, `/say ${JSON.stringify("# One\n\n## Two\n\n<h1>Raw</h1>")}`)
    expect(await page.$$eval(".prose :is(h1, h2)", (all) => all.length)).toBe(0)
    expect(await page.$$eval("h1", (all) => all.length)).toBe(1)
    expect(await page.$$eval(".prose :is(h3, h4)", (all) => all.map((one) => one.textContent))).toContain("Two")
    await page.context().close()
  })

  test("[AX5] every button, link and field is at least 24 pixels wide and tall, except links within text", async () => {
    for (const size of [DESK, PHONE]) {
      const { page } = await openPage(setup.browser, setup.cuecard, { size })
      await askAndWait(page, "What's the weather in London and Paris?")
      await page.hover("article[data-role=assistant]")
      await page.click(".calls > button")
      const small = await page.$$eval(
        "button, a[href], summary, textarea, input:not([disabled], [type=file])",
        (all, min) =>
          all
            .filter((one) => one.closest(".prose") === null && (one as HTMLElement).checkVisibility())
            .map((one) => ({ box: one.getBoundingClientRect(), name: one.className || one.textContent || one.tagName }))
            .filter(({ box, name }) => name !== "skip" && (box.width < min || box.height < min))
            .map(({ box, name }) => `${name}: ${Math.round(box.width)} × ${Math.round(box.height)}`),
        MIN_TARGET_PX,
      )
      expect(small).toEqual([])
      await page.context().close()
    }
  })

  test("[AX6] a chart's text has its title and figures, and an image's text is its description", async () => {
    const { page } = await openPage(setup.browser, setup.cuecard)
    await askAndWait(page, "Draw a chart of tea 4, coffee 7.")
    expect(await page.getAttribute(".chart", "aria-label", SOON)).toBe("Chart: tea, coffee")
    expect(await page.getAttribute(".chart .plot", "aria-label")).toBe("tea 4, coffee 7")
    await askAndWait(page, "Paint a sunset.")
    expect(await page.getAttribute(".frame img", "alt", SOON)).toBe("a sunset")
    await page.context().close()
  })

  test("[AX7] in forced colours, the current conversation, the user's message and the focused field are outlined", async () => {
    const { page } = await openPage(setup.browser, setup.cuecard)
    await askAndWait(page, "/say one")
    await page.emulateMedia({ forcedColors: "active" })
    const edgeOf = (selector: string) =>
      page.$eval(selector, (one) => {
        const { outlineStyle, outlineWidth, borderTopStyle, borderTopWidth } = getComputedStyle(one)
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

  test("[AX8] a printed page wraps code, and has no buttons", async () => {
    const { page } = await openPage(setup.browser, setup.cuecard)
    await askAndWait(page, `/say \`\`\`\n${"long ".repeat(100)}\n\`\`\``)
    await page.emulateMedia({ media: "print" })
    const box = await page.$eval(".prose pre", (pre) => ({ all: pre.scrollWidth, shown: pre.clientWidth }))
    expect(box.all).toBeLessThanOrEqual(box.shown + 1)
    expect(
      await page.$$eval("button", (all) => all.filter((one) => one.checkVisibility()).map((one) => one.textContent)),
    ).toEqual([])
    await page.context().close()
  })
})
