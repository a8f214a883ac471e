/**
 * mcp-input.test.ts: the form that an MCP server uses to ask the user something during a call, in a real Chromium:
 * live, after a reload, and in two tabs.
 */

import { mkdirSync } from "node:fs"
import { createServer, type Server } from "node:http"
import type { AddressInfo } from "node:net"
import type { Page } from "playwright-core"
import { afterAll, beforeAll, expect, test } from "vitest"
import { everyNth } from "../support/seeded.ts"
import { BOOKING_FORM } from "../support/asking-mcp.ts"
import { answerMcp, stopMcp } from "../support/upstream-mcp.ts"
import { callApi, tokenFor } from "./admin-pages.ts"
import { findViolations } from "./axe-violations.ts"
import { askQuestion, DESKTOP, openIn, openPage, PHONE, untilSettled } from "./page.ts"
import { SOON } from "./rich.ts"
import { useServerAndBrowser } from "./server-and-browser.ts"

const setup = useServerAndBrowser({ vars: { SCRIPTED_DELAY_MS: "1" } })
/** The folder for screenshots of the form. */
const OUT = "test/browser/out"
mkdirSync(OUT, { recursive: true })

let upstream: Server

beforeAll(async () => {
  upstream = createServer((request, reply) => void answerMcp(request, reply))
  await new Promise<void>((done) => upstream.listen(0, "127.0.0.1", done))
  const base = `http://127.0.0.1:${(upstream.address() as AddressInfo).port}`
  const asks = [{ who: { method: "elicitation/create", params: BOOKING_FORM } }]
  await fetch(`${base}/mcp/set/trips`, { method: "POST", body: JSON.stringify({ asks }) })
  const token = await tokenFor(setup.cuecard, "root", "owner")
  const server = { url: `${base}/mcp/serve/trips`, tools: ["ask"], approval: "never" }
  expect((await callApi(setup.cuecard, token, "PUT", "/v1/mcp-servers/trips", server)).status).toBe(200)
  const agent = { description: "d", prompt: "p", mcp_servers: ["trips"] }
  expect((await callApi(setup.cuecard, token, "PUT", "/v1/agents/general", agent)).status).toBe(200)
})

afterAll(() => {
  stopMcp()
  upstream.closeAllConnections()
  upstream.close()
})

const formIn = (page: Page) => page.locator('[data-segment="tool"] form.ask')
const fieldIn = (page: Page, name: string) =>
  formIn(page).locator(`[data-field="${name}"] :is(input, select, textarea)`)

async function openForm(page: Page): Promise<void> {
  await askQuestion(page, '/call trips_ask {"text":"two"}')
  await formIn(page).waitFor(SOON)
}

async function fillIn(page: Page): Promise<void> {
  await fieldIn(page, "name").fill("Ada Lovelace")
  await fieldIn(page, "seats").fill("2")
  await fieldIn(page, "class").selectOption("first")
  await formIn(page).getByLabel("Dinner").check()
}

const textOf = (page: Page) => formIn(page).textContent(SOON)
const summaryIn = (page: Page) => page.locator('[data-segment="tool"] summary')

test("[MP34] the form is the same live, after a reload and in a second tab, and disappears from both when it is answered", async () => {
  const { page, errors } = await openPage(setup.browser, setup.cuecard)
  await openForm(page)
  const text = (await textOf(page)) ?? ""
  expect(text).toContain("The server “trips” asks you:")
  expect(text).toContain("<b>Two</b> seats are left.")
  expect(text).toContain("Never enter passwords")
  expect(await formIn(page).locator("b").count()).toBe(0)
  await page.reload()
  expect(await textOf(page)).toBe(text)
  const { page: second } = await openIn(page.context(), setup.cuecard, new URL(page.url()).hash)
  expect(await textOf(second)).toBe(text)
  await fillIn(second)
  await formIn(second).getByRole("button", { name: "Send" }).click(SOON)
  for (const tab of [page, second]) {
    await formIn(tab).waitFor({ state: "detached", ...SOON })
    await untilSettled(tab, 1)
  }
  await summaryIn(page).click(SOON)
  const result = await page.locator('[data-segment="tool"] .data').last().textContent(SOON)
  for (const value of ["Ada Lovelace", "first", "Dinner", "accept"]) expect(result).toContain(value)
  expect(errors).toEqual([])
  await page.context().close()
})

test("[MP34] an empty required field is marked and focused, and declining needs no values", async () => {
  const { page, errors } = await openPage(setup.browser, setup.cuecard)
  await openForm(page)
  await fieldIn(page, "email").fill("nobody")
  await formIn(page).getByRole("button", { name: "Send" }).click(SOON)
  await expect.poll(() => formIn(page).locator('[aria-invalid="true"]').count(), SOON).toBe(3)
  expect(await fieldIn(page, "name").evaluate((input) => input === document.activeElement)).toBe(true)
  expect(await formIn(page).locator("small").allTextContents()).toEqual(Array(3).fill("Check this field."))
  await page.keyboard.type("Ada")
  await expect.poll(() => formIn(page).locator('[aria-invalid="true"]').count(), SOON).toBe(2)
  await formIn(page).getByRole("button", { name: "Decline" }).click(SOON)
  await formIn(page).waitFor({ state: "detached", ...SOON })
  await untilSettled(page, 1)
  expect(await summaryIn(page).evaluate((summary) => summary === document.activeElement)).toBe(true)
  await summaryIn(page).click(SOON)
  expect(await page.locator('[data-segment="tool"] .data').last().textContent(SOON)).toContain("decline")
  expect(errors).toEqual([])
  await page.context().close()
})

test.each(
  everyNth(
    [
      ["desk-light", DESKTOP, "light", "en"],
      ["desk-dark", DESKTOP, "dark", "en"],
      ["phone-dark", PHONE, "dark", "en"],
      ["phone-arabic", PHONE, "light", "ar"],
    ] as const,
    3,
  ),
)("[MP34] the form is accessible and fits, on %s", async (name, size, theme, language) => {
  const { page } = await openPage(setup.browser, setup.cuecard, { size, theme, bypassCSP: true })
  await page.evaluate((chosen) => localStorage.setItem("cuecard.language", chosen), language)
  if (language !== "en") await page.reload()
  await openForm(page)
  await fillIn(page)
  await formIn(page).getByRole("button").first().scrollIntoViewIfNeeded()
  expect(await page.evaluate(() => document.documentElement.scrollWidth - innerWidth)).toBeLessThanOrEqual(0)
  await page.screenshot({ path: `${OUT}/mcp-input-${name}.png` })
  expect(await findViolations(page)).toEqual([])
  await page.context().close()
})
