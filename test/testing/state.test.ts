/**
 * state.test.ts: tests that the current build gives the same responses with an earlier version's state, and that
 * conversations can continue.
 */

import { mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join, resolve } from "node:path"
import type { Cuecard } from "cuecard/testing"
import { afterAll, beforeAll, describe, expect, test } from "vitest"
import type { SessionSummary } from "../../shared/protocol/http-body.ts"
import { ASYNC, CUT, HALF_SENT, STAGED, WAITING } from "../state/conversations.ts"
import { ANSWERS, ARCHIVE, postponeDeadlines, unpackState } from "../state/packed-state.ts"
import { readAnswers } from "../state/read-answers.ts"
import { answerTo, callsIn, clientOf, isEnded, producerOf, type StateClient, startOn } from "../state/state-client.ts"

const STATES = resolve("test/state")
const versions = readdirSync(STATES, { withFileTypes: true }).flatMap((entry) =>
  entry.isDirectory() ? entry.name : [],
)

/**
 * Returns the earlier version's response, without a field that was always null. The response for `unsealed` has changed
 * since then: the earlier version omitted the full size of shortened output in an imported file (SPEC IH8).
 */
function readExpected(path: string): string {
  return readFileSync(path, "utf8").replaceAll('"topic":null,', "")
}

describe.each(versions)("the state of version %s", (version) => {
  const folder = join(STATES, version)
  let persist = ""
  let cuecard: Cuecard
  let you: StateClient
  let away: StateClient

  beforeAll(async () => {
    persist = mkdtempSync(join(tmpdir(), "cuecard-state-"))
    unpackState(join(folder, ARCHIVE), persist)
    postponeDeadlines(persist)
    cuecard = await startOn(persist)
    you = await clientOf(cuecard, "you")
    away = await clientOf(cuecard, "away")
  })

  afterAll(async () => {
    await cuecard?.close()
    rmSync(persist, { recursive: true })
  })

  // This test must run first, because the other tests add to the data that it compares.
  test("[ST7] every response equals the earlier version's, byte for byte", async () => {
    const expected = join(folder, ANSWERS)
    const answers = await readAnswers(cuecard)
    const files = readdirSync(expected, { recursive: true, encoding: "utf8" }).filter((name) => /\.\w+$/.test(name))
    expect(Object.keys(answers).sort()).toEqual(files.sort())
    for (const [name, text] of Object.entries(answers)) {
      expect.soft(text, name).toBe(readExpected(join(expected, name)))
    }
  })

  test("[ST7] a conversation can be continued, and everything before it stays unchanged", async () => {
    const answer = await you.ask("weather", "weather-new", "/say Still here.")
    expect(answer).toMatchObject({ status: "completed", content: "Still here." })
    const before = readFileSync(join(folder, ANSWERS, "sessions/weather.events.jsonl"), "utf8")
      .trimEnd()
      .split("\n")
    const after = (await you.text("/v1/sessions/weather/events")).trimEnd().split("\n")
    // The last line is the seal.
    expect(after.slice(0, before.length - 1)).toEqual(before.slice(0, -1))
  })

  test("[ST7] the waiting approval can be allowed", async () => {
    const { session, exchange, title } = WAITING
    const waitingAnswer = answerTo(await you.messages(session), exchange)
    expect(waitingAnswer?.status).toBe("waiting")
    await you.command(session, {
      type: "approve",
      call_id: callsIn(waitingAnswer)[0]?.call_id ?? "",
      decision: "allow",
    })
    const answer = answerTo(await you.until(session, (all) => isEnded(answerTo(all, exchange))), exchange)
    expect(answer?.status).toBe("completed")
    expect(callsIn(answer)).toMatchObject([{ status: "ok", approval: "allowed" }])
    const { sessions } = await you.get<{ sessions: readonly SessionSummary[] }>("/v1/sessions")
    expect(sessions.find(({ id }) => id === session)?.title).toBe(title)
  })

  test("[ST7] an external producer reconnects and completes its answer, and the queued message is next", async () => {
    const { session, answer, queued } = HALF_SENT
    const producer = await producerOf(cuecard, "you", session)
    const records = [
      { type: "tool_output_delta", callId: "slow-1", delta: "compiling\n", n: 3 },
      { type: "tool_result", callId: "slow-1", ok: true, result: "built", n: 4 },
      { type: "text_delta", delta: "the second half.", n: 5 },
      { type: "assistant_message", text: "", n: 6 },
    ]
    const body = records.map((record) => `${JSON.stringify(record)}\n`).join("")
    const path = `/external/sessions/${session}/events?responseId=${answer}`
    const taken = JSON.parse(await producer.text(path, { method: "POST", body }))
    expect(taken).toMatchObject({ applied: 3, repeated: 1, skipped: 0, n: 6, status: "completed" })
    const messages = await you.until(session, (all) => isEnded(answerTo(all, queued)))
    expect(messages.find(({ id }) => id === answer)).toMatchObject({
      content: "The first half, \n\nthe second half.",
      segments: [{}, { status: "ok", output: "compiling\n", result: "built" }, {}],
    })
    expect(messages.find(({ id }) => id === queued)).toMatchObject({ segments: [{}, { label: "queued.txt" }] })
    expect(answerTo(messages, queued)).toMatchObject({ status: "completed" })
    expect(answerTo(messages, queued)?.content).toContain("Now.")
  })

  test("[ST7] another version can be activated together with the messages below it", async () => {
    await you.command("versions", { type: "switch", id: "versions-new", message: "versions-3", version: 2 })
    const shown = (await you.messages("versions")).map(({ content }) => content)
    expect(shown.slice(2)).toEqual(["/say Two, in other words.", "Two, in other words.", "/say Three.", "Three."])
  })

  test("[ST7] an export that the earlier version sealed is verified", async () => {
    await you.createSession("sealed-new")
    const body = readFileSync(join(folder, ANSWERS, "sessions/files.events.jsonl"))
    const imported = JSON.parse(await you.text("/v1/sessions/sealed-new/import", { method: "POST", body }))
    expect(imported).toMatchObject({ state: "done", isSealed: true, skipped: 0 })
    expect(await you.messages("sealed-new")).toEqual(await you.messages("files"))
  })

  test("[ST7] an answer that was cut off keeps the text that was shown, and the conversation can continue", async () => {
    const { session, exchange, text } = CUT
    const messages = await away.until(session, (all) => isEnded(answerTo(all, exchange)))
    expect(answerTo(messages, exchange)).toMatchObject({
      status: "interrupted",
      reason: "process_restart",
      segments: [{ type: "text", content: text }],
    })
    expect(await away.ask(session, "cut-new", "/say Again.")).toMatchObject({ status: "completed", content: "Again." })
  })

  test("[ST7] an agent that was running finishes, and its answer arrives", async () => {
    const { session, exchange, reply } = ASYNC
    const messages = await away.until(session, (all) => all.some(({ role }) => role === "agent") && isEnded(all.at(-1)))
    expect(messages.find(({ role }) => role === "agent")?.content).toBe(reply)
    expect(callsIn(answerTo(messages, exchange))).toMatchObject([{ name: "agents_message", status: "ok" }])
  })

  test("[ST7] an import whose second part was missing is completed once that part arrives", async () => {
    const { session, question, answer } = STAGED
    const path = `/v1/sessions/${session}/import`
    expect(await away.get(path)).toMatchObject({ state: "staging", records: 2, parts: { of: 2, missing: [2] } })
    const body = `${JSON.stringify({ type: "assistant_message", responseId: answer, text: "Folded." })}\n`
    await away.text(`${path}?part=2&of=2`, { method: "POST", body })
    const messages = await away.until(session, (all) => all.length === 2)
    expect(messages).toMatchObject([
      { id: question, content: "Staged?" },
      { id: answer, content: "Folded." },
    ])
    expect(await away.get(path)).toMatchObject({ state: "done", records: 3, folded: 3 })
  })
})
