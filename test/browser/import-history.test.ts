/**
 * import-history.test.ts: imports a file from each of the other systems with the page's dialog. Checks the summary, and
 * checks that the elements are the same after the import, after a reload, and after an export and import.
 */

import type { Page } from "playwright-core"
import { describe, expect, test } from "vitest"
import { describeImportKind, importText } from "../../client/words/import-text.ts"
import type { ImportProgress } from "../../shared/protocol/http-body.ts"
import { readHistoryFixtures } from "../support/history-fixture-files.ts"
import { importValues, listValues } from "../support/history-fixtures.ts"
import { everyNth } from "../support/seeded.ts"
import { DESKTOP, openIn, sessionIn, transcriptOf, untilStill } from "./page.ts"
import { useServerAndBrowser } from "./server-and-browser.ts"

const setup = useServerAndBrowser()
const fixtures = readHistoryFixtures().map((fixture) => [fixture.name.replace(".txt", ""), fixture] as const)

async function chooseFile(page: Page, name: string, text: string): Promise<void> {
  await page.click(".import")
  const input = page.getByLabel(importText.fileInput)
  await input.setInputFiles({ name, mimeType: "application/json", buffer: Buffer.from(text) })
}

async function shownBy(page: Page, messages: number): Promise<string> {
  await expect.poll(() => page.locator("[data-transcript] article").count()).toBe(messages)
  await untilStill(page)
  return await transcriptOf(page)
}

async function callSessions(path: string, init: RequestInit = {}): Promise<Response> {
  const headers = { ...init.headers, authorization: `Bearer ${setup.cuecard.token}` }
  return await fetch(`${setup.cuecard.url}/v1/sessions/${path}`, { ...init, headers })
}

describe("[IH9] [IH1] the import dialog", () => {
  test.each(everyNth(fixtures, 4, 2))("%s", async (name, { body }) => {
    const { messages, kinds } = importValues(listValues(body))
    const context = await setup.browser.newContext({ viewport: DESKTOP })
    const { page, errors } = await openIn(context, setup.cuecard)
    await chooseFile(page, `${name}.json`, body)
    await expect.poll(() => sessionIn(page)).not.toBe("")
    if (Object.keys(kinds).length > 0) {
      const dialog = page.locator("dialog[open]")
      await dialog.getByText(importText.summary(messages.length, 0)).waitFor()
      for (const [kind, count] of Object.entries(kinds))
        await dialog.getByText(describeImportKind(kind, count)).waitFor()
      await dialog.getByRole("button").last().click()
    }
    const imported = await shownBy(page, messages.length)
    const session = sessionIn(page)
    await page.reload()
    expect(await shownBy(page, messages.length)).toBe(imported)
    const exported = await (await callSessions(`${session}/events`)).text()
    const { id } = await setup.cuecard.createSession()
    const answer = await callSessions(`${id}/import`, { method: "POST", body: exported })
    expect((await answer.json()) as ImportProgress).toMatchObject({
      skipped: 0,
      messages: messages.length,
      isSealed: true,
    })
    const other = await openIn(context, setup.cuecard, `#/s/${id}`)
    expect(await shownBy(other.page, messages.length)).toBe(imported)
    expect([...errors, ...other.errors]).toEqual([])
    await context.close()
  })

  test("[IH10] a data export of two conversations becomes two conversations, named after their titles", async () => {
    const conversation = (title: string) => ({
      title,
      current_node: "a",
      mapping: {
        a: {
          id: "a",
          message: { id: "a", author: { role: "user" }, content: { content_type: "text", parts: [`About ${title}`] } },
        },
      },
    })
    const context = await setup.browser.newContext({ viewport: DESKTOP })
    const { page, errors } = await openIn(context, setup.cuecard)
    await chooseFile(page, "conversations.json", JSON.stringify([conversation("Tides"), conversation("Winds")]))
    await page
      .locator("dialog[open]")
      .getByText(importText.exportSummary(2, 0, 0, 2))
      .waitFor()
    await page.locator("dialog[open]").getByRole("button").last().click()
    await expect
      .poll(() => page.locator("[data-transcript] article").allTextContents())
      .toEqual([expect.stringContaining("About Tides")])
    const list = page.getByRole("navigation")
    await list.getByText("Tides").first().waitFor()
    await list.getByText("Winds").first().click()
    await expect
      .poll(() => page.locator("[data-transcript] article").allTextContents())
      .toEqual([expect.stringContaining("About Winds")])
    expect(errors).toEqual([])
    await context.close()
  })
})
