/**
 * long-answers.test.ts: answers of 1 MB, right-to-left answers, and a document that floods the page with messages, in a
 * real Chromium on the built page.
 */

import type { Page } from "playwright-core"
import { describe, expect, test } from "vitest"
import { everyNth } from "../support/seeded.ts"
import { withRoutedSockets } from "../support/reused-contexts.ts"
import { DESKTOP, FIELD, openIn, PHONE, takeScreenshot } from "./page.ts"
import { canvas, createWireMessage, epochOf, sendMessages, serveFiles, text } from "./samples.ts"
import { useServerAndBrowser } from "./server-and-browser.ts"

const SOON = { timeout: 60_000 }
const MB = 1_000_000
const repeatText = (part: string): string => part.repeat(Math.ceil(MB / part.length)).slice(0, MB)

const setup = useServerAndBrowser()

/** Opens a page that shows a session with these answers. */
async function openWithAnswers(
  answers: readonly string[],
  view: { size?: typeof DESKTOP; theme?: "dark" | "light" } = {},
): Promise<Page> {
  const context = await setup.browser.newContext(
    withRoutedSockets({ viewport: view.size ?? DESKTOP, colorScheme: view.theme ?? "light" }),
  )
  const { id } = await setup.cuecard.createSession()
  const messages = answers.map((content) => createWireMessage("assistant", [text(content)]))
  await sendMessages(context, await epochOf(setup.cuecard.url, setup.cuecard.token, id), messages)
  const { page } = await openIn(context, setup.cuecard, `#/s/${id}`)
  return page
}

const HOSTILE: readonly (readonly [string, string])[] = [
  ["combining marks", repeatText("a\u0301\u0300\u0302\u0303\u0304\u0305\u0306\u0307")],
  ["replacement characters", repeatText("\ufffd")],
  ["Arabic without spaces", repeatText("مرحبا")],
  ["fences", repeatText("```\na\n```\n")],
  ["a table", `|a|b|\n|-|-|\n${repeatText("|**x**|`y`|\n")}`],
  ["a list", repeatText("- a\n")],
  ["lists in a line", repeatText(`${"- ".repeat(40)}a\n`)],
  ["numbered lists in a line", repeatText(`${"1. ".repeat(30)}a\n`)],
]

/** Maximum number of elements in a part. A part of ordinary prose has about 5,000. */
const MAX_PART_ELEMENTS = 20_000

describe("an answer of 1 MB", () => {
  test.each(everyNth(HOSTILE, 4, 2))(
    "[PF1] [PF3] %s: the page shows one part, and the composer works meanwhile",
    async (_name, content) => {
      const page = await openWithAnswers([content])
      // The text field works before all slices have been rendered.
      await page.click(FIELD)
      await page.keyboard.type("still here")
      await page.waitForSelector(".show-more", SOON)
      expect(await page.inputValue(FIELD)).toBe("still here")
      expect(await page.$$eval("[data-transcript] *", (all) => all.length)).toBeLessThan(MAX_PART_ELEMENTS)
      const runs = await page.$$eval("[data-transcript] .prose", (all) =>
        all.flatMap((prose) => {
          const walker = document.createTreeWalker(prose, NodeFilter.SHOW_TEXT)
          const lengths: number[] = []
          while (walker.nextNode()) lengths.push(walker.currentNode.textContent?.length ?? 0)
          return lengths
        }),
      )
      expect(Math.max(...runs)).toBeLessThanOrEqual(12_000)
      await page.context().close()
    },
  )
})

const RTL = `# تقرير الطقس

الطقس في **لندن** اليوم \`12 °C\` مع أمطار خفيفة، ثم (ربما) شمس. English words stay readable.

- غائم صباحا
- مشمس مساء
  1. أولا
  2. ثانيا

> اقتباس قصير

| المدينة | الحرارة |
|---|---|
| لندن | 12 |

- [x] שלום עולם
- [ ] עוד משימה

An English paragraph between them.`

describe("right-to-left answers", () => {
  test("[MD10] lists, quotes and tables are aligned to the right, English text to the left", async () => {
    for (const [name, view] of [
      ["desk-light", { size: DESKTOP, theme: "light" }],
      ["phone-dark", { size: PHONE, theme: "dark" }],
    ] as const) {
      const page = await openWithAnswers([RTL], view)
      await page.waitForSelector("[data-transcript] blockquote", SOON)
      const shown = await page.evaluate(() => {
        const style = (selector: string) =>
          getComputedStyle(document.querySelector(`[data-transcript] ${selector}`) as Element)
        const paragraphs = [...document.querySelectorAll("[data-transcript] .prose > p")].map(
          (element) => getComputedStyle(element).direction,
        )
        return {
          heading: style("h3").direction,
          paragraphs,
          list: [style("ul").direction, style("ul").paddingLeft],
          quote: [style("blockquote").borderRightWidth, style("blockquote").borderLeftWidth],
          cell: [style("th").direction, style("table").direction],
        }
      })
      expect(shown).toEqual({
        heading: "rtl",
        paragraphs: ["rtl", "ltr"],
        list: ["rtl", "0px"],
        quote: ["2px", "0px"],
        cell: ["rtl", "rtl"],
      })
      await takeScreenshot(page, "[data-transcript] article", `test/browser/out/rtl-${name}.png`)
      await page.context().close()
    }
  })
})

test("[MD19] the cells of a column are aligned as the source says, in both text directions", async () => {
  const tables = ["| Name | Left | Right | Center |", "| اسم | يسار | يمين | وسط |"].map(
    (header) => `${header}\n|---|:---|---:|:---:|\n| a | b | 1 | c |`,
  )
  const page = await openWithAnswers(tables, { size: DESKTOP, theme: "light" })
  await page.waitForSelector("[data-transcript] table >> nth=1", SOON)
  const alignments = await page.$$eval("[data-transcript] table", (all) =>
    all.map((table) =>
      [...table.querySelectorAll("tbody td")].map((cell) => getComputedStyle(cell).textAlign).join(" "),
    ),
  )
  expect(alignments).toEqual(["left left right center", "right left right center"])
  await page.context().close()
})

test("[CD6] a document that floods the page with 1 MB messages is replaced with a button every time", async () => {
  const url = "/canvas/documents/flood/index.html"
  const script = "const s='x'.repeat(1e6);(function f(){for(let i=0;i<5;i++)parent.postMessage(s,'*');setTimeout(f)})()"
  const context = await setup.browser.newContext({ viewport: DESKTOP })
  await serveFiles(
    context,
    new Map([[url, { type: "text/html", body: Buffer.from(`<!doctype html><script>${script}</script>`) }]]),
  )
  const { id } = await setup.cuecard.createSession()
  await sendMessages(context, await epochOf(setup.cuecard.url, setup.cuecard.token, id), [
    createWireMessage("assistant", [canvas(url, "Flood", 200)]),
  ])
  const { page } = await openIn(context, setup.cuecard, `#/s/${id}`)
  await page.waitForSelector(".canvas .note", SOON)
  expect(await page.textContent(".canvas .note")).toContain("too many messages")
  expect(await page.$("iframe")).toBe(null)
  await page.fill(FIELD, "still here")
  await page.click(".canvas .note button")
  await page.waitForSelector(".canvas .note", SOON)
  expect(await page.inputValue(FIELD)).toBe("still here")
  await context.close()
}, 120_000)
