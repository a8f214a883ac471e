/** cards.test.ts: the cards that tenants define, on the page: live, after a reload, and after an export and import. */

import type { Page } from "playwright-core"
import { expect, test } from "vitest"
import { fillView } from "../../shared/card/view/fill-view.ts"
import { ENGLISH_LABELS } from "../../shared/card/view/view-labels.ts"
import { readTemplates } from "../shared/card/card-templates.ts"
import { tokenFor } from "./admin-pages.ts"
import { findViolations } from "./axe-violations.ts"
import { askQuestion, loadWholeHistory, openPage, PHONE, sessionIn, transcriptOf, untilSettled } from "./page.ts"
import { callRoute } from "./rich.ts"
import { useServerAndBrowser } from "./server-and-browser.ts"

const setup = useServerAndBrowser({ vars: { SCRIPTED_DELAY_MS: "0", PROBE_TOOLS: "on" } })
const SOON = { timeout: 20_000 }

async function putCard(template: object, name = "shown"): Promise<string> {
  const token = await tokenFor(setup.cuecard, "root", "admin")
  const body = JSON.stringify({ ...template, for: "probe_json" })
  const put = await callRoute(setup.cuecard, `/v1/cards/${name}`, { method: "PUT", body }, token)
  expect(put.status).toBe(200)
  return put.json.revision
}

/** Requests an answer with a card that shows the data. */
async function showCard(page: Page, data: object, n: number, caption = ""): Promise<void> {
  const call = { type: "tool_call", name: "probe_json", args: JSON.stringify({ json: JSON.stringify(data) }) }
  const say = { type: "text_delta", delta: `<span id='probe_json_1'>${caption}</span>` }
  await askQuestion(page, `/script ${JSON.stringify([[call], [say]])}`)
  await untilSettled(page, n)
}

/** Shows a card repeatedly until the server uses the version that was just stored. */
async function showVersion(page: Page, data: object, revision: string, start: number): Promise<number> {
  for (let n = start; ; n++) {
    await showCard(page, data, n, "The caption.")
    const card = page.locator("article[data-role=assistant]").last().locator(".card.template, .without-card")
    if ((await card.count()) > 0) {
      const text = await page.evaluate(
        (id) => performance.getEntriesByType("resource").some(({ name }) => name.includes(id)),
        revision,
      )
      if (text) return n
    }
  }
}

/** Returns the text of every card, with the digits of running timers replaced by zeros. */
async function listCards(page: Page): Promise<string[]> {
  await loadWholeHistory(page.context())
  const texts = await page.locator(".card.template").allTextContents()
  return texts.map((text) => text.replace(/\d+(?::\d\d)+/g, "0:00"))
}

/**
 * Exports a session and imports the file into a new session. Expects the Markdown export to contain every card's name.
 */
async function copyByExport(session: string): Promise<string> {
  const token = await tokenFor(setup.cuecard, "you", "owner")
  const url = (path: string): string => `${setup.cuecard.url}/v1/sessions${path}`
  const headers = { authorization: `Bearer ${token}` }
  const file = await (await fetch(url(`/${session}/events`), { headers })).text()
  const created = await fetch(url(""), {
    method: "POST",
    headers: { ...headers, "content-type": "application/json" },
    body: "{}",
  })
  const { id } = (await created.json()) as { readonly id: string }
  const jsonl = { ...headers, "content-type": "application/jsonl" }
  const imported = await fetch(url(`/${id}/import`), { method: "POST", headers: jsonl, body: file })
  expect(imported.status).toBe(200)
  const markdown = await (await fetch(url(`/${session}/events?format=markdown`), { headers })).text()
  for (const [name, template] of readTemplates()) {
    const title = fillView(template, template.samples[0] ?? null, { locale: "en", labels: ENGLISH_LABELS })?.title ?? ""
    expect(markdown.replaceAll("\\", ""), name).toContain(`**${title}**`)
  }
  return id
}

test("[CV10] [CV12] [CV13] every template is drawn the same live, after a reload, and after an export and an import", async () => {
  const { page } = await openPage(setup.browser, setup.cuecard, { bypassCSP: true })
  let answers = 0
  for (const [name, template] of readTemplates()) {
    const revision = await putCard(template)
    answers = await showVersion(page, template.samples[0] as object, revision, answers + 1)
    const card = page.locator(".card.template").last()
    await card.waitFor(SOON)
    expect(await card.getAttribute("aria-label"), name).not.toBe("")
  }
  await page.waitForSelector(".template .view-drawing svg", SOON)
  expect(await page.locator(".card.template").count()).toBeGreaterThanOrEqual(readTemplates().size)
  // axe reports the sources because the same search is shown twice.
  const violations = (await findViolations(page)).filter((text) => !text.includes('class="sources"'))
  expect(violations).toEqual([])
  const live = await transcriptOf(page)
  await loadWholeHistory(page.context())
  await page.reload()
  await expect.poll(async () => (await page.locator(".card.template").count()) > 10, SOON).toBe(true)
  await expect.poll(() => transcriptOf(page), SOON).toBe(live)
  const drawn = await listCards(page)
  await page.goto(`${setup.cuecard.url}/#/s/${await copyByExport(sessionIn(page))}`)
  await expect.poll(() => listCards(page), SOON).toEqual(drawn)
  await page.setViewportSize(PHONE)
  expect(await page.evaluate(() => document.documentElement.scrollWidth - innerWidth)).toBe(0)
}, 180_000)
