/** gate.test.ts: the placeholder for external media shows the host that a click would contact, in a real Chromium. */

import type { Page } from "playwright-core"
import { expect, test } from "vitest"
import { DESKTOP, openIn, PHONE } from "./page.ts"
import { epochOf, media, createWireMessage, sendMessages, serveFiles, text } from "./samples.ts"
import { useServerAndBrowser } from "./server-and-browser.ts"

const HOST = `pictures.example.com.${"a-name-that-goes-on".repeat(3)}.${"and-on".repeat(8)}.evil.example.org`
const LONG = "Quarterly figures of all regions ".repeat(12).trim()

const setup = useServerAndBrowser()

/** Returns the hosts that are not fully visible inside their placeholder and the window. */
function cutHosts(page: Page): Promise<string[]> {
  return page.$$eval(".gate small", (all) =>
    all.flatMap((element) => {
      const [line, gate] = [element.getBoundingClientRect(), element.closest(".gate")?.getBoundingClientRect()]
      const isIn = gate !== undefined && line.right <= gate.right + 1 && line.bottom <= gate.bottom + 1
      const isWhole = element.scrollWidth <= element.clientWidth + 1 || getComputedStyle(element).display === "inline"
      return isIn && isWhole && line.width > 0 && line.right <= innerWidth ? [] : [element.textContent ?? ""]
    }),
  )
}

test.each([
  ["desktop", DESKTOP],
  ["phone", PHONE],
])("[PG40] %s: the whole host is visible, however long the host and the label are", async (_name, viewport) => {
  const context = await setup.browser.newContext({ viewport })
  await serveFiles(context, new Map())
  const { id } = await setup.cuecard.createSession()
  const url = `https://${HOST}/x.png`
  const content = `See ![${LONG}](${url}) and ![short](https://pictures.example.com/y.png).`
  const question = createWireMessage("user", [text("Show me")])
  const answer = createWireMessage("assistant", [text(content), media("image", url, LONG)])
  await sendMessages(context, await epochOf(setup.cuecard.url, setup.cuecard.token, id), [question, answer])
  const { page } = await openIn(context, setup.cuecard, `#/s/${id}`)
  await page.waitForSelector(".gate >> nth=2")
  expect(
    await page.$$eval(".gate small", (all) => all.filter((element) => element.textContent?.includes("evil")).length),
  ).toBe(2)
  expect(await cutHosts(page)).toEqual([])
  await context.close()
})
