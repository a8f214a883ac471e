/** unseen-changes.test.ts: changes that open windows must not show yet: late answers to other versions, and imports. */

import type { Page } from "playwright-core"
import { afterEach, expect, test } from "vitest"
import { testInFull } from "../support/seeded.ts"
import type { HistoryPage } from "../../shared/protocol/http-body.ts"
import { askQuestion, openPage, PHONE, sessionIn, untilSettled, transcriptOf, untilStill } from "./page.ts"
import { useServerAndBrowser } from "./server-and-browser.ts"

const setup = useServerAndBrowser({ vars: { PROBE_TOOLS: "on" } })

/**
 * The number of newest messages that are compared, which is more than the first test has, and less than a page of
 * history.
 */
const NEWEST_COMPARED = 8

let windows: Page[] = []
let errorsOfWindows: (readonly string[])[] = []

afterEach(async () => {
  expect(errorsOfWindows.flat()).toEqual([])
  await Promise.all(windows.map((page) => page.context().close()))
  windows = []
  errorsOfWindows = []
})

async function openWindow(session = "", size?: typeof PHONE): Promise<Page> {
  const at = session === "" ? "" : `#/s/${session}`
  const { page, errors } = await openPage(setup.browser, setup.cuecard, { at, ...(size ? { size } : {}) })
  errorsOfWindows.push(errors)
  windows.push(page)
  return page
}

/** Expects every window to show the same newest messages as a new window. */
async function expectSame(session: string, answers: number): Promise<void> {
  await Promise.all(windows.map((page) => untilSettled(page, answers)))
  const fresh = await openWindow(session)
  await untilSettled(fresh, answers)
  const shown = newestOf(await transcriptOf(fresh))
  for (const page of windows) expect(newestOf(await transcriptOf(page))).toBe(shown)
}

/**
 * Returns the newest messages of a transcript. The number of older pages that a window has loaded depends on its height
 * and on what happened in it.
 */
function newestOf(transcript: string): string {
  return transcript
    .split(/\n(?=\s*<article )/)
    .slice(-NEWEST_COMPARED)
    .join("\n")
}

function sendRequest(path: string, init: RequestInit = {}): Promise<Response> {
  const headers = { authorization: `Bearer ${setup.cuecard.token}` }
  return fetch(`${setup.cuecard.url}/v1/sessions/${path}`, { headers, ...init })
}

async function readHistory(session: string): Promise<HistoryPage> {
  return (await (await sendRequest(`${session}/conversation/recent?limit=50`)).json()) as HistoryPage
}

/** Waits until the other agent has answered. The export, which contains every version, then has no waiting call. */
async function untilAnswered(session: string): Promise<void> {
  const hasAnswer = async (): Promise<boolean> => {
    const file = await (await sendRequest(`${session}/events`)).text()
    return file.includes("Found it.") && !file.includes('"waiting":true')
  }
  await expect.poll(hasAnswer, { timeout: 20_000 }).toBe(true)
}

testInFull(
  "[VE8] a late answer to an edited question isn't shown in any window until its version is shown, and then in all windows",
  async () => {
    const page = await openWindow()
    const research = [[{ type: "tool_call", name: "probe_slow", args: '{"ms":5000}' }], [createDelta("Found it.")]]
    const message = `/script ${JSON.stringify(research)}`
    const question = { agent: "researcher", mode: "async", message }
    const call = { type: "tool_call", name: "agents_message", args: JSON.stringify(question) }
    await askQuestion(page, `/script ${JSON.stringify([[call], [createDelta("You will hear.")]])}`)
    await untilSettled(page)
    const session = sessionIn(page)
    // The question is edited while the other agent is still working.
    await page.hover("article[data-role=user]")
    await page.click("button[aria-label=Edit]")
    await page.fill(".editor textarea", "/say other")
    await page.keyboard.press("Control+Enter")
    const phone = await openWindow(session, PHONE)
    await phone.waitForSelector("p:text-is('other')")
    await untilAnswered(session)
    await expectSame(session, 1)
    for (const window of windows) expect(await window.textContent("[data-transcript]")).not.toContain("Found it.")
    await phone.click("button[aria-label='Previous version']")
    for (const window of windows) await window.waitForSelector("article[data-role=agent]")
    await expectSame(session, 2)
    expect(await page.textContent("[data-transcript]")).toContain("Found it.")
  },
)

test("[HI6] open windows show an import as soon as it is complete; until then, a reload shows the same as the open windows", async () => {
  const { id } = await setup.cuecard.createSession("Imported")
  const [page, phone] = [await openWindow(id), await openWindow(id, PHONE)]
  const parts = [fileOf("first"), fileOf("second")]
  const upload = (part: number) =>
    sendRequest(`${id}/import?part=${part}&of=2`, { method: "POST", body: parts[part - 1] ?? "" })
  expect((await upload(1)).ok).toBe(true)
  await askQuestion(page, "/say after all")
  for (const window of windows) await window.waitForSelector("article[data-status=queued]")
  const reloaded = await openWindow(id)
  await reloaded.waitForSelector("article[data-status=queued]")
  for (const tab of [reloaded, phone]) await untilStill(tab)
  expect(await transcriptOf(reloaded)).toBe(await transcriptOf(phone))
  expect((await readHistory(id)).messages).toHaveLength(1)
  expect((await upload(2)).ok).toBe(true)
  for (const window of windows) await window.waitForSelector("p:text-is('after all')", { timeout: 20_000 })
  await expectSame(id, 2)
  const shown = await page.textContent("[data-transcript]")
  expect(shown).toContain("second answer 59")
  expect((await readHistory(id)).messages.at(-1)?.status).toBe("completed")
})

function createDelta(delta: string): object {
  return { type: "text_delta", delta }
}

/** Creates a part of an import with 60 turns. */
function fileOf(name: string): string {
  const day = name === "first" ? "01" : "02"
  const turns = Array.from({ length: 60 }, (_, n) => [
    {
      type: "user_message",
      text: `${name} question ${n}`,
      responseId: `${name}-q${n}`,
      timestamp: createTime(day, n, 0),
    },
    {
      type: "assistant_message",
      text: `${name} answer ${n}`,
      responseId: `${name}-a${n}`,
      timestamp: createTime(day, n, 1),
    },
  ])
  return turns
    .flat()
    .map((record) => `${JSON.stringify(record)}\n`)
    .join("")
}

function createTime(day: string, minute: number, second: number): string {
  return `2026-01-${day}T10:${String(minute).padStart(2, "0")}:0${second}.000Z`
}
