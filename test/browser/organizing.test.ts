/**
 * organizing.test.ts: pins, folders, the archive, undo, unread marks and selecting conversations, in a real Chromium.
 */

import type { Page } from "playwright-core"
import { expect, test } from "vitest"
import { findViolations } from "./axe-violations.ts"
import { askQuestion, DESKTOP, openIn, openPage, PHONE, sessionIn, untilSettled } from "./page.ts"
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

const readHeadings = (page: Page) => page.$$eval(".sidebar nav h2", (all) => all.map((element) => element.textContent))
const isListed = async (page: Page, id: string) => (await page.$(`.sidebar [data-session="${id}"]`)) !== null

/** Takes a screenshot if PICTURES names a folder. */
async function takePicture(page: Page, name: string): Promise<void> {
  const folder = process.env["PICTURES"]
  if (folder !== undefined) await page.screenshot({ path: `${folder}/${name}.png` })
}

/** Deletes the folder, of which there is only one. */
async function deleteFolder(page: Page): Promise<void> {
  await page.hover(".folder h2")
  await page.click(".folder h2 .more")
  await page.click('[role=menuitem]:text-is("Delete folder")')
  await page.waitForSelector(".folder", { state: "detached", ...SOON })
}

test("[KB5] the arrow keys follow the list as it is shown: pinned conversations first, and none in a collapsed folder", async () => {
  const { page, errors } = await openPage(setup.browser, setup.cuecard, { size: DESKTOP })
  const pinned = await beginConversation(page, "/say pinned")
  const filed = await beginConversation(page, "/say filed")
  const newest = await beginConversation(page, "/say newest")
  await chooseFromMenu(page, pinned, "Pin")
  await chooseFromMenu(page, filed, "Move to folder…")
  await page.fill("dialog input", "Arrows")
  await page.keyboard.press("Enter")
  await page.waitForSelector(`.folder [data-session="${filed}"]`, SOON)
  const press = async (key: string, expected: string): Promise<void> => {
    await page.keyboard.press(`Alt+${key}`)
    await page.waitForSelector(`[data-session="${expected}"] [aria-current=page]`, SOON)
    expect(sessionIn(page)).toBe(expected)
  }
  await press("ArrowUp", filed)
  await press("ArrowUp", pinned)
  await press("ArrowDown", filed)
  await press("ArrowDown", newest)
  await page.click(".folder .fold")
  await page.waitForSelector(`[data-session="${filed}"]`, { state: "detached", ...SOON })
  await press("ArrowUp", pinned)
  await press("ArrowDown", newest)
  await deleteFolder(page)
  expect(errors).toEqual([])
  await page.context().close()
})

test("[LB20] [LB21] [LB23] [LB24] pins and folders survive a reload and reach another tab at once", async () => {
  const { page, errors } = await openPage(setup.browser, setup.cuecard, { size: DESKTOP, bypassCSP: true })
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
  await deleteFolder(page)
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

test("[LB25] a conversation that isn't open when its answer ends is marked as unread until it is opened", async () => {
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

test("[LB23] [LB25] in Arabic on a phone, the drawer has the same folders and buttons", async () => {
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

test("[LB27] a temporary conversation has a note, isn't in any list, and still has the note after a reload", async () => {
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
  const id = sessionIn(page)
  expect(await isListed(page, id)).toBe(false)
  await page.click(".temporary-note >> text=Delete…")
  await page.waitForSelector("[role=alertdialog]", SOON)
  expect(await findViolations(page)).toEqual([])
  await page.click("[role=alertdialog] >> text=Cancel")
  await page.click(".temporary-note >> text=Delete…")
  await page.click("[role=alertdialog] .grave")
  await page.waitForSelector(".temporary-switch", SOON)
  expect(await page.locator(".temporary-note").count()).toBe(0)
  const headers = { authorization: `Bearer ${setup.cuecard.token}` }
  const path = `${setup.cuecard.url}/v1/sessions/${id}/conversation/recent`
  // The page doesn't wait for the server.
  await expect.poll(async () => (await fetch(path, { headers })).status, SOON).toBe(404)
  expect(errors).toEqual([])
  await page.context().close()
})

test("[LB22] an open archived conversation has its title and its commands, even after a reload", async () => {
  const { page, errors } = await openPage(setup.browser, setup.cuecard, { bypassCSP: true })
  const id = await beginConversation(page, "/say kept for later")
  const title = await page.textContent(".topbar .title")
  await chooseFromMenu(page, id, "Archive")
  await page.waitForSelector(`[data-session="${id}"]`, { state: "detached", ...SOON })
  await page.goto(`${setup.cuecard.url}/#/s/${id}`)
  await page.reload()
  await untilSettled(page)
  await expect.poll(() => page.textContent(".topbar .title"), SOON).toBe(title)
  await page.click(".topbar .title-menu")
  await page.waitForSelector("[role=menuitem]", SOON)
  const commands = await page.locator("[role=menuitem]").allTextContents()
  expect(commands).toEqual(expect.arrayContaining(["Rename", "Share…", "Unarchive", "Delete"]))
  expect(commands).not.toContain("Archive")
  await takePicture(page, "archived-menu")
  expect(await findViolations(page)).toEqual([])
  await page.getByRole("menuitem", { name: "Unarchive" }).click()
  await page.waitForSelector(`.sidebar [data-session="${id}"]`, SOON)
  expect(await page.textContent(".topbar .title")).toBe(title)
  expect(errors).toEqual([])
  await page.context().close()
})

test("[LB29] the sidebar of a wide window can be hidden, stays hidden after a reload, and can be shown again", async () => {
  const { page, errors } = await openPage(setup.browser, setup.cuecard, { bypassCSP: true })
  await beginConversation(page, "/say one")
  await page.click(".sidebar .hide")
  await page.waitForSelector(".sidebar", { state: "hidden", ...SOON })
  expect(await page.evaluate(() => document.activeElement?.className)).toBe("drawer-button")
  const left = () => page.evaluate(() => document.querySelector(".topbar")?.getBoundingClientRect().left)
  expect(await left()).toBe(0)
  expect(await findViolations(page)).toEqual([])
  await takePicture(page, "sidebar-hidden")
  await page.reload()
  await untilSettled(page)
  expect(await page.locator(".sidebar").isVisible()).toBe(false)
  // A new conversation has no title, but its header contains the buttons.
  await page.click(".topbar a[href='#/']")
  await page.waitForSelector(".welcome", SOON)
  await takePicture(page, "sidebar-hidden-new")
  await page.click(".drawer-button")
  await page.waitForSelector(".sidebar .hide:focus", SOON)
  expect(await page.locator(".backdrop").count()).toBe(0)
  await page.keyboard.press("Control+b")
  await page.waitForSelector(".sidebar", { state: "hidden", ...SOON })
  // In a narrow window, the list is still a drawer.
  await page.setViewportSize(PHONE)
  await page.click(".drawer-button")
  await page.waitForSelector(".sidebar[data-open]", SOON)
  expect(await page.locator(".sidebar .hide").isVisible()).toBe(false)
  await page.keyboard.press("Escape")
  await page.setViewportSize({ width: 1280, height: 800 })
  await page.waitForSelector(".sidebar", { state: "hidden", ...SOON })
  await page.keyboard.press("Control+b")
  await page.waitForSelector(".sidebar", SOON)
  await takePicture(page, "sidebar-shown")
  expect(errors).toEqual([])
  await page.context().close()
})
