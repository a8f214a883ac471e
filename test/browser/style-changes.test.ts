/**
 * style-changes.test.ts: how many elements the browser restyles when an answer grows, in a real Chromium on the built
 * page.
 */

import type { Page } from "playwright-core"
import { expect, test } from "vitest"
import { importMessages } from "../support/import-messages.ts"
import { DESKTOP, openPage, untilStill } from "./page.ts"
import { useServerAndBrowser } from "./server-and-browser.ts"

const SOON = { timeout: 20_000 }

/**
 * Maximum number of elements that may be restyled. The change adds 4 elements. A single rule that makes the page's
 * style depend on its messages would raise the number above a hundred.
 */
const MAX_STYLED_ELEMENTS = 20

/** The names of the marks before and after the change in the trace. */
const MARKS = { begin: "change-begin", end: "change-end" } as const

interface TraceEvent {
  readonly name: string
  readonly pid: number
  /** The time, in microseconds. */
  readonly ts: number
  readonly args: { readonly elementCount?: number }
}

const setup = useServerAndBrowser()

/**
 * Returns the number of elements that get new styles while the page runs the function. What the page draws before or
 * after the call doesn't count.
 */
async function countStyledElements(page: Page, change: (marks: typeof MARKS) => void): Promise<number> {
  const cdp = await page.context().newCDPSession(page)
  const events: TraceEvent[] = []
  cdp.on("Tracing.dataCollected", ({ value }) => events.push(...(value as unknown as TraceEvent[])))
  const completed = new Promise((resolve) => cdp.once("Tracing.tracingComplete", resolve))
  await cdp.send("Tracing.start", { transferMode: "ReportEvents", categories: "devtools.timeline,blink.user_timing" })
  await page.evaluate(change, MARKS)
  await cdp.send("Tracing.end")
  await completed
  const begin = events.find(({ name }) => name === MARKS.begin)
  const end = events.find(({ name }) => name === MARKS.end)
  if (begin === undefined || end === undefined) throw new Error("the trace has no marks")
  const isMeasured = ({ name, pid, ts }: TraceEvent): boolean =>
    name === "UpdateLayoutTree" && pid === begin.pid && ts >= begin.ts && ts <= end.ts
  const counts = events.filter(isMeasured).map(({ args }) => args.elementCount ?? 0)
  expect(counts.length).toBeGreaterThan(0)
  return counts.reduce((sum, count) => sum + count, 0)
}

/** Adds a paragraph with a button to the newest answer, and makes the browser style it at once. */
function growAnswer({ begin, end }: typeof MARKS): void {
  // Applies the styles of earlier changes first.
  document.body.getBoundingClientRect()
  performance.mark(begin)
  const prose = [...document.querySelectorAll("article .prose")].at(-1)
  const paragraph = document.createElement("p")
  const button = document.createElement("button")
  button.type = "button"
  paragraph.append("More ", button, document.createElement("b"))
  prose?.append(paragraph)
  getComputedStyle(paragraph).getPropertyValue("color")
  performance.mark(end)
}

test("[PF12] when an answer grows, only its new elements are styled", async () => {
  const session = await importMessages(setup.cuecard, 40, (at) =>
    at % 2 === 0 ? "What?" : "See [it](https://example.com):\n\n```ts\nconst a = 1\n```\n\n| a |\n|---|\n| 1 |",
  )
  const { page } = await openPage(setup.browser, setup.cuecard, { at: `#/s/${session}`, size: DESKTOP })
  await page.waitForSelector("article .prose >> nth=5", SOON)
  await page.waitForSelector("figure.code .code-tools >> nth=5", SOON)
  await page.waitForSelector("[data-session]", SOON)
  await untilStill(page)
  expect(await countStyledElements(page, growAnswer)).toBeLessThanOrEqual(MAX_STYLED_ELEMENTS)
  await page.context().close()
})
