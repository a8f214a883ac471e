/**
 * card-actions.test.ts: a form in a card, in a real Chromium: it can be sent only once, even with two tabs, after a
 * reload, or after an export and import.
 */

import type { Page } from "playwright-core"
import { expect, test } from "vitest"
import { tokenFor } from "./admin-pages.ts"
import { findViolations } from "./axe-violations.ts"
import { askQuestion, openIn, openPage, PHONE, sessionIn, untilSettled } from "./page.ts"
import { callRoute } from "./rich.ts"
import { useServerAndBrowser } from "./server-and-browser.ts"
import { OFFER, putForm } from "./tool-conversations.ts"

const setup = useServerAndBrowser({ vars: { SCRIPTED_DELAY_MS: "0", PROBE_TOOLS: "on" } })

/** Stores the form as an administrator. */
async function storeForm(): Promise<void> {
  const token = await tokenFor(setup.cuecard, "root", "admin")
  await putForm(async (path, body) => {
    const put = await callRoute(setup.cuecard, path, { method: "PUT", body: JSON.stringify(body) }, token)
    expect(put.status, JSON.stringify(put.json)).toBe(200)
  })
}

async function showForm(page: Page): Promise<void> {
  const call = { type: "tool_call", name: "probe_json", args: JSON.stringify({ json: JSON.stringify(OFFER) }) }
  const say = { type: "text_delta", delta: "There is a table. <span id='probe_json_1'>Shall I book it?</span>" }
  await askQuestion(page, `/script ${JSON.stringify([[call], [say]])}`)
  await untilSettled(page, 1)
  await page.locator(".view-action button.primary").waitFor()
}

const stateOf = (page: Page, label: string) =>
  page
    .locator(".view-action", { has: page.getByRole("button", { name: label }) })
    .locator(".view-state")
    .textContent()

const untilDone = (page: Page) => expect.poll(() => stateOf(page, "Book the table"), { timeout: 20_000 }).toBe("Done")

test("[KA7] a form is filled in and sent once, and every tab, a reload and an import show that it was done", async () => {
  await storeForm()
  const { page, errors } = await openPage(setup.browser, setup.cuecard, { bypassCSP: true })
  await showForm(page)
  const book = page.getByRole("button", { name: "Book the table" })
  expect(await page.getByLabel("Date").inputValue()).toBe("2026-05-09")
  // Nothing is sent, because a required field is empty.
  await book.click()
  expect(await page.getByText("Fill in this field.").count()).toBe(1)
  expect(await page.evaluate(() => document.activeElement?.getAttribute("data-field"))).toBe("guests")
  await page.getByLabel("Guests").fill("4")
  await page.getByLabel("Seat").selectOption("terrace")
  await page.getByLabel("Wishes").fill("A high chair, please")
  await page.getByLabel("By the window").check()
  expect(await findViolations(page)).toEqual([])
  const session = sessionIn(page)
  const second = await openIn(page.context(), setup.cuecard, `#/s/${session}`)
  await second.page.locator(".view-action button.primary").waitFor()
  await book.click()
  await untilSettled(page, 2)
  await untilDone(page)
  await untilDone(second.page)
  expect(await second.page.getByRole("button", { name: "Book the table" }).getAttribute("aria-disabled")).toBe("true")
  const words = await page.locator("article[data-role=user]").last().textContent()
  expect(words).toContain("Book the table")
  expect(words).toContain("Seat: Terrace")
  await book.click({ force: true })
  await page.reload()
  await untilDone(page)
  expect(await page.locator("article[data-role=user]").count()).toBe(2)
  // A call that fails can be made again.
  await page.getByRole("button", { name: "No, thanks" }).click()
  await expect.poll(() => stateOf(page, "No, thanks"), { timeout: 20_000 }).toBe("Not done")
  const token = await tokenFor(setup.cuecard, "you", "owner")
  const headers = { authorization: `Bearer ${token}` }
  const base = `${setup.cuecard.url}/v1/sessions`
  const file = await (await fetch(`${base}/${session}/events`, { headers })).text()
  const json = { ...headers, "content-type": "application/json" }
  const { id } = (await (await fetch(base, { method: "POST", headers: json, body: "{}" })).json()) as { id: string }
  const jsonl = { ...headers, "content-type": "application/jsonl" }
  expect((await fetch(`${base}/${id}/import`, { method: "POST", headers: jsonl, body: file })).status).toBe(200)
  await page.goto(`${setup.cuecard.url}/#/s/${id}`)
  await untilDone(page)
  expect(errors.filter((text) => !text.includes("422"))).toEqual([])
  await page.context().close()
})

test("[KA7] a button in each item of a list shows the state of its item, even after a reload", async () => {
  const view = [
    { id: "root", component: "List", children: { componentId: "room", path: "/rooms" } },
    { id: "room", component: "Row", children: ["name", "pick"], justify: "spaceBetween" },
    { id: "name", component: "Text", text: { path: "name" } },
    {
      ...{ id: "pick", component: "Button", action: "pick" },
      label: { call: "join", args: { values: ["Reserve ", { path: "name" }] } },
    },
  ]
  const rooms = { rooms: [{ name: "Sea" }, { name: "Garden" }] }
  const actions = { pick: { tool: "probe_effect", args: { key: { path: "name" } } } }
  const schema = { type: "object", required: ["rooms"] }
  const token = await tokenFor(setup.cuecard, "root", "admin")
  const body = JSON.stringify({ for: "probe_json", title: "Rooms", schema, view, actions, samples: [rooms] })
  const put = await callRoute(setup.cuecard, "/v1/cards/form", { method: "PUT", body }, token)
  expect(put.status, JSON.stringify(put.json)).toBe(200)
  const { page, errors } = await openPage(setup.browser, setup.cuecard, { bypassCSP: true })
  const call = { type: "tool_call", name: "probe_json", args: JSON.stringify({ json: JSON.stringify(rooms) }) }
  const say = { type: "text_delta", delta: "Two are free. <span id='probe_json_1'>Which one?</span>" }
  // A tenant's cards are cached for a second.
  await expect
    .poll(
      async () => {
        await askQuestion(page, `/script ${JSON.stringify([[call], [say]])}`)
        await untilSettled(page)
        return await page.getByRole("button", { name: "Reserve Garden" }).count()
      },
      { timeout: 20_000 },
    )
    .toBeGreaterThan(0)
  await page.getByRole("button", { name: "Reserve Garden" }).last().click()
  const readStates = () => page.locator(".card.template").last().locator(".view-state").allTextContents()
  await expect.poll(readStates, { timeout: 20_000 }).toEqual(["", "Done"])
  await page.reload()
  await expect.poll(readStates, { timeout: 20_000 }).toEqual(["", "Done"])
  expect(await findViolations(page)).toEqual([])
  expect(errors).toEqual([])
  await page.context().close()
})

test("[KA6] [KA7] a shared copy shows the form, but a reader can't use it; on a phone, its buttons are at least 38 pixels high", async () => {
  await storeForm()
  const { page } = await openPage(setup.browser, setup.cuecard, { size: PHONE, theme: "dark" })
  await showForm(page)
  const box = await page.getByRole("button", { name: "Book the table" }).boundingBox()
  expect(box?.height).toBeGreaterThanOrEqual(38)
  const session = sessionIn(page)
  const token = await tokenFor(setup.cuecard, "you", "owner")
  const last = await page.locator("article[data-role=assistant]").last().getAttribute("data-id")
  const body = JSON.stringify({ message: last })
  const created = await callRoute(setup.cuecard, `/v1/sessions/${session}/shares`, { method: "POST", body }, token)
  expect(created.status, JSON.stringify(created.json)).toBe(201)
  await page.goto(new URL(created.json.url, setup.cuecard.url).href)
  await page.getByRole("button", { name: "Book the table" }).waitFor()
  expect(await page.getByRole("button", { name: "Book the table" }).isDisabled()).toBe(true)
  expect(await page.getByLabel("Guests").isDisabled()).toBe(true)
  await page.context().close()
})
