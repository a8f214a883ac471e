/**
 * wire.test.ts: tests the frames of a session (hello, resume, fragments and refusals), with real workerd and SQLite.
 */

import { evictDurableObject, runInDurableObject } from "cloudflare:test"
import { afterEach, describe, expect, test, vi } from "vitest"
import { toCanonicalJson } from "../../shared/json.ts"
import { MAX_CLIENT_FRAME_BYTES, MAX_MESSAGE_BYTES, PROTOCOL_VERSION, REPLAY_FRAMES } from "../../shared/limits.ts"
import { createMessage } from "../../shared/protocol/message.ts"
import { TurnRecorder } from "../../worker/turn/turn-recorder.ts"
import { createSessionStore } from "../../worker/store/session-store.ts"
import { CLAIMS, connect, pageOf, sessionOf } from "../support/socket.ts"
import { placed } from "../support/turn.ts"
import { freshSession as fresh, rowsIn, shownOf } from "./session-helpers.ts"

const freshSession = (): Promise<string> => fresh("w")

afterEach(() => void vi.useRealTimers())

const WEATHER = "What's the weather in London and in Tokyo?"

describe("the wire", () => {
  test("[WS1] nothing is sent before a hello", async () => {
    const client = await connect(await freshSession(), CLAIMS, null)
    client.say({ type: "send", id: "q1", content: "hi" })
    expect(await client.untilTrue((frame) => frame.type === "error")).toMatchObject({ code: "hello_first" })
    client.say({ type: "hello", protocol: PROTOCOL_VERSION, live: true })
    await client.untilTrue((frame) => frame.type === "hello")
  })

  test("[WS1] a socket with another protocol version is closed with 4406, which asks the page to reload", async () => {
    const client = await connect(await freshSession(), CLAIMS, null)
    client.say({ type: "hello", protocol: 99, live: true })
    expect(await client.untilTrue((frame) => frame.type === "error")).toMatchObject({ code: "protocol_unsupported" })
    expect(await client.untilClosed()).toMatchObject({ code: 4406 })
  })

  test("[WS2] two tabs get the same seqs without gaps, each with its own prev", async () => {
    const id = await freshSession()
    const [one, two] = [await connect(id), await connect(id)]
    one.say({ type: "send", id: "q1", content: WEATHER })
    await Promise.all([one.untilEnd("q1"), two.untilEnd("q1")])
    expect(two.last).toBe(one.last)
    expect([...two.messages.values()].map(shownOf)).toEqual([...one.messages.values()].map(shownOf))
    const seqs = one.frames.flatMap((frame) => (frame.type === "message" || frame.type === "ops" ? [frame.seq] : []))
    expect(seqs).toEqual(seqs.map((_, i) => (seqs[0] ?? 0) + i))
  })

  test.each([
    ["not JSON", "{", "frame_malformed"],
    ["not an object", "[1]", "frame_malformed"],
    ["an unknown type", '{"type":"segments","segments":[]}', "frame_unknown"],
    ["a field of the wrong type", '{"type":"send","id":"a","content":7}', "frame_invalid"],
    ["an invalid id", '{"type":"send","id":"a b","content":"x"}', "frame_invalid"],
    ["a reply to an unknown message", '{"type":"send","id":"a","content":"x","reply_to":"ghost"}', "frame_invalid"],
    [
      "a cursor from the future",
      `{"type":"hello","protocol":${PROTOCOL_VERSION - 1},"live":true,"epoch":"EPOCH","after":999}`,
      "frame_invalid",
    ],
    ["an empty message", '{"type":"send","id":"a","content":" \\n "}', "message_empty"],
    [
      "a long message",
      JSON.stringify({ type: "send", id: "a", content: "é".repeat(MAX_MESSAGE_BYTES / 2 + 1) }),
      "message_too_large",
    ],
    ["a long frame", `{"type":"send","id":"a","content":"${"x".repeat(MAX_CLIENT_FRAME_BYTES)}"}`, "frame_too_large"],
  ])("[WS3] [WS4] %s is reported, leaves the socket open, and stores nothing", async (_what, text, code) => {
    const id = await freshSession()
    const client = await connect(id)
    const before = await rowsIn(id)
    const { epoch } = await pageOf(id)
    client.say(text.replace("EPOCH", epoch))
    expect(await client.untilTrue((frame) => frame.type === "error")).toMatchObject({ code })
    expect(await rowsIn(id)).toEqual(before)
    client.say({ type: "send", id: "still", content: "/say here" })
    expect((await client.untilEnd("still")).status).toBe("completed")
  })

  test("[WS3] a binary frame is reported, and the socket stays open", async () => {
    const client = await connect(await freshSession())
    client.socket.send(new Uint8Array([1, 2, 3]))
    expect(await client.untilTrue((frame) => frame.type === "error")).toMatchObject({ code: "frame_malformed" })
    client.say({ type: "send", id: "q1", content: "/say hi" })
    await client.untilEnd("q1")
  })

  test("[WS7] a client that reconnects gets the missed frames from memory", async () => {
    const id = await freshSession()
    const first = await connect(id)
    first.say({ type: "send", id: "q1", content: WEATHER })
    await first.untilEnd("q1")
    const { epoch } = await pageOf(id)
    for (const after of [0, 1, 3, first.last - 1, first.last]) {
      const again = await connect(id, CLAIMS, null)
      again.last = after
      again.say({ type: "hello", protocol: PROTOCOL_VERSION, live: true, epoch, after })
      if (after < first.last)
        await again.untilTrue((frame) => "seq" in frame && frame.seq === first.last && frame.type !== "hello")
      await again.untilTrue((frame) => frame.type === "hello")
      expect(again.last).toBe(first.last)
      expect(again.frames.length - 1).toBe(first.last - after)
    }
  })

  test("[WS7] after an eviction, a client gets whole messages, each once", async () => {
    const id = await freshSession()
    const first = await connect(id)
    for (const exchange of ["q1", "q2"]) {
      first.say({ type: "send", id: exchange, content: `/say ${exchange}` })
      await first.untilEnd(exchange)
    }
    const page = await pageOf(id)
    await evictDurableObject(sessionOf(id))
    const again = await connect(id, CLAIMS, null)
    again.last = 1
    again.say({ type: "hello", protocol: PROTOCOL_VERSION, live: true, epoch: page.epoch, after: 1 })
    await again.untilTrue((frame) => frame.type === "message" && frame.seq === page.seq)
    expect([...again.messages.values()].map((message) => toCanonicalJson(message))).toEqual(
      page.messages.slice(1).map((message) => toCanonicalJson(message)),
    )
    expect((await pageOf(id)).seq).toBe(page.seq)
  })

  test("[WS7] a client of another epoch gets the epoch and nothing else", async () => {
    const id = await freshSession()
    const client = await connect(id)
    client.say({ type: "send", id: "q1", content: "/say hi" })
    await client.untilEnd("q1")
    const staleClient = await connect(id, CLAIMS, null)
    staleClient.say({ type: "hello", protocol: PROTOCOL_VERSION, live: true, epoch: "old", after: 1 })
    const hello = await staleClient.untilTrue((frame) => frame.type === "hello")
    expect(hello).toMatchObject({ epoch: (await pageOf(id)).epoch, seq: client.last })
    expect(staleClient.frames).toHaveLength(1)
  })

  test("[WS8] a repeated id has no further effect and is acknowledged again, even after an eviction and over RPC", async () => {
    const id = await freshSession()
    const client = await connect(id)
    client.say({ type: "send", id: "q1", content: "/say once" })
    client.say({ type: "send", id: "q1", content: "/say once" })
    await client.untilEnd("q1")
    await evictDurableObject(sessionOf(id))
    const again = await connect(id)
    again.say({ type: "send", id: "q1", content: "/say twice" })
    await again.untilTrue((frame) => frame.type === "ack")
    expect(await sessionOf(id).send(CLAIMS, { id: "q1", content: "x" })).toMatchObject({ value: { duplicate: true } })
    expect(client.frames.filter((frame) => frame.type === "ack")).toEqual([
      { type: "ack", id: "q1", seq: 1 },
      { type: "ack", id: "q1", seq: 1 },
    ])
    expect((await pageOf(id)).messages).toHaveLength(2)
  })

  test("[WS9] with live: false a client gets whole messages only", async () => {
    const id = await freshSession()
    const client = await connect(id, CLAIMS, { live: false })
    client.say({ type: "send", id: "q1", content: WEATHER })
    const answer = await client.untilEnd("q1")
    expect(client.frames.some((frame) => frame.type === "ops")).toBe(false)
    expect(toCanonicalJson(answer)).toBe(toCanonicalJson((await pageOf(id)).messages[1]))
  })

  test("[WS10] an expired token closes its socket at the next frame", async () => {
    vi.useFakeTimers({ toFake: ["Date"] })
    const id = await freshSession()
    const client = await connect(id, { ...CLAIMS, expires: Date.now() / 1000 + 1 })
    vi.setSystemTime(Date.now() + 1_100)
    client.say({ type: "send", id: "q1", content: "hi" })
    expect(await client.untilTrue((frame) => frame.type === "error")).toMatchObject({ code: "token_expired" })
    expect(await client.untilClosed()).toMatchObject({ code: 4401 })
    expect((await pageOf(id)).messages).toHaveLength(0)
  })

  test("[WS10] a socket whose token has expired receives nothing more", async () => {
    vi.useFakeTimers({ toFake: ["Date"] })
    const id = await freshSession()
    const short = await connect(id, { ...CLAIMS, expires: Date.now() / 1000 + 1 })
    const long = await connect(id)
    vi.setSystemTime(Date.now() + 1_100)
    long.say({ type: "send", id: "q1", content: "/say secret" })
    await long.untilEnd("q1")
    expect(await short.untilClosed()).toMatchObject({ code: 4401 })
    expect(short.texts.join()).not.toContain("secret")
  })

  test("[WS12] a socket that hasn't confirmed the frames of a full replay buffer is closed with 4408; one that sends `seen` isn't", async () => {
    const id = await freshSession()
    const silent = await connect(id)
    const active = await connect(id)
    for (let i = 0; silent.closed === null && i < 400; i++) {
      active.say({ type: "send", id: `q${i}`, content: "/say x" })
      await active.untilEnd(`q${i}`)
      active.say({ type: "seen", seq: active.last })
    }
    expect(await silent.untilClosed()).toMatchObject({ code: 4408 })
    expect(silent.last).toBeLessThanOrEqual(REPLAY_FRAMES)
    expect(active.closed).toBeNull()
    const { epoch } = await pageOf(id)
    const again = await connect(id, CLAIMS, null)
    again.last = silent.last
    again.say({ type: "hello", protocol: PROTOCOL_VERSION, live: true, epoch, after: silent.last })
    await again.untilTrue((frame) => "seq" in frame && frame.type !== "hello" && frame.seq === active.last)
  })

  test("[WS5] a message over the frame limit is split into fragments with the same result", async () => {
    const id = await freshSession()
    const client = await connect(id)
    const long = `${"wörter und 😀 ".repeat(20_000)}end`
    await runInDurableObject(sessionOf(id), (_object, state) => {
      const store = createSessionStore(state.storage.sql)
      const timestamp = new Date().toISOString()
      const answer = createMessage({ id: "a1", role: "assistant", exchange_id: "q0", timestamp })
      store.insertMessage(placed(answer))
      const recorder = new TurnRecorder(store, store.findMessageAt(1) ?? placed(answer), () => 2)
      recorder.feed({ type: "text_delta", delta: long })
      recorder.feed({ type: "end", status: "completed", reason: null, metrics: null })
      recorder.flush()
    })
    client.socket.close()
    await evictDurableObject(sessionOf(id))
    const page = await pageOf(id)
    const again = await connect(id, CLAIMS, null)
    again.say({ type: "hello", protocol: PROTOCOL_VERSION, live: true, epoch: page.epoch, after: 0 })
    await again.untilTrue(
      (frame) => frame.type === "ops" && frame.piece !== undefined && JSON.stringify(frame).includes("end"),
    )
    expect(again.texts.every((text) => new TextEncoder().encode(text).length <= 256 * 1024)).toBe(true)
    const joined = again.messages.get("a1")
    expect(joined && shownOf(joined)).toBe(page.messages[0] && shownOf(page.messages[0]))
  })
})
