/** live-region.test.ts: what screen readers announce: the text of the live region over time, in a real Chromium. */

import type { Page } from "playwright-core"
import { expect, test } from "vitest"
import { askQuestion, openIn, openPage, sessionIn, untilSettled } from "./page.ts"
import { SOON } from "./rich.ts"
import { useServerAndBrowser } from "./server-and-browser.ts"

const setup = useServerAndBrowser({ vars: { SCRIPTED_DELAY_MS: "5", PROBE_TOOLS: "on" } })

/** Starts recording the text of the live region. Returns a function that returns what has been recorded so far. */
async function listen(page: Page): Promise<() => Promise<string[]>> {
  await page.evaluate(() => {
    const region = document.querySelector(".visually-hidden[aria-live=polite]")
    const heard: string[] = []
    Object.assign(globalThis, { heard })
    if (region === null) throw new Error("There is no live region.")
    const listener = new MutationObserver(() => {
      const text = region.textContent?.trim() ?? ""
      if (text !== "") heard.push(text)
    })
    listener.observe(region, { childList: true, characterData: true, subtree: true })
  })
  return () => page.evaluate(() => (globalThis as unknown as { heard: string[] }).heard)
}

test("[PG17] tools are announced by name, a request for approval at once, each answer once, and earlier events not at all", async () => {
  const { page, errors } = await openPage(setup.browser, setup.cuecard)
  const heard = await listen(page)
  await askQuestion(page, "What's the weather in Oslo?")
  await untilSettled(page)
  await expect.poll(heard, SOON).toEqual(["Using Weather.", expect.stringContaining("Oslo")])

  await askQuestion(page, '/call probe_ask {"text":"now"}')
  await page.waitForSelector(".ask", SOON)
  await expect.poll(async () => (await heard()).at(-1), SOON).toBe("Allow Cuecard to run probe_ask?")
  // Another tab, and this tab after a reload, show the open request without announcing it again.
  const { page: second } = await openIn(page.context(), setup.cuecard, `#/s/${sessionIn(page)}`)
  await second.waitForSelector(".ask", SOON)
  const heardInSecond = await listen(second)
  await page.reload()
  await page.waitForSelector(".ask", SOON)
  const heardAfterReload = await listen(page)
  await page.click(".ask .firm")
  for (const tab of [page, second]) await untilSettled(tab, 2)
  for (const list of [heardInSecond, heardAfterReload]) {
    await expect.poll(async () => (await list()).length, SOON).toBe(1)
    expect(await list()).toEqual([expect.stringContaining("probe_ask")])
  }
  expect(errors).toEqual([])
  await page.context().close()
})
