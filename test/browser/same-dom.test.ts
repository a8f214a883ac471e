/**
 * same-dom.test.ts: every golden transcript looks the same live, loaded from storage, after its own export and import, and
 * after an import of what another system would have written of it: the same elements, in a real Chromium on the built page.
 *
 * Live comes from the frames that the server would send (GO4 holds them to be those); the rest from the real server.
 */

import { createHash, createHmac } from "node:crypto"
import type { BrowserContext, Page } from "playwright-core"
import { describe, expect, test } from "vitest"
import type { HistoryPage, ImportProgress } from "../../shared/protocol/http-body.ts"
import type { Op } from "../../shared/protocol/segment.ts"
import { parseJson } from "../../shared/json.ts"
import { createIntake } from "../../shared/ingest/intake.ts"
import { PROTOCOL_VERSION } from "../../shared/limits.ts"
import { fold, type Message } from "../../shared/protocol/message.ts"
import type { StreamRecord } from "../../shared/protocol/record.ts"
import { messageToRecords } from "../../shared/protocol/message-to-records.ts"
import { createMessageSegmenter, messageToWire, diffMessageState } from "../../shared/segment/segmenter.ts"
import type { Golden } from "../support/golden.ts"
import { readGoldens } from "../support/golden-files.ts"
import { answerOfGolden, endedEvents, openAnswer, questionOf } from "../support/golden-messages.ts"
import { legacyRecordsOf } from "../support/other-systems.ts"
import { open, openIn, transcriptOf } from "./page.ts"
import { setStage } from "./stage.ts"

/** Turns of one session: a page of history holds them all. */
const TURNS = 6

const stage = setStage()

interface Turn {
  readonly golden: Golden
  readonly question: Message
  readonly answer: Message
}

function turnsOf(goldens: readonly Golden[]): Turn[] {
  return goldens.map((golden) => {
    const question = questionOf(`q-${golden.name}`, golden.name)
    return { golden, question, answer: answerOfGolden(golden, `a-${golden.name}`, question.id) }
  })
}

/** The frames of some turns as the server would send them: each message as it begins, then ops after each event. */
function framesOf(turns: readonly Turn[]): object[] {
  let seq = 0
  const frames: object[] = []
  const send = (frame: object): void => {
    frames.push({ ...frame, seq: seq + 1, prev: seq })
    seq += 1
  }
  for (const { golden, question, answer } of turns) {
    let message = openAnswer(answer.id, question.id)
    send({ type: "message", ...messageToWire(question) })
    send({ type: "message", ...messageToWire(message) })
    const intake = createIntake()
    const transcriber = createMessageSegmenter()
    for (const event of endedEvents(golden)) {
      const before = message
      for (const clean of intake.cleanEvent(event)) message = fold(message, clean)
      const told = transcriber.advance(message, undefined, golden.resolver)
      message = transcriber.applyGrants(message)
      const ops: Op[] = [...told, ...diffMessageState(before, message)]
      if (ops.length > 0) send({ type: "ops", message: message.id, ops })
    }
  }
  return frames
}

/** Plays frames on the socket of each page of this browser. */
async function playLive(context: BrowserContext, epoch: string, frames: readonly object[]): Promise<void> {
  await context.routeWebSocket(/\/socket$/, (socket) => {
    socket.onMessage((text) => {
      const said = parseJson(String(text)) as { type?: string } | undefined
      if (said?.type === "ping") socket.send('{"type":"pong"}')
      if (said?.type !== "hello") return
      socket.send(JSON.stringify({ type: "hello", protocol: PROTOCOL_VERSION, epoch, seq: 0 }))
      for (const frame of frames) socket.send(JSON.stringify(frame))
    })
  })
}

const JSONL = { "content-type": "application/jsonl" }

async function call(path: string, init: RequestInit = {}): Promise<Response> {
  const headers = { ...init.headers, authorization: `Bearer ${stage.cuecard.token}` }
  const response = await fetch(`${stage.cuecard.url}/v1/sessions/${path}`, { ...init, headers })
  expect(response.ok, `${path}: ${response.status}`).toBe(true)
  return response
}

async function importInto(body: string): Promise<string> {
  const { id } = await stage.cuecard.createSession()
  const answer = await call(`${id}/import`, { method: "POST", headers: JSONL, body })
  // Nobody has ever had the bytes of a golden's files: their lines may be told as gone, and nothing else.
  const { skipped, bad } = (await answer.json()) as ImportProgress
  expect(bad.filter(({ code }) => code !== "file_gone")).toEqual([])
  expect(skipped).toBe(bad.length)
  return id
}

const exportOf = async (id: string): Promise<string> => await (await call(`${id}/events`)).text()

function linesOf(records: readonly object[]): string {
  return records.map((record) => `${JSON.stringify(record)}\n`).join("")
}

/** The file that a session with these turns would export, sealed with its tenant's key. */
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

/** As `worker/transfer/export-seal.ts` makes it, told anew: a file can be checked by whoever has the key. */
function sealOf(records: readonly object[]): string {
  const secret = "local-development-only-never-deploy-this"
  const key = createHmac("sha256", secret).update(`cuecard export ${stage.cuecard.tenant}`).digest()
  const lines = records.map((record) => JSON.stringify({ ...record, sessionId: undefined }))
  return createHmac("sha256", key)
    .update(
      createHash("sha256")
        .update(linesOf(lines.map((line) => JSON.parse(line))))
        .digest(),
    )
    .digest("base64url")
}

/** What a page shows once it shows all of these turns. */
async function shownBy(page: Page, turns: readonly Turn[]): Promise<string> {
  await page.waitForFunction(
    (count) => document.querySelectorAll("[data-transcript] article[data-role=assistant]").length === count,
    turns.length,
  )
  await expect
    .poll(async () => (await statusesIn(page)).join(" "))
    .toBe(turns.map(({ answer }) => answer.status).join(" "))
  // Entrances, and counting up, take 400 ms at most.
  await page.waitForTimeout(600)
  return await transcriptOf(page)
}

function statusesIn(page: Page): Promise<(string | null)[]> {
  return page.$$eval("[data-transcript] article[data-role=assistant]", (all) =>
    all.map((one) => one.getAttribute("data-status")),
  )
}

async function shownIn(session: string, turns: readonly Turn[]): Promise<string> {
  const { page, errors } = await open(stage.browser, stage.cuecard, { at: `#/s/${session}` })
  const shown = await shownBy(page, turns)
  expect(errors).toEqual([])
  await page.context().close()
  return shown
}

async function shownLive(turns: readonly Turn[]): Promise<string> {
  const { id } = await stage.cuecard.createSession()
  const { epoch } = (await (await call(`${id}/conversation/recent`)).json()) as HistoryPage
  const context = await stage.browser.newContext({ viewport: { width: 1280, height: 1010 }, colorScheme: "light" })
  await playLive(context, epoch, framesOf(turns))
  const { page, errors } = await openIn(context, stage.cuecard, `#/s/${id}`)
  const shown = await shownBy(page, turns)
  expect(errors).toEqual([])
  await context.close()
  return shown
}

/** Without what says that nobody vouches for it, and without the ids of questions, which other systems do not have. */
function unmarked(shown: string): string {
  const note = /^ *<p class="note">\n *"Imported from a file: nobody vouches for what it shows\."\n/gm
  return shown
    .replace(note, "")
    .replace(/ data-origin="import"/g, "")
    .replace(/ data-id="(?:q-|imported-)[\w-]+"/g, "")
}

/** Another system's file brings neither files nor what was granted: what needs them is words there. */
function isPlain({ answer }: Turn): boolean {
  return !/"(?:grants":\{|media":\[\{)/.test(JSON.stringify(answer))
}

const goldens = readGoldens()
const batches = Array.from({ length: Math.ceil(goldens.length / TURNS) }, (_, at) => {
  const some = goldens.slice(at * TURNS, (at + 1) * TURNS)
  return [some.map(({ name }) => name).join(", "), turnsOf(some)] as const
})

describe("golden transcripts in the page", () => {
  test.each(batches)("[PG1] [RE6] %s", async (_names, turns) => {
    const file = exportedFile(turns)
    const stored = await importInto(file)
    const reloaded = await shownIn(stored, turns)
    expect(await shownLive(turns)).toBe(reloaded)
    const again = await importInto(await exportOf(stored))
    expect(await shownIn(again, turns)).toBe(reloaded)
    const plain = turns.filter(isPlain)
    if (plain.length === 0) return
    const own = plain.length === turns.length ? reloaded : await shownIn(await importInto(exportedFile(plain)), plain)
    const legacy = await importInto(linesOf(plain.flatMap(({ question, answer }) => legacyRecordsOf(question, answer))))
    expect(unmarked(await shownIn(legacy, plain))).toBe(unmarked(own))
  })
})
