/**
 * page.ts: measures the page in a real Chromium: its first paint, interactions, streamed Markdown, and 10,000 messages.
 *
 * Script times at full speed are the main thread's processor time, on which other load on the machine has little
 * effect. All other times are elapsed time, because the browser simulates a slow processor by pausing.
 */

import { type Cuecard, startCuecard } from "cuecard/testing"
import type { Browser } from "playwright-core"
import { openChromium } from "../support/chromium.ts"
import { importMessages } from "../support/import-messages.ts"
import { formatMb, median, percentile, sleep } from "./measure.ts"
import { DELTA_CHARS, startTextModel } from "./page-model.ts"
import { type Conditions, openProbe, type Probe, subtractWork, type Work } from "./page-probe.ts"
import type { Row } from "./table.ts"

const FIELD = ".composer textarea"
const LOADS = 3
const STREAMS = 5
const KEYS = 80
/** The pause between two keys, in milliseconds. It isn't a multiple of a frame's duration. */
const KEY_MS = 37
const SHORT_CONVERSATION = 50
const LONG_CONVERSATION = 10_000
const SLOW: Conditions = { cpu: 4 }
const SLOW_PHONE: Conditions = { cpu: 4, isSlowNetwork: true }
const MAX_WAIT_MS = 90_000
const QUIET_MS = 800

const round = (ms: number): string => `${ms < 10 ? ms.toFixed(1) : Math.round(ms)} ms`

function createRow(what: string, ours: string, goal = ""): Row {
  return { what: `page: ${what}`, ours, goal, floor: "", peer: "" }
}

function textOf(at: number): string {
  if (at % 2 === 0) return `What about number ${at}?`
  return `Number **${at}** is fine.\n\n- It has ${at % 7} parts.\n- It was \`checked\` twice.\n\nNothing else is known about it.`
}

async function openConversation(browser: Browser, cuecard: Cuecard, session: string): Promise<Probe> {
  const probe = await openProbe(browser, cuecard, `#/s/${session}`)
  await probe.page.waitForSelector("article >> nth=20")
  await sleep(QUIET_MS)
  return probe
}

/** Returns the median largest contentful paint of cold visits, in milliseconds. */
async function measurePaint(browser: Browser, cuecard: Cuecard, path: string, selector: string): Promise<number> {
  const times: number[] = []
  for (let load = 0; load < LOADS; load++) {
    const { page, close } = await openProbe(browser, cuecard, path, SLOW_PHONE)
    await page.waitForSelector(selector)
    await sleep(QUIET_MS)
    times.push(await page.evaluate(() => pageProbe.lcp))
    await close()
  }
  return median(times)
}

async function benchPaint(browser: Browser, cuecard: Cuecard, session: string): Promise<Row[]> {
  const empty = await measurePaint(browser, cuecard, "", FIELD)
  const filled = await measurePaint(browser, cuecard, `#/s/${session}`, "article >> nth=20")
  const where = "at 4× throttle on slow 4G, cold: largest contentful paint"
  return [
    createRow(`a new conversation ${where}`, round(empty), "≤ 1,200 ms"),
    createRow(`a conversation of ${SHORT_CONVERSATION} messages ${where}`, round(filled), "≤ 1,200 ms"),
  ]
}

/**
 * Measures the slowest of several interactions: typing, sending, and opening a fold, a menu and other conversations.
 */
async function benchInteractions(browser: Browser, cuecard: Cuecard, session: string): Promise<Row[]> {
  const probe = await openConversation(browser, cuecard, session)
  const { page } = probe
  await probe.setConditions(SLOW_PHONE)
  await page.click(FIELD)
  await page.keyboard.type("A short question", { delay: KEY_MS })
  await page.keyboard.press("Enter")
  await page.waitForSelector("article[data-status=completed] >> nth=-1")
  await sleep(QUIET_MS)
  for (const selector of ["article button", ".sidebar a[href^='#/s/']", ".sidebar .new", ".sidebar button"]) {
    const target = page.locator(selector).last()
    if (!(await target.isVisible())) continue
    await target.click()
    await sleep(QUIET_MS)
    await page.keyboard.press("Escape")
  }
  await sleep(QUIET_MS)
  const interactions = await page.evaluate(() => pageProbe.interactions)
  await probe.close()
  const slowest = [...interactions].sort((a, b) => b.ms - a.ms)[0] ?? { name: "none", ms: 0 }
  const what = "slowest interaction at 4× throttle on slow 4G: typing, sending, buttons, other conversations (INP)"
  return [createRow(what, `${round(slowest.ms)} (${slowest.name})`, "≤ 100 ms")]
}

interface SocketFrame {
  readonly response: { readonly payloadData: string }
}

interface Streamed {
  readonly work: Work
  /** The main thread's time per delta, in milliseconds, for each frame in which deltas arrived. */
  readonly perDelta: readonly number[]
}

/** Requests a text, and measures the work until it is complete. */
async function measureStream({ page, cdp, readWork }: Probe, question: string): Promise<Streamed> {
  const samples: Promise<{ readonly tasks: number; readonly chars: number }>[] = []
  const onFrame = ({ response }: SocketFrame): void => {
    const chars = countChars(response.payloadData)
    if (chars > 0) samples.push(readWork().then(({ tasks }) => ({ tasks, chars })))
  }
  await page.fill(FIELD, question)
  await page.focus(FIELD)
  await sleep(QUIET_MS)
  // From here on, the page must not be inspected, because reading its document would count as the page's work.
  const before = await readWork()
  const ended = waitForEnd(cdp)
  cdp.on("Network.webSocketFrameReceived", onFrame)
  await page.keyboard.press("Enter")
  await ended
  await sleep(QUIET_MS)
  cdp.off("Network.webSocketFrameReceived", onFrame)
  const work = subtractWork(await readWork(), before)
  const taken = await Promise.all(samples)
  const perDelta = taken.slice(1).map(({ tasks }, at) => {
    const frame = taken[at]
    return frame === undefined ? 0 : (tasks - frame.tasks) / Math.max(1, frame.chars / DELTA_CHARS)
  })
  return { work, perDelta }
}

/** Waits for the frame that ends an answer. */
function waitForEnd(cdp: Probe["cdp"]): Promise<void> {
  return new Promise((resolve, reject) => {
    const timer = setTimeout(() => reject(new Error("the answer did not end in time")), MAX_WAIT_MS)
    const onFrame = ({ response }: SocketFrame): void => {
      if (!response.payloadData.startsWith('{"type":"ops"') || !response.payloadData.includes('"op":"end"')) return
      clearTimeout(timer)
      cdp.off("Network.webSocketFrameReceived", onFrame)
      resolve()
    }
    cdp.on("Network.webSocketFrameReceived", onFrame)
  })
}

/** Returns the length of the text that a frame adds. */
function countChars(payload: string): number {
  if (!payload.startsWith('{"type":"ops"')) return 0
  const { ops } = JSON.parse(payload) as { readonly ops: readonly { readonly text?: string }[] }
  return ops.reduce((sum, { text = "" }) => sum + text.length, 0)
}

/** Opens a new conversation and asks a first, short question. */
async function openNewConversation(browser: Browser, cuecard: Cuecard, conditions: Conditions): Promise<Probe> {
  const { id } = await cuecard.createSession()
  const probe = await openProbe(browser, cuecard, `#/s/${id}`, conditions)
  await probe.page.waitForSelector(FIELD)
  await measureStream(probe, "warm up")
  return probe
}

/**
 * Measures the processor time for a text that is streamed several times in one conversation. The first time, the
 * browser also compiles the code.
 */
async function benchStream(browser: Browser, cuecard: Cuecard, question: string, name: string): Promise<Row> {
  const probe = await openNewConversation(browser, cuecard, { isProcessorTime: true })
  const works: Work[] = []
  for (let stream = 0; stream < STREAMS; stream++) works.push((await measureStream(probe, question)).work)
  await probe.close()
  const medianOf = (field: keyof Work): string => round(median(works.map((work) => work[field])))
  const rest = `layout ${medianOf("layout")}, style ${medianOf("style")}, all tasks ${medianOf("tasks")}; the first time ${round(works[0]?.script ?? 0)}`
  const what = `processor time of script while ${name} streams`
  return createRow(what, `${medianOf("script")} (${rest})`, "≤ 50 ms")
}

async function benchSlowStream(browser: Browser, cuecard: Cuecard): Promise<Row> {
  const probe = await openNewConversation(browser, cuecard, {})
  await probe.setConditions(SLOW)
  const { perDelta } = await measureStream(probe, "mixed")
  await probe.close()
  const what = `20 KB of Markdown at 4× throttle: main thread for a delta of ${DELTA_CHARS} characters`
  const [p50, p95] = [percentile(perDelta, 50), percentile(perDelta, 95)]
  return createRow(what, `p50 ${round(p50)}, p95 ${round(p95)}`, "p95 ≤ 2 ms")
}

async function benchStreams(browser: Browser, cuecard: Cuecard): Promise<Row[]> {
  return [
    await benchStream(browser, cuecard, "mixed", "20 KB of Markdown"),
    await benchSlowStream(browser, cuecard),
    await benchStream(browser, cuecard, "table", "a table of 300 rows"),
    await benchStream(browser, cuecard, "list", "a list of 300 items"),
  ]
}

/** The class makes the selector FIELD match the text area. */
const BARE_FIELD = '<!doctype html><div class="composer"><textarea></textarea></div>'

/** Opens a document that contains only a text area. Typing there costs what the browser itself needs. */
async function openBareField(browser: Browser, cuecard: Cuecard): Promise<Probe> {
  const probe = await openProbe(browser, cuecard, "")
  await probe.page.goto(`data:text/html,${encodeURIComponent(BARE_FIELD)}`)
  return probe
}

/** Types into the composer, and describes the main thread's time per key. */
async function measureTyping({ page }: Probe): Promise<string> {
  await page.click(FIELD)
  await page.evaluate(() => {
    pageProbe.keys.length = 0
  })
  await page.keyboard.type("a few words ".repeat(Math.ceil(KEYS / 12)).slice(0, KEYS), { delay: KEY_MS })
  await sleep(QUIET_MS)
  const keys = await page.evaluate(() => pageProbe.keys)
  await page.fill(FIELD, "")
  const busy = keys.map((key) => key.busy)
  const toFrame = keys.map((key) => key.toFrame)
  return `p50 ${round(percentile(busy, 50))}, p95 ${round(percentile(busy, 95))}; until its frame begins p95 ${round(percentile(toFrame, 95))}`
}

interface ScrolledBack {
  readonly ms: number
  /** The largest number of messages in the document. */
  readonly articles: number
}

/** Scrolls to the first message of a conversation, as fast as the page allows. */
function scrollBack({ page }: Probe, firstText: string): Promise<ScrolledBack> {
  return page.evaluate(
    async ([text, maxMs]) => {
      const view = document.querySelector(".view") as HTMLElement
      const started = performance.now()
      let articles = 0
      for (;;) {
        view.scrollTop = 0
        await new Promise((resolve) => requestAnimationFrame(resolve))
        articles = Math.max(articles, document.querySelectorAll("article").length)
        const ms = performance.now() - started
        if (document.querySelector("article")?.textContent?.includes(text) === true) return { ms, articles }
        if (ms > maxMs) throw new Error("the first message was not reached in time")
      }
    },
    [firstText, MAX_WAIT_MS] as const,
  )
}

async function benchLongConversation(browser: Browser, cuecard: Cuecard): Promise<Row[]> {
  const session = await importMessages(cuecard, LONG_CONVERSATION, textOf)
  const probe = await openConversation(browser, cuecard, session)
  const { page } = probe
  const opened = await probe.readMemory()
  await page.hover(".view")
  await page.mouse.wheel(0, -400)
  const { ms, articles } = await scrollBack(probe, textOf(0))
  const memory = await probe.readMemory()
  const bare = await openBareField(browser, cuecard)
  const typing: Row[] = []
  for (const cpu of [1, 4]) {
    await bare.page.bringToFront()
    await bare.setConditions({ cpu })
    const floor = `${await measureTyping(bare)} (a text area alone)`
    await probe.setConditions({ cpu })
    await page.bringToFront()
    const where = `key in the composer beside ${LONG_CONVERSATION.toLocaleString("en")} messages at ${cpu}×`
    typing.push({ ...createRow(`main thread for a ${where}`, await measureTyping(probe), "≤ 16 ms"), floor })
    await page.fill(FIELD, "mixed")
    await page.press(FIELD, "Enter")
    await page.waitForSelector("article[data-status=running] [data-segment=text]", { state: "attached" })
    typing.push(createRow("the same while an answer streams", await measureTyping(probe), "≤ 16 ms"))
    await page.waitForSelector("article[data-status=running]", { state: "detached", timeout: MAX_WAIT_MS })
  }
  await probe.close()
  await bare.close()
  const grown = `${opened.nodes.toLocaleString("en")} → ${memory.nodes.toLocaleString("en")} nodes, ${formatMb(opened.heapBytes)} → ${formatMb(memory.heapBytes)}`
  return [
    createRow(
      `${LONG_CONVERSATION.toLocaleString("en")} messages scrolled back: messages in the document, nodes, heap`,
      `${articles}, ${grown}, in ${(ms / 1000).toFixed(1)} s`,
      "≤ 300, flat",
    ),
    ...typing,
  ]
}

export async function benchPage(): Promise<Row[]> {
  const model = await startTextModel()
  const vars = { MODEL: "openai", MODEL_BASE_URL: model.baseUrl, MODEL_NAME: "texts" }
  const cuecard = await startCuecard({ vars })
  const browser = await openChromium()
  try {
    const session = await importMessages(cuecard, SHORT_CONVERSATION, textOf)
    return [
      ...(await benchPaint(browser, cuecard, session)),
      ...(await benchInteractions(browser, cuecard, session)),
      ...(await benchStreams(browser, cuecard)),
      ...(await benchLongConversation(browser, cuecard)),
    ]
  } finally {
    await browser.close()
    await cuecard.close()
    model.close()
  }
}
