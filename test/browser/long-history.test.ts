/**
 * long-history.test.ts: a conversation of 2,000 messages in a real Chromium on the built page: scrolling to its
 * beginning and back, an answer that arrives in the meantime, and a link to a message.
 */

import type { Cuecard } from "cuecard/testing"
import type { Page } from "playwright-core"
import { expect } from "vitest"
import { testInFull } from "../support/seeded.ts"
import { PROTOCOL_VERSION } from "../../shared/limits.ts"
import { importMessages } from "../support/import-messages.ts"
import { openPage, untilSettled } from "./page.ts"
import { useServerAndBrowser } from "./server-and-browser.ts"

const SOON = { timeout: 60_000 }
const MESSAGES = 2_000
const MAX_ARTICLES = 300

const setup = useServerAndBrowser()

/** Returns the text of a question or answer. The texts differ in height. */
function textOf(at: number): string {
  if (at % 2 === 0) return `Question ${at}`
  return `Answer ${at}${"\n\nA paragraph of this answer, with a few words.".repeat((at * 7) % 9)}`
}

/** Sends a message in the same way as another client of the session. */
async function sendMessage({ url, token }: Cuecard, session: string, content: string): Promise<void> {
  const address = new URL(`/v1/sessions/${session}/socket`, url.replace("http", "ws"))
  const socket = new WebSocket(address, ["cuecard.v1", `token.${token}`])
  await new Promise<void>((resolve) => {
    socket.addEventListener("open", () => {
      socket.send(JSON.stringify({ type: "hello", protocol: PROTOCOL_VERSION, live: true }))
      socket.send(JSON.stringify({ type: "send", id: "from-elsewhere", content }))
    })
    socket.addEventListener("message", ({ data }) => {
      if (String(data).includes('"op":"end"')) resolve()
    })
  })
  socket.close()
}

interface Watched {
  /** The largest number of messages in the document. */
  articles: number
  /** The largest distance that the message being read has moved without scrolling, in pixels. */
  moved: number
}

declare global {
  var watched: Watched
}

/** Starts counting the messages in the document after each change. */
async function watchArticles(page: Page): Promise<void> {
  await page.evaluate(() => {
    globalThis.watched = { articles: 0, moved: 0 }
    new MutationObserver(() => {
      watched.articles = Math.max(watched.articles, document.querySelectorAll("article").length)
    }).observe(document.body, { subtree: true, childList: true })
  })
}

/**
 * Scrolls close to one end of the shown part repeatedly, until the text appears. After each step, the message in the
 * middle of the view must stay where it is while other messages are added and dropped.
 */
async function scrollUntil(page: Page, edge: "top" | "end", text: string): Promise<void> {
  await page.evaluate(
    async ([edge, text]) => {
      const view = document.querySelector(".view") as HTMLElement
      const nextFrame = () => new Promise((resolve) => requestAnimationFrame(resolve))
      const deadline = performance.now() + 60_000
      const isThere = () => [...document.querySelectorAll("article p")].some((element) => element.textContent === text)
      while (!isThere()) {
        if (performance.now() > deadline) throw new Error(`${text} did not appear`)
        const first = document.querySelector("article")
        const last = [...document.querySelectorAll("article")].at(-1)
        view.scrollTop = edge === "top" ? 300 : view.scrollHeight - view.clientHeight - 300
        // Gives the browser time to lay out the messages that have come into view.
        for (let frame = 0; frame < 3; frame++) await nextFrame()
        const { top, height } = view.getBoundingClientRect()
        const anchor = [...document.querySelectorAll("article")].find(
          (element) => element.getBoundingClientRect().bottom > top + height / 2,
        )
        const before = anchor?.getBoundingClientRect().top ?? 0
        const isSame = () =>
          document.querySelector("article") === first && [...document.querySelectorAll("article")].at(-1) === last
        for (let frame = 0; frame < 60 && isSame() && !isThere(); frame++) await nextFrame()
        for (let frame = 0; frame < 4; frame++) {
          const now = anchor?.isConnected === true ? anchor.getBoundingClientRect().top : before
          watched.moved = Math.max(watched.moved, Math.abs(now - before))
          await nextFrame()
        }
      }
    },
    [edge, text] as const,
  )
}

testInFull(
  "[LT1] [LT2] [LT4] [LT5] in a conversation of 2,000 messages, the message being read stays in place while others come and go, and a link opens the first message",
  async () => {
    const { cuecard, browser } = setup
    const session = await importMessages(cuecard, MESSAGES, textOf)
    const { page, errors } = await openPage(browser, cuecard, { at: `#/s/${session}` })
    await untilSettled(page, 12)
    await watchArticles(page)
    await page.focus("article button")
    await page.hover(".view")
    await page.mouse.wheel(0, -600)
    await scrollUntil(page, "top", "Question 0")
    // The focused button was dropped with its message, so the keys scroll the view.
    expect(await page.evaluate(() => document.activeElement?.className)).toBe("view")
    const firstId = await page.getAttribute("article", "data-id")

    const shown = () => page.$$eval("article", (all) => all.map((element) => element.dataset["id"]).join())
    const before = await shown()
    await sendMessage(cuecard, session, "/say A live answer")
    await page.waitForSelector(".jump:has-text('New messages')", SOON)
    expect(await shown()).toBe(before)

    await scrollUntil(page, "end", `Answer ${MESSAGES - 1}`)
    await page.click(".jump")
    await page.waitForSelector("article:last-of-type p:text-is('A live answer')", SOON)
    await page.waitForSelector(".jump", { state: "detached", ...SOON })
    expect(await page.evaluate(() => watched.moved)).toBeLessThanOrEqual(1)

    await page.evaluate((hash) => location.replace(hash), `#/s/${session}/m/${firstId}`)
    await page.waitForSelector(`article[data-id="${firstId}"][data-marked]`, SOON)
    await page.click(".jump")
    await page.waitForSelector("article:last-of-type p:text-is('A live answer')", SOON)
    expect(await page.evaluate(() => watched.articles)).toBeLessThanOrEqual(MAX_ARTICLES)
    expect(errors).toEqual([])
    await page.context().close()
  },
  180_000,
)
