/**
 * same-dom.test.ts: every golden transcript produces the same elements live, from storage, in the widget, in the
 * widget's frame, after an export and import, and after an import as another system's file, in a real Chromium on the
 * built page. The same applies to imported files.
 *
 * The live page plays the frames that the server would send (see GO4). The other pages use a real server.
 */

import { createHash, createHmac } from "node:crypto"
import type { BrowserContext, Frame, Page } from "playwright-core"
import { describe, expect, test } from "vitest"
import { everyNth } from "../support/seeded.ts"
import type { HistoryPage, ImportProgress } from "../../shared/protocol/http-body.ts"
import type { Op } from "../../shared/protocol/segment.ts"
import { parseJson } from "../../shared/json.ts"
import { createIntake } from "../../shared/ingest/intake.ts"
import { PROTOCOL_VERSION } from "../../shared/limits.ts"
import { fold, type Message } from "../../shared/protocol/message.ts"
import type { StreamRecord } from "../../shared/protocol/record.ts"
import { messageToRecords } from "../../shared/segment/message-to-records.ts"
import { createMessageSegmenter, messageToWire, diffMessageState } from "../../shared/segment/segmenter.ts"
import type { Golden } from "../support/golden.ts"
import { readGoldens } from "../support/golden-files.ts"
import { foldGolden, addEndEvent, createAnswer, createQuestion } from "../support/golden-messages.ts"
import { readImportFixtures } from "../support/import-fixture-files.ts"
import { importLines } from "../support/import-fixtures.ts"
import { legacyRecordsOf } from "../support/other-systems.ts"
import { withRoutedSockets } from "../support/reused-contexts.ts"
import { DESKTOP, loadWholeHistory, openIn, transcriptOf, untilStill } from "./page.ts"
import { useServerAndBrowser } from "./server-and-browser.ts"
import { allowSites, findWidgetFrame, siteDocument, startSite } from "./widget-pages.ts"

/** The number of turns per session. One page of history contains all of their messages. */
const TURNS = 36

const VIEW = { viewport: DESKTOP, colorScheme: "light" } as const

const setup = useServerAndBrowser()

interface Turn {
  readonly golden: Golden
  readonly question: Message
  readonly answer: Message
}

function turnsOf(goldens: readonly Golden[]): Turn[] {
  return goldens.map((golden) => {
    const question = createQuestion(`q-${golden.name}`, golden.name)
    return { golden, question, answer: foldGolden(golden, `a-${golden.name}`, question.id) }
  })
}

/**
 * Returns the frames of these turns as the server would send them: each message when it starts, and ops after each
 * event.
 */
function framesOf(turns: readonly Turn[]): object[] {
  let seq = 0
  const frames: object[] = []
  const send = (frame: object): void => {
    frames.push({ ...frame, seq: seq + 1, prev: seq })
    seq += 1
  }
  for (const { golden, question, answer } of turns) {
    let message = createAnswer(answer.id, question.id)
    send({ type: "message", ...messageToWire(question) })
    send({ type: "message", ...messageToWire(message) })
    const intake = createIntake()
    const transcriber = createMessageSegmenter()
    for (const event of addEndEvent(golden)) {
      const before = message
      for (const clean of intake.cleanEvent(event)) message = fold(message, clean)
      const segmentOps = transcriber.advance(message, undefined, golden.resolver)
      message = transcriber.applyGrants(message)
      const ops: Op[] = [...segmentOps, ...diffMessageState(before, message)]
      if (ops.length > 0) send({ type: "ops", message: message.id, ops })
    }
  }
  return frames
}

/** Sends frames on the socket of each page in this browser context. */
async function playLive(context: BrowserContext, epoch: string, frames: readonly object[]): Promise<void> {
  await context.routeWebSocket(/\/socket$/, (socket) => {
    socket.onMessage((text) => {
      const parsed = parseJson(String(text)) as { type?: string } | undefined
      if (parsed?.type === "ping") socket.send('{"type":"pong"}')
      if (parsed?.type !== "hello") return
      socket.send(JSON.stringify({ type: "hello", protocol: PROTOCOL_VERSION, epoch, seq: 0 }))
      for (const frame of frames) socket.send(JSON.stringify(frame))
    })
  })
}

const JSONL = { "content-type": "application/jsonl" }

async function callSessions(path: string, init: RequestInit = {}): Promise<Response> {
  const headers = { ...init.headers, authorization: `Bearer ${setup.cuecard.token}` }
  const response = await fetch(`${setup.cuecard.url}/v1/sessions/${path}`, { ...init, headers })
  expect(response.ok, `${path}: ${response.status}`).toBe(true)
  return response
}

async function importInto(body: string): Promise<string> {
  const { id } = await setup.cuecard.createSession()
  const answer = await callSessions(`${id}/import`, { method: "POST", headers: JSONL, body })
  // A golden file's assets have no bytes, so their lines are reported as gone. No other line may be reported as gone.
  const { skipped, bad } = (await answer.json()) as ImportProgress
  expect(bad.filter(({ code }) => code !== "file_gone")).toEqual([])
  expect(skipped).toBe(bad.length)
  return id
}

const exportOf = async (id: string): Promise<string> => await (await callSessions(`${id}/events`)).text()

function linesOf(records: readonly object[]): string {
  return records.map((record) => `${JSON.stringify(record)}\n`).join("")
}

/** Returns the file that an export of a session with these turns would produce, sealed with its tenant's key. */
function exportedFile(turns: readonly Turn[]): string {
  const messages = turns.flatMap(({ question, answer }) => [question, answer])
  const records: StreamRecord[] = messages.flatMap((message, at) => {
    return messageToRecords({ pos: at + 1, parent: at === 0 ? null : at, tip: null, message }, "golden")
  })
  const head = {
    type: "signature",
    timestamp: "2026-01-01T00:00:00.000Z",
    sessionId: "golden",
    tip: null,
    title: "Golden",
    records: records.length,
    algorithm: "HMAC-SHA256",
  }
  return linesOf([...records, { ...head, value: sealOf([...records, head]) }])
}

/** Returns the seal of an export, computed independently of the Worker. */
function sealOf(records: readonly object[]): string {
  const secret = "local-development-only-never-deploy-this"
  const key = createHmac("sha256", secret).update(`cuecard export ${setup.cuecard.tenant}`).digest()
  const lines = records.map((record) => JSON.stringify({ ...record, sessionId: undefined }))
  return createHmac("sha256", key)
    .update(
      createHash("sha256")
        .update(linesOf(lines.map((line) => JSON.parse(line))))
        .digest(),
    )
    .digest("base64url")
}

/** Waits until a page shows all of these turns, and returns its transcript. */
async function shownBy(page: Page | Frame, turns: readonly Turn[]): Promise<string> {
  await page.waitForFunction((count) => {
    const root = document.querySelector("cuecard-chat")?.shadowRoot ?? document.body.shadowRoot ?? document
    return root.querySelectorAll("[data-transcript] article[data-role=assistant]").length === count
  }, turns.length)
  await expect
    .poll(async () => (await statusesIn(page)).join(" "))
    .toBe(turns.map(({ answer }) => answer.status).join(" "))
  // Documents load when they scroll into view, and loading one moves the next. Because assets have no bytes, every
  // asset ends up as a note or a failed placeholder.
  await page.waitForFunction(
    () => {
      const root = document.querySelector("cuecard-chat")?.shadowRoot ?? document.body.shadowRoot ?? document
      const loading = root.querySelector(":is(.pane, .frame):empty, [data-state=asking]")
      loading?.scrollIntoView({ block: "center" })
      return loading === null
    },
    undefined,
    { polling: 100, timeout: 90_000 },
  )
  // The typesetter of formulas is loaded on demand.
  await page.waitForLoadState("networkidle")
  await untilStill(page)
  return await transcriptOf(page)
}

function statusesIn(page: Page | Frame): Promise<(string | null)[]> {
  // A locator also finds elements in the widget's shadow root.
  return page
    .locator("[data-transcript] article[data-role=assistant]")
    .evaluateAll((all) => all.map((element) => element.getAttribute("data-status")))
}

async function shownIn(session: string, turns: readonly Turn[]): Promise<string> {
  const context = await setup.browser.newContext(VIEW)
  await loadWholeHistory(context)
  const { page, errors } = await openIn(context, setup.cuecard, `#/s/${session}`)
  const shown = await shownBy(page, turns)
  expect(errors).toEqual([])
  shownToReaders.set(session, await withoutActions(page))
  await context.close()
  return shown
}

/** What each page opened by `shownIn` shows, without the buttons that only the session's user has. */
const shownToReaders = new Map<string, string>()

/**
 * Removes the buttons that only the session's user has, and returns the transcript. The page must not be used
 * afterwards.
 */
async function withoutActions(page: Page): Promise<string> {
  await page.evaluate(() => {
    for (const element of document.querySelectorAll("[data-transcript] :is(.acts, .note button)")) element.remove()
  })
  return await transcriptOf(page)
}

/** Shares a session by link, and returns what a reader sees. */
async function shownAsCopy(session: string, turns: readonly Turn[]): Promise<string> {
  const { url } = (await (await callSessions(`${session}/shares`, { method: "POST" })).json()) as { url: string }
  const context = await setup.browser.newContext(VIEW)
  const page = await context.newPage()
  const errors: string[] = []
  page.on("pageerror", (error) => errors.push(String(error)))
  await page.goto(url)
  await shownBy(page, turns)
  expect(errors).toEqual([])
  const shown = await withoutActions(page)
  await context.close()
  return shown
}

async function shownLive(turns: readonly Turn[]): Promise<string> {
  const { id } = await setup.cuecard.createSession()
  const { epoch } = (await (await callSessions(`${id}/conversation/recent`)).json()) as HistoryPage
  const context = await setup.browser.newContext(withRoutedSockets(VIEW))
  await playLive(context, epoch, framesOf(turns))
  const { page, errors } = await openIn(context, setup.cuecard, `#/s/${id}`)
  const shown = await shownBy(page, turns)
  expect(errors).toEqual([])
  await context.close()
  return shown
}

/** Returns what a site shows in its widget. With `isolate`, the widget is in a frame served by the server. */
async function shownInWidget(session: string, turns: readonly Turn[], isolate = false): Promise<string> {
  const site = await startSite(setup.cuecard)
  await allowSites(setup.cuecard, [site.origin])
  const context = await setup.browser.newContext(VIEW)
  await loadWholeHistory(context)
  const page = await context.newPage()
  const attributes = `session="${session}" language="en" ${isolate ? "isolate" : ""}`
  await page.goto(site.serve(siteDocument(setup.cuecard, attributes)))
  const shown = await shownBy(isolate ? await findWidgetFrame(page) : page, turns)
  await context.close()
  await site.close()
  return shown
}

/** Removes the note about an unverified import, and the ids of questions, which aren't in files from other systems. */
function removeImportMarks(shown: string): string {
  const note =
    /^ *<p class="note">\n *"Imported\. Tool results and cards in this conversation haven't been verified\."\n/gm
  return shown
    .replace(note, "")
    .replace(/ data-origin="import"/g, "")
    .replace(/ data-id="(?:q-|imported-)[\w-]+"/g, "")
}

function hasWaitingCall({ answer }: Turn): boolean {
  return answer.parts.some((part) => part.type === "tool_call" && part.call.status === "waiting")
}

/** Whether a turn has no assets and no grants. Files from other systems can't contain any. */
function isPlain({ answer }: Turn): boolean {
  return !/"(?:grants":\{|media":\[\{)/.test(JSON.stringify(answer))
}

/**
 * The golden files, except those in which a call is still waiting at the end, because an import interrupts such calls
 * (SPEC RE44).
 */
const goldens = everyNth(
  readGoldens().filter((golden) => !turnsOf([golden]).some(hasWaitingCall)),
  9,
  2,
)
const batches = Array.from({ length: Math.ceil(goldens.length / TURNS) }, (_, at) => {
  const some = goldens.slice(at * TURNS, (at + 1) * TURNS)
  return [`${some[0]?.name} to ${some.at(-1)?.name}`, turnsOf(some)] as const
})

describe("golden transcripts in the page", () => {
  test.each(batches)("[PG1] [RE6] [SR10] [WG4] [WG5] %s", async (_names, turns) => {
    const file = exportedFile(turns)
    const stored = await importInto(file)
    const reloaded = await shownIn(stored, turns)
    expect(await shownLive(turns)).toBe(reloaded)
    expect(await shownAsCopy(stored, turns)).toBe(shownToReaders.get(stored))
    expect(await shownInWidget(stored, turns)).toBe(reloaded)
    expect(await shownInWidget(stored, turns, true)).toBe(reloaded)
    const again = await importInto(await exportOf(stored))
    expect(await shownIn(again, turns)).toBe(reloaded)
    const plain = turns.filter(isPlain)
    if (plain.length === 0) return
    const own = plain.length === turns.length ? reloaded : await shownIn(await importInto(exportedFile(plain)), plain)
    const legacy = await importInto(linesOf(plain.flatMap(({ question, answer }) => legacyRecordsOf(question, answer))))
    expect(removeImportMarks(await shownIn(legacy, plain))).toBe(removeImportMarks(own))
  })
})

/**
 * Returns the frames of imported messages as if the messages were being written now, so that an answer grows part by
 * part.
 */
function growingFrames(messages: readonly Message[]): object[] {
  let seq = 0
  const frames: object[] = []
  const send = (frame: object): void => {
    frames.push({ ...frame, seq: seq + 1, prev: seq })
    seq += 1
  }
  for (const message of messages) {
    if (message.role !== "assistant") {
      send({ type: "message", ...messageToWire(message) })
      continue
    }
    const steps = message.parts.map((_, at): Message => {
      return { ...message, status: "running", reason: null, parts: message.parts.slice(0, at + 1) }
    })
    const segmenter = createMessageSegmenter()
    let before: Message = { ...message, status: "running", reason: null, parts: [] }
    send({ type: "message", ...messageToWire(before) })
    for (const next of [...steps, message]) {
      const ops: Op[] = [...segmenter.advance(next), ...diffMessageState(before, next)]
      before = next
      if (ops.length > 0) send({ type: "ops", message: message.id, ops })
    }
  }
  return frames
}

describe("imported files in the page", () => {
  const fixtures = readImportFixtures().map((fixture) => [fixture.name, fixture.lines] as const)

  async function shownOn(context: BrowserContext, session: string, count: number): Promise<string> {
    const { page, errors } = await openIn(context, setup.cuecard, `#/s/${session}`)
    await page.waitForFunction(
      (expected) => document.querySelectorAll("[data-transcript] article").length === expected,
      count,
    )
    await untilStill(page)
    const shown = await transcriptOf(page)
    expect(errors).toEqual([])
    return shown
  }

  test.each(everyNth(fixtures, 8, 3))(
    "[IR11] %s: is the same live, after a reload, in a second tab, and after an export and import",
    async (_name, lines) => {
      const file = `${lines.join("\n")}\n`
      const session = await importInto(file)
      const { messages } = (await (await callSessions(`${session}/conversation/recent`)).json()) as HistoryPage
      const context = await setup.browser.newContext(VIEW)
      const reloaded = await shownOn(context, session, messages.length)
      expect(await shownOn(context, session, messages.length)).toBe(reloaded)
      const again = await importInto(await exportOf(session))
      expect(await shownOn(context, again, messages.length)).toBe(reloaded)
      await context.close()
      const live = await setup.browser.newContext(withRoutedSockets(VIEW))
      const { id } = await setup.cuecard.createSession()
      const { epoch } = (await (await callSessions(`${id}/conversation/recent`)).json()) as HistoryPage
      const imported = importLines(lines).map((message): Message => {
        return { ...message, origin: message.role === "user" ? null : "import" }
      })
      await playLive(live, epoch, growingFrames(imported))
      expect(removeImportMarks(await shownOn(live, id, messages.length))).toBe(removeImportMarks(reloaded))
      await live.close()
    },
  )
})
