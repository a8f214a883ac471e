/** organizing.test.ts: pins, folders, the archive, undo, unread marks and the selection, in a real Chromium. */

import type { Page } from "playwright-core"
import { expect, test } from "vitest"
import { findViolations } from "./axe-violations.ts"
import { askQuestion, DESK, openIn, openPage, PHONE, sessionIn, untilSettled } from "./page.ts"
import { useServerAndBrowser } from "./server-and-browser.ts"

const SOON = { timeout: 20_000 }
const setup = useServerAndBrowser({ vars: { SCRIPTED_DELAY_MS: "0" } })

async function beginConversation(page: Page, text: string): Promise<string> {
  await page.goto(`${setup.cuecard.url}/#/`)
  await page.waitForSelector(".welcome", SOON)
  await askQuestion(page, text)
  await untilSettled(page)
  return sessionIn(page)
}

async function chooseFromMenu(page: Page, id: string, item: string): Promise<void> {
  await page.hover(`[data-session="${id}"]`)
  await page.click(`[data-session="${id}"] .more`)
  await page.click(`[role=menuitem]:text-is("${item}")`)
}

const readHeadings = (page: Page) => page.$$eval(".sidebar nav h2", (all) => all.map((one) => one.textContent))
const isListed = async (page: Page, id: string) => (await page.$(`.sidebar [data-session="${id}"]`)) !== null

/** Takes a screenshot if PICTURES names a folder. */
async function takePicture(page: Page, name: string): Promise<void> {
  const folder = process.env["PICTURES"]
  if (folder !== undefined) await page.screenshot({ path: `${folder}/${name}.png` })
}

test("[LB20] [LB21] [LB23] [LB24] pins and folders survive a reload and reach another tab at once", async () => {
  const { page, errors } = await openPage(setup.browser, setup.cuecard, { size: DESK, bypassCSP: true })
  const one = await beginConversation(page, "/say one")
  const two = await beginConversation(page, "/say two")
  const three = await beginConversation(page, "/say three")
  const other = await openIn(page.context(), setup.cuecard)
  await other.page.waitForSelector(`[data-session="${three}"]`, SOON)
  await chooseFromMenu(page, one, "Pin")
  await expect.poll(() => readHeadings(page), SOON).toEqual(["Pinned", "Today"])
  await expect.poll(() => readHeadings(other.page), SOON).toEqual(["Pinned", "Today"])
  await chooseFromMenu(page, two, "Move to folder…")
  await page.fill("dialog input", "Trips")
  await page.keyboard.press("Enter")
  await page.waitForSelector(`.folder [data-session="${two}"]`, SOON)
  await other.page.waitForSelector(`.folder [data-session="${two}"]`, SOON)
  await page.dragAndDrop(`[data-session="${three}"] a`, ".folder .fold")
  await page.waitForSelector(`.folder [data-session="${three}"]`, SOON)
  await takePicture(page, "desk-light")
  expect(await findViolations(page)).toEqual([])
  await page.reload()
  await page.waitForSelector(`.folder [data-session="${three}"]`, SOON)
  await page.click(".fold")
  expect(await isListed(page, two)).toBe(false)
  await page.reload()
  await page.waitForSelector(".fold[aria-expanded=false]", SOON)
  await page.hover(".folder h2")
  await page.click(".folder h2 .more")
  await page.click('[role=menuitem]:text-is("Delete folder")')
  await page.waitForSelector(`section:not(.folder) [data-session="${two}"]`, SOON)
  await other.page.waitForSelector(".folder", { state: "detached", ...SOON })
  expect(errors).toEqual([])
  await page.context().close()
})

test("[LB22] deleting and archiving can be undone, and a conversation can be restored from the archive", async () => {
  const { page, errors } = await openPage(setup.browser, setup.cuecard, { bypassCSP: true })
  const id = await beginConversation(page, "/say keep me")
  await page.fill(".composer textarea", "half a thought")
  await chooseFromMenu(page, id, "Delete")
  await page.waitForSelector(".welcome", SOON)
  expect(await isListed(page, id)).toBe(false)
  await takePicture(page, "undo")
  await page.click(".notice .undo")
  await page.waitForSelector("article p:text-is('keep me')", SOON)
  expect(await isListed(page, id)).toBe(true)
  expect(await page.inputValue(".composer textarea")).toBe("half a thought")
  await chooseFromMenu(page, id, "Archive")
  await page.waitForSelector(".notice:has-text('Archived')", SOON)
  expect(await isListed(page, id)).toBe(false)
  await page.reload()
  await page.click(".library-slot button:has-text('Archived')")
  await page.waitForSelector("dialog .places li", SOON)
  await takePicture(page, "archive")
  expect(await findViolations(page)).toEqual([])
  await page.click("dialog button:text-is('Unarchive')")
  await page.click("dialog button:text-is('Done')")
  await page.waitForSelector(`.sidebar [data-session="${id}"]`, SOON)
  expect(errors).toEqual([])
  await page.context().close()
})

test("[LB25] a conversation whose answer ends while it isn't open is marked until it is opened", async () => {
  const { page } = await openPage(setup.browser, setup.cuecard)
  const id = await beginConversation(page, "/say first")
  await page.goto(`${setup.cuecard.url}/#/`)
  await page.waitForSelector(".welcome", SOON)
  await chooseFromMenu(page, id, "Mark as unread")
  await page.waitForSelector(`[data-session="${id}"][data-unread]`, SOON)
  const other = await openIn(page.context(), setup.cuecard)
  await other.page.waitForSelector(`[data-session="${id}"][data-unread]`, SOON)
  await page.click(`[data-session="${id}"] a`)
  await untilSettled(page)
  await page.waitForSelector(`[data-session="${id}"]:not([data-unread])`, SOON)
  await page.goto(`${setup.cuecard.url}/#/`)
  await page.reload()
  await page.waitForSelector(`[data-session="${id}"]:not([data-unread])`, SOON)
  await page.context().close()
})

test("[LB26] several conversations are selected with the keyboard alone, and deleted together", async () => {
  const { page, errors } = await openPage(setup.browser, setup.cuecard, { bypassCSP: true, theme: "dark" })
  const one = await beginConversation(page, "/say one")
  const two = await beginConversation(page, "/say two")
  await page.focus(`[data-session="${two}"] .more`)
  await page.keyboard.press("Enter")
  await page.waitForSelector(".menu", SOON)
  for (let step = 0; step < 12 && (await page.$("[role=menuitem]:text-is('Select several'):focus")) === null; step++)
    await page.keyboard.press("ArrowDown")
  await page.keyboard.press("Enter")
  await page.waitForSelector(".selectable input:focus", SOON)
  await page.focus(`[data-session="${one}"] input`)
  await page.keyboard.press("Space")
  await page.waitForSelector(".selection:has-text('2 selected')", SOON)
  await takePicture(page, "selection-dark")
  expect(await findViolations(page)).toEqual([])
  await page.focus(".selection button.grave")
  await page.keyboard.press("Enter")
  await page.waitForSelector(".notice:has-text('Deleted 2 conversations.')", SOON)
  for (const id of [one, two]) expect(await isListed(page, id)).toBe(false)
  await page.click(".notice .undo")
  for (const id of [one, two]) await page.waitForSelector(`.sidebar [data-session="${id}"]`, SOON)
  expect(errors).toEqual([])
  await page.context().close()
})

test("[LB23] [LB25] on a phone, in Arabic, the drawer has the same folders and buttons", async () => {
  const { page } = await openPage(setup.browser, setup.cuecard, { size: PHONE, bypassCSP: true })
  const id = await beginConversation(page, "/say one")
  const folder = { id: "f1", name: "رحلات" }
  const headers = { authorization: `Bearer ${setup.cuecard.token}`, "content-type": "application/json" }
  await fetch(`${setup.cuecard.url}/v1/folders`, { method: "POST", headers, body: JSON.stringify(folder) })
  await fetch(`${setup.cuecard.url}/v1/sessions/${id}`, { method: "PATCH", headers, body: '{"folder":"f1"}' })
  await page.evaluate(() => localStorage.setItem("cuecard.language", "ar"))
  await page.goto(`${setup.cuecard.url}/#/`)
  await page.reload()
  await page.click(".drawer-button")
  await page.waitForSelector(`.folder [data-session="${id}"]`, SOON)
  await takePicture(page, "phone-ar")
  const { more, title } = await page.evaluate(() => {
    const boxOf = (selector: string) => document.querySelector(selector)?.getBoundingClientRect()
    return { more: boxOf(".folder h2 .more")?.toJSON(), title: boxOf(".folder .fold bdi")?.toJSON() }
  })
  expect(more.right).toBeLessThanOrEqual(title.left)
  expect(await findViolations(page)).toEqual([])
  await page.context().close()
})

test("[LB27] a temporary conversation is marked, in no list, and still marked after a reload", async () => {
  const { page, errors } = await openPage(setup.browser, setup.cuecard, { size: PHONE, bypassCSP: true })
  await page.click(".temporary-switch button")
  await page.waitForSelector(".temporary-note", SOON)
  expect(await page.getAttribute(".temporary-switch button", "aria-pressed")).toBe("true")
  expect(await findViolations(page)).toEqual([])
  await takePicture(page, "temporary-new")
  await askQuestion(page, "/say just this once")
  await untilSettled(page)
  await page.waitForSelector(".temporary-note", SOON)
  await page.reload()
  await untilSettled(page)
  await page.waitForSelector(".temporary-note", SOON)
  await takePicture(page, "temporary-open")
  expect(await isListed(page, sessionIn(page))).toBe(false)
  await page.goto(`${setup.cuecard.url}/#/`)
  await page.waitForSelector(".temporary-switch", SOON)
  expect(await page.locator(".temporary-note").count()).toBe(0)
  expect(errors).toEqual([])
  await page.context().close()
})
