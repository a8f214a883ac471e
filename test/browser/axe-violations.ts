/**
 * axe-violations.ts: runs axe in a page that was opened without its content security policy, which would block axe's
 * script.
 */

import { createRequire } from "node:module"
import type { AxeResults } from "axe-core"
import type { Page } from "playwright-core"

/** WCAG 2.2 level AA, and axe's best practices. */
const RULE_TAGS = ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa", "best-practice"]
/**
 * Boxes that axe may report as scrollable but not focusable. The active entry of a list is scrolled into view while the
 * message box has focus. Browsers make a box focusable if it scrolls and contains no control; text without controls
 * scrolls only in short windows.
 */
const SCROLLED_BY_BROWSER = /class="(?:completions|view|sign-in|sidebar)"/
const AXE = createRequire(import.meta.url).resolve("axe-core/axe.min.js")

/** Waits until all transitions and animations have finished, because colours change during them. */
async function untilRested(page: Page): Promise<void> {
  // If an element is hidden during its animation, the animation may never finish.
  const limit = 3_000
  await page.evaluate(
    (ms) =>
      Promise.race([
        Promise.all(document.getAnimations().map((animation) => animation.finished.catch(() => {}))),
        new Promise((done) => setTimeout(done, ms)),
      ]),
    limit,
  )
}

/** Waits until the page is idle, and returns the violations that axe finds, each with its first elements. */
export async function findViolations(page: Page): Promise<string[]> {
  await untilRested(page)
  if (!(await page.evaluate(() => "axe" in globalThis))) await page.addScriptTag({ path: AXE })
  const { violations } = await page.evaluate(
    (tags) =>
      (globalThis as unknown as { axe: { run(options: object): Promise<AxeResults> } }).axe.run({
        runOnly: tags,
        iframes: false,
        // Computing the results of passed rules, and the selectors of elements, would take extra time.
        resultTypes: ["violations"],
        selectors: false,
      }),
    RULE_TAGS,
  )
  return violations.flatMap(({ id, nodes: found }) => {
    const nodes = found.filter(({ html }) => id !== "scrollable-region-focusable" || !SCROLLED_BY_BROWSER.test(html))
    if (nodes.length === 0) return []
    const shown = nodes.slice(0, 3).map(({ html, failureSummary }) => `${html.slice(0, 160)} ${failureSummary ?? ""}`)
    return [`${id}: ${shown.join(" | ")}`]
  })
}
