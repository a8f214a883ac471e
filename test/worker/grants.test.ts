/**
 * grants.test.ts: tests that grants are decided when a directive is read, even if the session changes meanwhile, and
 * never change afterwards. The tests read the rows again at every event, retry an answer, and play a real turn over a
 * real socket.
 */

import { evictDurableObject, runInDurableObject } from "cloudflare:test"
import fc from "fast-check"
import { expect, test } from "vitest"
import type { Asset, TurnEvent } from "../../shared/protocol/event.ts"
import { applyToMessage } from "../../shared/protocol/apply-ops.ts"
import type { WireMessage } from "../../shared/protocol/server-frame.ts"
import { toCanonicalJson } from "../../shared/json.ts"
import type { Resolver } from "../../shared/segment/grant.ts"
import { MAX_TEXT_CHUNK_CHARS, MAX_GRANT_NAMES } from "../../shared/limits.ts"
import { createMessage } from "../../shared/protocol/message.ts"
import { messageToWire } from "../../shared/segment/segmenter.ts"
import { createAssetRows } from "../../worker/asset/asset-rows.ts"
import { TurnRecorder } from "../../worker/turn/turn-recorder.ts"
import { createSessionStore, type SessionStore } from "../../worker/store/session-store.ts"
import { printSegments } from "../support/golden.ts"
import { assertProperty } from "../support/seeded.ts"
import { connect, pageOf, sessionOf } from "../support/socket.ts"
import { cutDeltas, grantEventArb } from "../support/stream-events.ts"
import { NOTHING_KNOWN, placed, TIME } from "../support/turn.ts"
import { beginTurn, call, expectSame, fault, freshSession, say, script } from "./session-helpers.ts"

/**
 * Number of generated streams. There are fewer than in tests without a database, because each event executes several
 * SQL statements.
 */
const STREAMS = 400

function createAsset(id: string): Asset {
  return {
    id,
    kind: id.startsWith("c") ? "canvas" : id.startsWith("s") ? "audio" : "image",
    mime_type: "image/png",
    label: `${id}.png`,
    size: 5,
  }
}

/** Returns a resolver whose results depend on the step, so that a late lookup has a different result. */
function createVaryingResolver(step: number, seed: number): Resolver {
  const isKnown = (name: string): boolean => ((name.length + name.charCodeAt(name.length - 1)) * seed + step) % 3 !== 0
  return {
    findAsset: (id) => (isKnown(id) ? createAsset(id) : null),
    hasMessage: (id) => (id === "m1" || id === "m2") && isKnown(id),
    listOrigins: () => ["https://ok.com", "https://o2.com"].filter(isKnown),
  }
}

function openStore(storage: DurableObjectStorage): SessionStore {
  return createSessionStore(storage.sql, (write) => storage.transactionSync(write))
}

/** Stores an answer that has begun, at the position `pos`. */
function beginAnswer(store: SessionStore, pos: number): WireMessage {
  const answer = createMessage({ id: `m-${pos}`, role: "assistant", exchange_id: `q-${pos}`, timestamp: TIME })
  store.insertMessage(placed(answer, { pos, parent: pos - 1 || null, seq: store.readLastSeq() + 1 }))
  return messageToWire(answer)
}

function bodyAt(store: SessionStore, pos: number): string {
  const stored = store.findMessageAt(pos)
  if (stored === null) throw new Error("the answer is gone")
  const { content: _, ...body } = messageToWire(stored.message)
  return toCanonicalJson(body)
}

/**
 * Plays a stream into a new answer, and returns the answer's segments as JSON. At each step for which `isFresh` returns
 * true, a new recorder continues from the rows.
 */
function playEvents(
  storage: DurableObjectStorage,
  pos: number,
  events: readonly TurnEvent[],
  seed: number,
  isFresh: (step: number) => boolean,
): string {
  let current = NOTHING_KNOWN
  const resolver: Resolver = {
    findAsset: (id) => current.findAsset(id),
    hasMessage: (id) => current.hasMessage(id),
    listOrigins: () => current.listOrigins(),
  }
  let store = openStore(storage)
  let live = beginAnswer(store, pos)
  let recorder: TurnRecorder | null = null
  for (const [step, event] of events.entries()) {
    if (isFresh(step)) recorder = null
    if (recorder === null) {
      store = openStore(storage)
      const stored = store.findMessageAt(pos)
      if (stored === null) throw new Error("the answer is gone")
      recorder = new TurnRecorder(store, stored, () => store.readLastSeq() + 1, { resolver })
    }
    current = createVaryingResolver(step, seed)
    recorder.feed(event)
    live = applyToMessage(live, recorder.flush()?.ops ?? [])
    const { content: _, ...body } = live
    expect(toCanonicalJson(body)).toBe(bodyAt(openStore(storage), pos))
  }
  return toCanonicalJson(live.segments)
}

test("[DR11] [DR17] [GO5] whatever the session contains at each event, live state equals stored state, and a new process decides nothing again", async () => {
  const id = await freshSession("fickle")
  await runInDurableObject(sessionOf(id), (_object, { storage }) => {
    let pos = 0
    const streams = fc.array(grantEventArb, { minLength: 2, maxLength: 14 })
    assertProperty(
      fc.property(streams, fc.nat(40), fc.nat(4), fc.integer({ min: 1, max: 7 }), (deltas, cut, seed, evictions) => {
        pos += 2
        const status = pos % 3 === 0 ? "interrupted" : "completed"
        const events: TurnEvent[] = [...cutDeltas(deltas, cut), { type: "end", status, reason: null, metrics: null }]
        const withoutEviction = playEvents(storage, pos - 1, events, seed, () => false)
        expect(playEvents(storage, pos, events, seed, (step) => (step & evictions) === evictions)).toBe(withoutEviction)
      }),
      STREAMS,
    )
  })
})

test("[DR11] a part with many chunks keeps its grants in the last chunk, and a retry copies them", async () => {
  const id = await freshSession("leaves")
  await runInDurableObject(sessionOf(id), (_object, { storage }) => {
    const store = openStore(storage)
    beginAnswer(store, 1)
    const stored = store.findMessageAt(1)
    if (stored === null) throw new Error("the answer is gone")
    const resolver: Resolver = { ...NOTHING_KNOWN, findAsset: createAsset, hasMessage: () => true }
    const recorder = new TurnRecorder(store, stored, () => store.readLastSeq() + 1, { resolver })
    const texts = ["MEDIA: /media/p1\n[[reply_to:m1]]", "x ".repeat(MAX_TEXT_CHUNK_CHARS), "\nMEDIA: /media/p2\n"]
    for (const delta of texts) {
      recorder.feed({ type: "text_delta", delta })
      recorder.flush()
    }
    recorder.feed({ type: "end", status: "failed", reason: "model_cut_off", metrics: null })
    recorder.flush()
    const grants = storage.sql
      .exec("SELECT grants FROM leaf WHERE pos = 1 ORDER BY n")
      .toArray()
      .map((row) => row["grants"])
    expect(grants.length).toBeGreaterThan(2)
    expect(grants.filter((grant) => grant !== null)).toEqual([grants.at(-1)])
    expect(JSON.parse(String(grants.at(-1)))).toMatchObject({ replies: ["m1"], assets: [{ id: "p1" }, { id: "p2" }] })
    beginAnswer(store, 2)
    store.copySteps(1, 2, 9, store.readLastSeq() + 1)
    const readShown = (pos: number) =>
      messageToWire(store.findMessageAt(pos)?.message ?? createMessage({ ...stored.message }))
    expect(readShown(2)).toMatchObject({ segments: readShown(1).segments, reply_to: "m1" })
    expect(readShown(2).segments.filter(({ type }) => type === "media")).toHaveLength(2)
  })
})

test("[DR17] after MAX_GRANT_NAMES names in a part, further names are refused without a lookup", async () => {
  const id = await freshSession("many")
  await runInDurableObject(sessionOf(id), (_object, { storage }) => {
    const store = openStore(storage)
    beginAnswer(store, 1)
    const stored = store.findMessageAt(1)
    if (stored === null) throw new Error("the answer is gone")
    let calls = 0
    const findAsset = (name: string) => {
      calls += 1
      return name.startsWith("no") ? null : createAsset(name)
    }
    const recorder = new TurnRecorder(store, stored, () => 9, { resolver: { ...NOTHING_KNOWN, findAsset } })
    const lines = Array.from(
      { length: MAX_GRANT_NAMES + 20 },
      (_, n) => `MEDIA: /media/${n % 2 === 0 ? "no" : "p"}${n}\n`,
    )
    recorder.feed({ type: "text_delta", delta: lines.join("") })
    recorder.flush()
    expect(calls).toBe(MAX_GRANT_NAMES)
    const { message } = openStore(storage).findMessageAt(1) ?? stored
    expect(messageToWire(message).segments.filter(({ type }) => type === "media")).toHaveLength(MAX_GRANT_NAMES / 2)
  })
})

function insertAsset(id: string, asset: Asset): Promise<void> {
  return runInDurableObject(sessionOf(id), (_object, { storage }) => {
    const book = createAssetRows(storage.sql)
    book.reserve(asset.id, "user", 1)
    book.commit(asset, "00")
  })
}

test("[DR11] [DR18] in a real turn, a stored asset gets its metadata, an unknown one stays text, and an unknown message isn't replied to; a reload shows the same", async () => {
  const id = await freshSession("turn")
  await insertAsset(id, createAsset("p1"))
  const client = await connect(id)
  const createReplyText = (reply: string) => [
    say("Look:\nMEDIA: /media/p1"),
    say("\nMEDIA: /media/no"),
    say(`ne\n[[reply_to:${reply}]]`),
  ]
  client.say({ type: "send", id: "q1", content: script([...createReplyText("q0"), say("Done.")]) })
  const first = await client.untilEnd("q1")
  expect(printSegments(first.segments, [])).toEqual([
    'text "Look:"',
    'media image /media/p1 "p1.png" image/png 5',
    'text "MEDIA: /media/none\\nDone."',
  ])
  expect(first.reply_to).toBeUndefined()
  client.say({ type: "send", id: "q2", content: script([...createReplyText("q1"), say("x")]) })
  const second = await client.untilEnd("q2")
  expect(second.reply_to).toBe("q1")
  await expectSame(id, client)
  const before = JSON.stringify((await pageOf(id)).messages)
  // Later changes to the session must not affect the stored text.
  await insertAsset(id, createAsset("none"))
  await evictDurableObject(sessionOf(id))
  expect(JSON.stringify((await pageOf(id)).messages)).toBe(before)
})

test("[DR11] a retry keeps the grants of completed steps, whatever has changed since", async () => {
  const id = await freshSession("retry")
  await insertAsset(id, createAsset("p1"))
  const client = await connect(id)
  const steps = [
    [say("MEDIA: /media/p1\nMEDIA: /media/p2\nOne."), call("probe_slow", { ms: 1 })],
    [say("Two"), fault("model_malformed")],
  ]
  await beginTurn(client, "q1", script(...steps))
  const failed = await client.untilEnd("q1")
  expect(failed.status).toBe("failed")
  await insertAsset(id, createAsset("p2"))
  client.say({ type: "retry", id: "r1", message: failed.id })
  await client.untilTrue((frame) => frame.type === "ack" && frame.id === "r1")
  await expect.poll(async () => (await pageOf(id)).messages.at(-1)?.status).toBe("failed")
  const again = (await pageOf(id)).messages.at(-1)
  expect(again?.version).toBe(2)
  expect(again?.segments.slice(0, 2)).toEqual(failed.segments.slice(0, 2))
  expect(again?.segments[0]).toMatchObject({ type: "media", label: "p1.png" })
})
