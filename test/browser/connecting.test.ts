/** connecting.test.ts: what the page shows while it connects, loads, or is offline. */

import type { Page } from "playwright-core"
import { expect, test } from "vitest"
import { askQuestion, openIn, openPage, sessionIn, untilSettled } from "./page.ts"
import { useServerAndBrowser } from "./server-and-browser.ts"

const SOON = { timeout: 20_000 }

/** Sends the first message of a new conversation, and returns the conversation's id. */
async function beginConversation(page: Page, text: string): Promise<string> {
  await askQuestion(page, text)
  await untilSettled(page)
  return sessionIn(page)
}

const setup = useServerAndBrowser({ vars: { SCRIPTED_DELAY_MS: "0" } })

test("[PG94] an unknown conversation doesn't keep loading forever", async () => {
  // The notice replaces the composer, so there may be no field to wait for.
  const page = await (await setup.browser.newContext()).newPage()
  await page.goto(`${setup.cuecard.url}/#/s/nonesuch`)
  await page.waitForSelector(".link:has-text('find that conversation')", SOON)
  expect(await page.$(".note.loading")).toBe(null)
  expect(await page.$(".welcome")).toBe(null)
  await page.context().close()
})

test("[PG79] offline, a conversation that isn't loaded says that it will load later, and it does", async () => {
  const { page } = await openPage(setup.browser, setup.cuecard)
  const one = await beginConversation(page, "/say one")
  await page.goto(`${setup.cuecard.url}/#/`)
  await page.waitForSelector(".welcome", SOON)
  await page.context().setOffline(true)
  await page.evaluate((id) => {
    location.hash = `#/s/${id}`
  }, one)
  await page.waitForSelector(`.note.loading:has-text("when you're back online")`, SOON)
  await page.context().setOffline(false)
  await page.waitForSelector("article p:text-is('one')", SOON)
  expect(await page.$(".note.loading")).toBe(null)
  await page.context().close()
})

test("[PG79] the first connection isn't called a reconnection, but a later one is", async () => {
  const { page } = await openPage(setup.browser, setup.cuecard)
  const id = await beginConversation(page, "/say one")
  const context = await setup.browser.newContext()
  const sockets: { close(): Promise<void> }[] = []
  let release = (): void => {}
  const held = new Promise<void>((resolve) => {
    release = resolve
  })
  await context.routeWebSocket(/\/socket$/, async (socket) => {
    await held
    sockets.push(socket)
    socket.connectToServer()
  })
  const { page: slow } = await openIn(context, setup.cuecard, `#/s/${id}`)
  await slow.waitForSelector("article", SOON)
  expect(await slow.textContent(".link")).toBe("Connecting…")
  release()
  await slow.waitForSelector(".link", { state: "detached", ...SOON })
  await sockets.at(-1)?.close()
  await slow.waitForFunction(
    () => document.querySelector(".link")?.textContent?.startsWith("Reconnecting…"),
    null,
    SOON,
  )
  await context.close()
  await page.context().close()
})

test("[PG89] while the connection is down, a button tries again at once", async () => {
  const { page } = await openPage(setup.browser, setup.cuecard)
  await askQuestion(page, "/say Connected.")
  await untilSettled(page)
  let isDown = true
  let attempts = 0
  await page.context().routeWebSocket(/\/v1\//, (socket) => {
    attempts++
    if (isDown) void socket.close()
    else socket.connectToServer()
  })
  await page.reload()
  const retry = page.locator(".link button")
  // The pauses between attempts grow to several seconds.
  await expect.poll(() => attempts, SOON).toBeGreaterThan(4)
  await retry.waitFor(SOON)
  isDown = false
  const before = attempts
  await retry.click()
  await page.waitForSelector(".link", { state: "detached", ...SOON })
  expect(attempts).toBe(before + 1)
  await page.context().close()
})

test("[PG93] offline, a new conversation says that the page is offline", async () => {
  const { page } = await openPage(setup.browser, setup.cuecard)
  await page.context().setOffline(true)
  await page.waitForSelector(".link:has-text('offline')", SOON)
  await page.context().setOffline(false)
  await page.waitForSelector(".link", { state: "detached", ...SOON })
  await page.context().close()
})
