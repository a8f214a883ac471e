/**
 * session.test.ts: tests the turns, recovery, history and storage of a session object, with real workerd and SQLite.
 */

import { env, evictDurableObject, runDurableObjectAlarm, runInDurableObject } from "cloudflare:test"
import { describe, expect, test, vi } from "vitest"
import type { WireMessage } from "../../shared/protocol/server-frame.ts"
import { createMessage } from "../../shared/protocol/message.ts"
import { readPageJson } from "../../worker/socket/history-pages.ts"
import { TurnRecorder } from "../../worker/turn/turn-recorder.ts"
import { createSessionStore } from "../../worker/store/session-store.ts"
import { CLAIMS, connect, pageOf, sessionOf } from "../support/socket.ts"
import { placed } from "../support/turn.ts"
import { freshSession as fresh, rowsIn, shownOf } from "./session-helpers.ts"

const freshSession = (): Promise<string> => fresh("s")

const WEATHER = "What's the weather in London and in Tokyo?"

describe("a turn", () => {
  test("[TU1] about the weather in two cities has thinking, prose, two calls and a card for each city, live and in history", async () => {
    const id = await freshSession()
    const client = await connect(id)
    client.say({ type: "send", id: "q1", content: WEATHER })
    const answer = await client.untilEnd("q1")
    expect(answer.status).toBe("completed")
    const kinds = answer.segments.map((segment) => (segment.type === "rich" ? segment.tag : segment.type))
    expect(kinds.slice(0, 4)).toEqual(["thinking", "text", "tool", "tool"])
    expect(kinds.filter((kind) => kind.startsWith("weather"))).toEqual(["weather_1", "weather_2"])
    const cards = answer.segments.filter((segment) => segment.type === "rich")
    expect(cards.map((card) => card.payload)).toMatchObject([{ location: "London, GB" }, { location: "Tokyo, JP" }])
    expect(kinds[kinds.indexOf("weather_1") + 1]).toBe("text")

    const page = await pageOf(id)
    expect(page.messages.map(({ role }) => role)).toEqual(["user", "assistant"])
    for (const message of page.messages) {
      const live = client.messages.get(message.id)
      expect(live && shownOf(live)).toBe(shownOf(message))
    }
    expect(page.seq).toBe(client.last)
  })

  test("[SG11] no trailer is on the wire or in history", async () => {
    const id = await freshSession()
    const client = await connect(id)
    client.say({ type: "send", id: "q1", content: WEATHER })
    await client.untilEnd("q1")
    const all = client.texts.join("\n") + JSON.stringify(await pageOf(id))
    expect(all).not.toContain("rich-media rendering")
    const stored = await runInDurableObject(sessionOf(id), (_object, state) =>
      state.storage.sql.exec("SELECT result FROM tool_calls").toArray(),
    )
    expect(JSON.stringify(stored)).toContain("rich-media rendering")
  })

  test("[TU2] starts its ordinals at 1, so the next turn's first card is weather_1 again", async () => {
    const id = await freshSession()
    const client = await connect(id)
    for (const exchange of ["q1", "q2"]) {
      client.say({ type: "send", id: exchange, content: "weather in Paris" })
      const answer = await client.untilEnd(exchange)
      expect(answer.segments.filter((segment) => segment.type === "rich").map((card) => card.tag)).toEqual([
        "weather_1",
      ])
    }
  })

  test("[TU3] messages sent while a turn is running are queued, and answered in the order of acknowledgement", async () => {
    const id = await freshSession()
    const client = await connect(id)
    client.say({ type: "send", id: "q1", content: "/bench deltas=60 chars=6 tools=1 delay_ms=2 yield_every=1" })
    client.say({ type: "send", id: "q2", content: "/say two" })
    client.say({ type: "send", id: "q3", content: "/say three" })
    await client.untilTrue((frame) => frame.type === "message" && frame.id === "q3" && frame.status === "queued")
    const waiting = await pageOf(id)
    expect(waiting.messages.map(({ id, status }) => `${id} ${status}`).slice(-2)).toEqual(["q2 queued", "q3 queued"])
    await client.untilEnd("q3")
    const page = await pageOf(id)
    expect(page.messages.filter(({ role }) => role === "user").map(({ id }) => id)).toEqual(["q1", "q2", "q3"])
    expect(page.messages.map(({ exchange_id }) => exchange_id)).toEqual(["q1", "q1", "q2", "q2", "q3", "q3"])
    expect(page.messages.every(({ status }) => status === "completed")).toBe(true)
  })
})

describe("crash and recovery", () => {
  /** Stores a turn without an end, as a killed process leaves it. */
  async function storeUnfinishedTurn(id: string, feed: (recorder: TurnRecorder) => void): Promise<void> {
    await runInDurableObject(sessionOf(id), (_object, state) => {
      const store = createSessionStore(state.storage.sql)
      const timestamp = new Date().toISOString()
      const user = createMessage({
        id: "q1",
        role: "user",
        exchange_id: "q1",
        timestamp,
        words: "/say went on",
        status: "completed",
      })
      const answer = createMessage({ id: "a1", role: "assistant", exchange_id: "q1", timestamp })
      store.insertMessage(placed(user))
      store.insertMessage(placed(answer, { pos: 2, parent: 1, seq: 2 }))
      const stored = store.findMessageAt(2)
      if (stored === null) throw new Error("not stored")
      let seq = 2
      const recorder = new TurnRecorder(store, stored, () => ++seq)
      recorder.feed({ type: "step_start" })
      feed(recorder)
      recorder.flush()
      return state.storage.setAlarm(Date.now() + 60_000)
    })
    await evictDurableObject(sessionOf(id))
  }

  test("[TU4] a step cut off inside text ends the turn and keeps what was shown", async () => {
    const id = await freshSession()
    await storeUnfinishedTurn(id, (recorder) => recorder.feed({ type: "text_delta", delta: "half of a sen" }))
    await runDurableObjectAlarm(sessionOf(id))
    const answer = (await pageOf(id)).messages[1]
    expect(answer).toMatchObject({
      status: "interrupted",
      reason: "process_restart",
      segments: [{ type: "text", content: "half of a sen" }],
    })
  })

  test("[TU4] a step that had shown nothing runs again", async () => {
    const id = await freshSession()
    await storeUnfinishedTurn(id, () => {})
    const client = await connect(id, CLAIMS, { after: 0, epoch: (await pageOf(id)).epoch })
    const answer = await client.untilEnd("q1")
    expect(answer).toMatchObject({ status: "completed" })
    expect(JSON.stringify(answer.segments)).toContain("went on")
  })

  test("[TU4] a call that only reads runs again, and the turn continues", async () => {
    const id = await freshSession()
    await storeUnfinishedTurn(id, (recorder) => {
      recorder.feed({ type: "tool_call", call_id: "call_2_0", name: "weather", args: '{"location":"Paris"}' })
      recorder.feed({ type: "tool_call_start", call_id: "call_2_0", channel: "user", ordinal: 1 })
    })
    const client = await connect(id, CLAIMS, { after: 0, epoch: (await pageOf(id)).epoch })
    const answer = await client.untilEnd("q1")
    expect(answer.segments[0]).toMatchObject({ type: "tool", status: "ok" })
    expect(answer.status).toBe("completed")
  })

  test("[TU4] a call of a tool that isn't declared repeatable is interrupted, and this is reported to the model", async () => {
    const id = await freshSession()
    await storeUnfinishedTurn(id, (recorder) => {
      recorder.feed({ type: "tool_call", call_id: "call_2_0", name: "pay", args: "{}" })
      recorder.feed({ type: "tool_call_start", call_id: "call_2_0", channel: "user", ordinal: 1 })
    })
    const client = await connect(id, CLAIMS, { after: 0, epoch: (await pageOf(id)).epoch })
    const answer = await client.untilEnd("q1")
    expect(answer.segments[0]).toMatchObject({ status: "interrupted", error: { code: "tool_interrupted" } })
  })
})

describe("history", () => {
  async function fillSession(id: string, turns: number): Promise<void> {
    await runInDurableObject(sessionOf(id), (_object, state) => {
      const store = createSessionStore(state.storage.sql)
      for (let i = 0; i < turns * 2; i++) {
        const role = i % 2 === 0 ? "user" : "assistant"
        const message = createMessage({
          id: `m${i}`,
          role,
          exchange_id: `m${i - (i % 2)}`,
          words: role === "user" ? `word ${i}` : "",
          timestamp: new Date(1_700_000_000_000 + i).toISOString(),
          status: "completed",
        })
        store.insertMessage(placed(message, { pos: i + 1, parent: i === 0 ? null : i, seq: i + 1 }))
        if (role === "user") continue
        const chunk = {
          part: 0,
          n: 0,
          kind: "text",
          step: 1,
          open: false,
          ms: null,
          held: null,
          text: `answer ${i}`,
        } as const
        store.putChunk(i + 1, i + 1, chunk)
      }
    })
    await evictDurableObject(sessionOf(id))
  }

  test("[HI1] [HI2] pages return every message once, oldest first inside a page", async () => {
    const id = await freshSession()
    await fillSession(id, 20)
    const seen: string[] = []
    let cursor: string | undefined
    do {
      const page = JSON.parse(
        await sessionOf(id)
          .readHistoryPage(CLAIMS, { limit: 7, ...(cursor === undefined ? {} : { before: Number(cursor) }) })
          .then((result) => (result.ok ? result.value.json : "{}")),
      )
      seen.unshift(...page.messages.map((message: WireMessage) => message.id))
      cursor = page.cursor
      // New messages are added at the other end, so cursors stay valid.
      await sessionOf(id).send(CLAIMS, { id: `new${seen.length}`, content: "/say new" })
      expect(page.has_more).toBe(cursor !== undefined)
    } while (cursor !== undefined)
    expect(seen).toEqual(Array.from({ length: 40 }, (_, i) => `m${i}`))
  })

  test("[HI1] a page is limited in bytes and contains at least one message", async () => {
    const id = await freshSession()
    await runInDurableObject(sessionOf(id), (_object, state) => {
      const store = createSessionStore(state.storage.sql)
      for (let i = 0; i < 4; i++) {
        const words = String(i).repeat(600_000)
        const message = createMessage({
          id: `m${i}`,
          role: "user",
          exchange_id: `m${i}`,
          words,
          timestamp: new Date().toISOString(),
        })
        store.insertMessage(placed(message, { pos: i + 1, parent: i === 0 ? null : i, seq: i + 1 }))
      }
    })
    const page = await pageOf(id)
    expect(page.messages.map((message) => message.id)).toEqual(["m3"])
    expect(page.has_more).toBe(true)
  })

  test("[HI3] [ST6] reading a page, and finding the last seq after waking up, takes as many row reads in a long session as in a short one", async () => {
    const countReads = async (turns: number): Promise<number[]> => {
      const id = await freshSession()
      await fillSession(id, turns)
      return runInDurableObject(sessionOf(id), (_object, state) => {
        const store = createSessionStore(state.storage.sql)
        store.readLastSeq()
        const wake = store.countRows().read
        readPageJson(store, { epoch: "e", seq: 0, isTemporary: false }, { limit: 50 })
        return [wake, store.countRows().read - wake]
      })
    }
    const [short, long] = [await countReads(50), await countReads(1_000)]
    expect(long).toEqual(short)
    expect(short[1]).toBeLessThanOrEqual(130)
  })
})

describe("the store", () => {
  test("[ST1] a request with an unknown id writes nothing, whatever it asks for", async () => {
    const stub = env.SESSION.getByName("acme:ghost")
    expect(await stub.readHistoryPage(CLAIMS, { limit: 5 })).toMatchObject({
      ok: false,
      fault: { reason: "session_unknown" },
    })
    expect(await stub.send(CLAIMS, { id: "a", content: "x" })).toMatchObject({ ok: false })
    const upgrade = await stub.fetch("https://cuecard.test/", {
      headers: { upgrade: "websocket", "x-cuecard-claims": JSON.stringify(CLAIMS) },
    })
    expect(upgrade.status).toBe(404)
    const tables = await runInDurableObject(stub, (_object, state) =>
      state.storage.sql.exec("SELECT name FROM sqlite_master WHERE name NOT LIKE '\\_%' ESCAPE '\\'").toArray(),
    )
    expect(tables).toEqual([])
  })

  test.each([
    ["another tenant", { ...CLAIMS, tenant: "evil" }],
    ["another user", { ...CLAIMS, user: "eve" }],
  ])("[ST1] the object itself reports %s as an unknown session", async (_who, claims) => {
    const id = await freshSession()
    expect(await sessionOf(id).readHistoryPage(claims, { limit: 5 })).toMatchObject({
      fault: { reason: "session_unknown" },
    })
    expect(await sessionOf(id).send(claims, { id: "a", content: "x" })).toMatchObject({ ok: false })
    expect(await sessionOf(id).create(claims, id, "mine")).toMatchObject({ ok: false })
    expect((await pageOf(id)).messages).toEqual([])
  })

  test("[ST2] migrations run once, and a second create changes nothing", async () => {
    const id = await freshSession()
    const { epoch } = await pageOf(id)
    await evictDurableObject(sessionOf(id))
    await sessionOf(id).create(CLAIMS, id, "again")
    expect((await pageOf(id)).epoch).toBe(epoch)
    expect((await rowsIn(id))["schema_version"]).toBe(1)
  })

  test("[ST3] everything is written before it is sent: whenever a frame is sent, the rows already contain its seq", async () => {
    const id = await freshSession()
    const client = await connect(id)
    const sent: { seq: number; stored: number }[] = []
    const send = WebSocket.prototype.send
    await runInDurableObject(sessionOf(id), (_object, state) => {
      const store = createSessionStore(state.storage.sql)
      vi.spyOn(WebSocket.prototype, "send").mockImplementation(function (this: WebSocket, data) {
        const seq = Number(/^\{"type":"(?:ops|message)","seq":(\d+)/.exec(String(data))?.[1] ?? 0)
        if (seq > 0) sent.push({ seq, stored: store.readLastSeq() })
        return send.call(this, data)
      })
    })
    client.say({ type: "send", id: "q1", content: WEATHER })
    await client.untilEnd("q1")
    vi.restoreAllMocks()
    expect(sent.length).toBeGreaterThan(4)
    for (const { seq, stored } of sent) expect(stored).toBeGreaterThanOrEqual(seq)
  })

  test("[ST6] [ST3] a turn of 400 deltas over 4 s with two tools writes at most 30 rows", async () => {
    const id = await freshSession()
    const client = await connect(id)
    // The object runs in this isolate, so the test can read its log line with the row counts. Other sessions write
    // lines too.
    const log = vi.spyOn(console, "log")
    client.say({ type: "send", id: "rows", content: "/bench deltas=400 chars=12 tools=2 delay_ms=10 yield_every=1" })
    await client.untilEnd("rows")
    const lines = log.mock.calls.map(([line]) => JSON.parse(String(line)))
    log.mockRestore()
    const written = lines.find((line) => line.event === "turn_end" && line.exchange === "rows")?.rows_written
    // Add one row for the alarm, which is not set by SQL.
    expect(written + 1).toBeGreaterThan(20)
    expect(written + 1).toBeLessThanOrEqual(30)
    expect(client.last).toBeLessThanOrEqual(30)
  })
})
