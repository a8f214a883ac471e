/**
 * reading.test.ts: code, formulas and tables in a real Chromium. Tests what a selection copies and how a formula is
 * laid out. Also tests that hostile formulas and code run nothing and request nothing, even without the content
 * security policy.
 */

import type { Page } from "playwright-core"
import { expect, test } from "vitest"
import { REFUSED_TEX, TRICKY_TEX } from "../client/hostile-tex.ts"
import { findViolations } from "./axe-violations.ts"
import { DESKTOP, openIn, untilStill } from "./page.ts"
import { useServerAndBrowser } from "./server-and-browser.ts"

const setup = useServerAndBrowser()

const CODE = "const a = 1\n\n  if (a) {\n    b() // two\n}"
const READING = `Let \\(\\frac{a}{b}\\) be, and

$$\\int_0^1 x^2\\,dx = \\frac{1}{3}$$

\`\`\`ts
${CODE}
\`\`\`

| City | Rain |
|:--|--:|
| Paris | 3 |

> [!WARNING]
> Careful[^1].

[^1]: A note.`

/** Opens a page whose history contains these texts, unsanitised. */
async function showTexts(texts: readonly string[]): Promise<{ page: Page; found: string[] }> {
  const { id } = await setup.cuecard.createSession()
  const context = await setup.browser.newContext({ bypassCSP: true, viewport: DESKTOP, colorScheme: "light" })
  const found: string[] = []
  await context.exposeFunction("owned", () => void found.push("ran"))
  const blank = { mode: null, metrics: null, timestamp: "2026-01-01T00:00:00.000Z" }
  await context.route(/\/conversation\/recent/, async (route) => {
    const whole = await (await route.fetch()).json()
    const messages = texts.map((content, n) => ({
      ...blank,
      id: `a${n}`,
      role: "assistant",
      exchange_id: `x${n}`,
      seq: n + 1,
      content: "",
      status: "completed",
      segments: [{ type: "text", content }],
    }))
    await route.fulfill({ json: { ...whole, messages, has_more: false } })
  })
  const { page, errors, externalUrls } = await openIn(context, setup.cuecard, `#/s/${id}`)
  await page.waitForFunction(
    (count) => document.querySelectorAll("[data-transcript] article").length === count,
    texts.length,
    { timeout: 30_000 },
  )
  await untilStill(page)
  found.push(...errors, ...externalUrls)
  return { page, found }
}

/** Returns the text that the browser copies if the user selects all of the first match. */
function copyOf(page: Page, selector: string): Promise<string> {
  return page.evaluate((wanted) => {
    const element = document.querySelector(wanted)
    if (element === null) throw new Error(wanted)
    const selection = getSelection()
    selection?.selectAllChildren(element)
    return new Promise<string>((done) => {
      const onCopy = (event: ClipboardEvent): void => {
        // If no handler of the page intervenes, the browser copies the selected text.
        done(event.defaultPrevented ? (event.clipboardData?.getData("text/plain") ?? "") : String(selection))
      }
      addEventListener("copy", onCopy, { once: true })
      document.execCommand("copy")
    })
  }, selector)
}

test("[MD11] [MD12] [MD14] [MD15] [MD18] [RD1] code, a formula, a table, an alert and a footnote are drawn, and copied as their source", async () => {
  const { page, found } = await showTexts([READING, READING])
  await page.waitForFunction(() => document.querySelectorAll("math").length === 4)
  expect(await page.$$eval(".code-keyword", (all) => all.map((element) => element.textContent))).toEqual([
    "const",
    "if",
    "const",
    "if",
  ])
  expect(await page.getAttribute(".when", "datetime")).toBe("2026-01-01T00:00:00.000Z")
  // The denominator of a fraction is below its numerator.
  const distances = await page.$$eval("mfrac", (all) =>
    all.map(({ children: [over, under] }) => {
      return (under?.getBoundingClientRect().top ?? 0) - (over?.getBoundingClientRect().top ?? 0)
    }),
  )
  expect(distances).toHaveLength(4)
  for (const distance of distances) expect(distance).toBeGreaterThan(5)
  expect(await copyOf(page, ".prose > p")).toBe("Let \\(\\frac{a}{b}\\) be, and")
  expect(await copyOf(page, "pre")).toBe(CODE)
  expect(await findViolations(page)).toEqual([])
  const boxOf = () => page.locator("pre").first().boundingBox()
  const before = await boxOf()
  await page.click('[aria-label="Line numbers"]')
  expect(await copyOf(page, "pre")).toBe(CODE)
  await page.click('[aria-label="Wrap long lines"]')
  expect(await copyOf(page, "pre")).toBe(CODE)
  expect((await boxOf())?.height).toBe(before?.height)
  expect(found).toEqual([])
  await page.context().close()
})

test("[MD13] [MD17] hostile formulas and code run nothing, request nothing and cover nothing", async () => {
  const formulas = [...REFUSED_TEX, ...TRICKY_TEX].map((tex) => `\\(${tex}\\)\n\n$$${tex}$$`)
  const fences = ["html", "svg", "vue", "js", "md"].map((lang) => {
    return `\`\`\`${lang}\n<img src=x onerror=owned(1)><script>owned(1)</script>\`\${owned(1)}\`\n\`\`\``
  })
  const { page, found } = await showTexts([
    formulas.slice(0, 80).join("\n\n"),
    formulas.slice(80).join("\n\n"),
    ...fences,
  ])
  await page.waitForFunction(() => document.querySelectorAll("math").length > 20)
  await untilStill(page)
  const strange = await page.$$eval(".math *", (all) =>
    all.flatMap((element) => {
      const isMath = element.namespaceURI === "http://www.w3.org/1998/Math/MathML"
      return isMath && element.closest("[data-transcript]") !== null ? [] : [element.outerHTML.slice(0, 200)]
    }),
  )
  expect(strange).toEqual([])
  const tooHigh = await page.$$eval(".math", (all) =>
    all
      .filter((element) => element.getBoundingClientRect().height > 1_500)
      .map((element) => element.getAttribute("data-tex")?.slice(0, 80)),
  )
  expect(tooHigh).toEqual([])
  expect(await page.$$eval("figure.code :is(img, script, svg:not(button svg))", (all) => all.length)).toBe(0)
  expect(found).toEqual([])
  await page.context().close()
})
