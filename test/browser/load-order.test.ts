/**
 * load-order.test.ts: what the page loads before the messages of an open conversation, in a real Chromium on the built
 * page.
 */

import { readdirSync, readFileSync } from "node:fs"
import { expect, test } from "vitest"
import { importMessages } from "../support/import-messages.ts"
import { useServerAndBrowser } from "./server-and-browser.ts"

const SOON = { timeout: 20_000 }
const BUILT = "dist/client"

/** Maximum time that the page waits before it loads the remaining code, in milliseconds (client/app/main.tsx). */
const MAX_REST_DELAY_MS = 2_000

declare global {
  /** When the first message was drawn, in milliseconds since the page was opened. */
  var firstMessageAt: number | undefined
  /** The number of messages after each change to the document, without repetitions. */
  var messageCounts: number[]
}

const setup = useServerAndBrowser()

test("[PF9] the code that draws messages imports only scripts that the page's HTML names", () => {
  const html = readFileSync(`${BUILT}/index.html`, "utf8")
  const [, path = ""] = /data-preload="([^"]+)"/.exec(html) ?? []
  const code = readFileSync(`${BUILT}${path}`, "utf8")
  const imports = [...code.matchAll(/\bfrom\s*"\.\/([^"]+)"/g)].map((match) => match[1] ?? "")
  expect(imports.length).toBeGreaterThan(0)
  expect(imports.filter((name) => !html.includes(`/assets/${name}"`))).toEqual([])
})

test("[PF9] code that an open conversation doesn't need is loaded after its messages have been drawn", async () => {
  const session = await importMessages(setup.cuecard, 4, (at) => `Message ${at}`)
  const context = await setup.browser.newContext()
  const page = await context.newPage()
  // Without the maximum wait, the order depends only on the messages.
  await page.addInitScript((longestWait) => {
    const original = globalThis.setTimeout
    const withoutWait = (callback: () => void, ms?: number): unknown =>
      ms === longestWait ? 0 : original.call(globalThis, callback, ms)
    globalThis.setTimeout = withoutWait as typeof setTimeout
    new MutationObserver(() => {
      if (document.querySelector("article") !== null) globalThis.firstMessageAt ??= performance.now()
    }).observe(document, { childList: true, subtree: true })
  }, MAX_REST_DELAY_MS)
  const history = page.waitForResponse(/\/conversation\/recent/)
  // The messages arrive before this code, and the page has time to start loading the remaining code.
  await page.route(/\/assets\/transcript-/, async (route) => {
    await (await history).finished()
    await page.waitForSelector(".view .note.loading, .view h2", { ...SOON, state: "attached" })
    await page.evaluate(async () => {
      for (let frame = 0; frame < 5; frame++) {
        await new Promise((resolve) => requestAnimationFrame(() => setTimeout(resolve)))
      }
    })
    await route.continue()
  })
  await page.goto(`${setup.cuecard.url}/#/s/${session}`)
  await page.waitForSelector("article >> nth=3", SOON)
  const later = readdirSync(`${BUILT}/assets`).filter((name) =>
    /^(?:composer-tools|search-tools|session-actions|user-menu)-/.test(name),
  )
  await page.waitForFunction(
    (names) =>
      performance.getEntriesByType("resource").filter(({ name }) => names.some((item) => name.endsWith(item))).length >=
      4,
    later,
    SOON,
  )
  const early = await page.evaluate(
    (names) =>
      performance
        .getEntriesByType("resource")
        .filter(({ name, startTime }) => names.some((item) => name.endsWith(item)) && startTime < (firstMessageAt ?? 0))
        .map(({ name }) => name),
    later,
  )
  expect(early).toEqual([])
  await context.close()
})

test("[PF13] the newest messages are drawn first and then the others, and the view stays at the end", async () => {
  const session = await importMessages(setup.cuecard, 24, (at) => `Message ${at}\n\nwith a second paragraph.`)
  const context = await setup.browser.newContext()
  const page = await context.newPage()
  await page.addInitScript(() => {
    globalThis.messageCounts = []
    new MutationObserver(() => {
      const { length } = document.querySelectorAll("article")
      if (messageCounts.at(-1) !== length) messageCounts.push(length)
    }).observe(document, { childList: true, subtree: true })
  })
  await page.goto(`${setup.cuecard.url}/#/s/${session}`)
  await page.waitForSelector("article >> nth=23", SOON)
  expect((await page.evaluate(() => messageCounts)).filter((count) => count > 0)).toEqual([10, 24])
  expect(await page.textContent("article >> nth=0")).toContain("Message 0")
  await page.waitForFunction(
    () => {
      const view = document.querySelector(".view") as HTMLElement
      return view.scrollTop > 0 && view.scrollHeight - view.scrollTop - view.clientHeight < 2
    },
    undefined,
    SOON,
  )
  await context.close()
})
