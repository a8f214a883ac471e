/** upload.test.ts: attachments are uploaded, shown and downloaded, with a real server and a real Chromium. */

import type { Page } from "playwright-core"
import { describe, expect, test } from "vitest"
import { FIELD, openPage, openIn, sessionIn, untilSettled, transcriptOf } from "./page.ts"
import { useServerAndBrowser } from "./server-and-browser.ts"

/** A timeout that is longer than any loopback request takes, in milliseconds. */
const SOON = { timeout: 20_000 }

const setup = useServerAndBrowser({ vars: { SCRIPTED_DELAY_MS: "3" } }, { withFiles: true })

const bytesOf = (url: string): Buffer => setup.files.get(url)?.body ?? Buffer.alloc(0)

function chooseFiles(page: Page, ...chosen: readonly (readonly [name: string, body: Buffer])[]): Promise<void> {
  const all = chosen.map(([name, buffer]) => ({ name, buffer, mimeType: "application/octet-stream" }))
  return page.setInputFiles(".composer input[type=file]", all)
}

const readChips = (page: Page) =>
  page.$$eval(".chip", (all) => all.map((element) => element.getAttribute("data-state")))
const expectImage = (page: Page) =>
  page.waitForFunction(() => {
    const image = document.querySelector<HTMLImageElement>("article .frame img")
    return image?.complete === true && image.naturalWidth > 0
  })
const sessions = async (): Promise<number> => {
  const headers = { authorization: `Bearer ${setup.cuecard.token}` }
  const answer = await fetch(`${setup.cuecard.url}/v1/sessions`, { headers })
  return ((await answer.json()) as { sessions: unknown[] }).sessions.length
}

describe("attachments on a real server", () => {
  test("[PG42] [PG38] [PG72] the first upload creates the session; attachments are shown with their message, after a reload and in another tab", async () => {
    const { page, errors, externalUrls } = await openPage(setup.browser, setup.cuecard)
    await chooseFiles(page, ["bay.png", bytesOf("/media/landscape")], ["table.csv", bytesOf("/media/table")])
    await expect.poll(() => readChips(page), SOON).toEqual(["done", "done"])
    await page.fill(FIELD, "/say what is this?")
    await page.press(FIELD, "Enter")
    await untilSettled(page)
    await expectImage(page)
    const kinds = "article[data-role=user] [data-segment]"
    expect(await page.$$eval(kinds, (all) => all.map((element) => element.getAttribute("data-kind")))).toEqual([
      null,
      "image",
      "file",
    ])
    const live = await transcriptOf(page)
    await page.reload()
    await untilSettled(page)
    await expectImage(page)
    expect(await transcriptOf(page)).toBe(live)
    const other = await openIn(page.context(), setup.cuecard, `#/s/${sessionIn(page)}`)
    await untilSettled(other.page)
    await expectImage(other.page)
    expect(await transcriptOf(other.page)).toBe(live)
    const [download] = await Promise.all([page.waitForEvent("download"), page.click("button.file")])
    expect(download.suggestedFilename()).toBe("table.csv")
    expect([errors, externalUrls]).toEqual([[], []])
    await page.context().close()
  })

  test("[PG42] [PG71] [PG70] [PG22] an edit keeps the attachments; a message may consist of attachments alone", async () => {
    const { page, errors } = await openPage(setup.browser, setup.cuecard)
    await chooseFiles(page, ["bay.png", bytesOf("/media/landscape")])
    await expect.poll(() => readChips(page), SOON).toEqual(["done"])
    await page.click("button[type=submit]")
    await untilSettled(page)
    await expectImage(page)
    expect(await page.$("article[data-role=user] p[data-segment]")).toBe(null)
    await page.hover("article[data-role=user]")
    await page.click("[data-focus-key=edit]")
    await page.fill(".editor textarea", "/say with words now")
    await page.click(".editor .firm")
    await expect
      .poll(() => page.textContent("article[data-role=user] p[data-segment]"), SOON)
      .toBe("/say with words now")
    await expectImage(page)
    expect(errors).toEqual([])
    await page.context().close()
  })

  test("[PG70] [PG77] a note says that a refused file must be removed, and Enter doesn't remove it; an uploaded file survives a reload", async () => {
    const { page } = await openPage(setup.browser, setup.cuecard)
    await page.fill(FIELD, "/say first")
    await page.press(FIELD, "Enter")
    await untilSettled(page)
    await chooseFiles(page, ["report.docx", Buffer.from("504b0304", "hex")], ["bay.png", bytesOf("/media/landscape")])
    await expect.poll(() => readChips(page), SOON).toEqual(["failed", "done"])
    await page.fill(FIELD, "/say with a file")
    for (let press = 0; press < 3; press++) await page.press(FIELD, "Enter")
    expect(await page.textContent(".composer .blocked")).toBe("To send your message, remove “report.docx”.")
    expect(await readChips(page)).toEqual(["failed", "done"])
    expect(await page.inputValue(FIELD)).toBe("/say with a file")
    await expect.poll(() => page.evaluate(() => JSON.stringify({ ...localStorage })), SOON).toContain("bay.png")
    await page.reload()
    await expect.poll(() => readChips(page), SOON).toEqual(["done"])
    await page.press(FIELD, "Enter")
    await untilSettled(page, 2)
    await expectImage(page)
    await page.context().close()
  })

  test("[PG42] [PG67] [PG72] for a file of unknown type, the server's error text is shown; a session that was created for an upload is deleted if no message follows", async () => {
    const before = await sessions()
    const { page } = await openPage(setup.browser, setup.cuecard)
    await chooseFiles(page, ["tool.exe", Buffer.from("4d5a90000300000004000000ffff0000", "hex")])
    await expect.poll(() => readChips(page), SOON).toEqual(["failed"])
    expect(await page.textContent(".chip [role=alert]")).toMatch(/\w{3,}.*\.$/)
    expect(await sessions()).toBe(before + 1)
    await page.click(".chip button")
    await expect.poll(sessions, SOON).toBe(before)
    await page.context().close()
  })
})
