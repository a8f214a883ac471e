/**
 * golden.test.ts: runs check GO5 on the golden files, in workerd on real SQLite.
 *
 * Each raw event goes to a new recorder that reads the stored rows, and the object is evicted between every two events.
 * Both the final page of history and the frames that a socket would have received must match the golden file.
 */

import { env, evictDurableObject, runInDurableObject } from "cloudflare:test"
import { expect, test } from "vitest"
import type { TurnEvent } from "../../shared/protocol/event.ts"
import { apply } from "../../shared/protocol/apply-ops.ts"
import type { HistoryPage } from "../../shared/protocol/http-body.ts"
import type { Op, Segment } from "../../shared/protocol/segment.ts"
import { toCanonicalJson } from "../../shared/json.ts"
import type { Resolver } from "../../shared/segment/grant.ts"
import { createMessage } from "../../shared/protocol/message.ts"
import { readPageJson } from "../../worker/socket/history-pages.ts"
import { TurnRecorder } from "../../worker/turn/turn-recorder.ts"
import { createSessionStore } from "../../worker/store/session-store.ts"
import { type Golden, parseGolden, printSegments } from "../support/golden.ts"
import { everyNth } from "../support/seeded.ts"
import { placed } from "../support/turn.ts"

const files = import.meta.glob<string>("../golden/*.txt", { query: "?raw", import: "default", eager: true })
const goldens = Object.entries(files).map(([path, text]) => parseGolden(path.replace(/^.*\/|\.txt$/g, ""), text))

const CLAIMS = { tenant: "golden", user: "reader", expires: 4_000_000_000, token: null, issued: 0 }

function stubOf(name: string) {
  return env.SESSION.getByName(`golden:${name}`)
}

/**
 * Stores the empty answer of a turn as the turn loop does, but without a model. A user message follows the answer.
 * Otherwise the loop would resume this turn, because it resumes the newest turn when the object wakes up.
 */
async function createGoldenSession(name: string): Promise<void> {
  await stubOf(name).create(CLAIMS, name, "golden")
  await runInDurableObject(stubOf(name), (_object, state) => {
    const answer = createMessage({
      id: "m1",
      role: "assistant",
      exchange_id: "u1",
      timestamp: "2026-01-01T00:00:00.000Z",
    })
    const after = {
      ...createMessage({ ...answer, id: "u2", role: "user", words: "next" }),
      status: "completed" as const,
    }
    const store = createSessionStore(state.storage.sql)
    store.insertMessage(placed(answer))
    store.insertMessage(placed(after, { pos: 2, parent: 1, seq: 2 }))
  })
}

/** Plays an event in an object that has only its stored rows. Returns the ops that a socket would receive. */
function feedEvent(name: string, event: TurnEvent, resolver: Resolver): Promise<readonly Op[]> {
  return runInDurableObject(stubOf(name), (_object, state) => {
    const store = createSessionStore(state.storage.sql)
    const stored = store.findMessageAt(1)
    if (stored === null) throw new Error("the answer is gone")
    const recorder = new TurnRecorder(store, stored, () => stored.seq + 1, { resolver })
    recorder.feed(event)
    return recorder.flush()?.ops ?? []
  })
}

function segmentsStored(name: string): Promise<readonly Segment[]> {
  return runInDurableObject(stubOf(name), (_object, state) => {
    const store = createSessionStore(state.storage.sql)
    const page: HistoryPage = JSON.parse(
      readPageJson(store, { epoch: "e", seq: store.readLastSeq(), isTemporary: false }, { limit: 1, before: 2 }),
    )
    return page.messages[0]?.segments ?? []
  })
}

async function playGolden(golden: Golden, name: string, events: readonly TurnEvent[]): Promise<void> {
  await createGoldenSession(name)
  let live: Segment[] = []
  for (const event of events) {
    live = apply(live, await feedEvent(name, event, golden.resolver))
    // Everything is stored before it is shown, so the state that was sent must equal the stored rows after every event.
    expect(toCanonicalJson(live)).toBe(toCanonicalJson(await segmentsStored(name)))
    await evictDurableObject(stubOf(name))
  }
  const stored = await segmentsStored(name)
  const expected = golden.expected.filter((line) => !/^(?:drift|is|replies) /.test(line))
  expect(printSegments(stored, [])).toEqual(expected)
  expect(toCanonicalJson(live)).toBe(toCanonicalJson(stored))
}

test.each(
  everyNth(
    goldens.map((golden) => [golden.name, golden] as const),
    3,
  ),
)("[GO5] %s: the result is the same if the object is evicted after every event", async (name, golden) => {
  await playGolden(golden, name, golden.events)
})

test("[GO5] an answer with a tag, a fence, an emoji and an unfinished element is the same if the object is evicted after every character", async () => {
  const text = "é😀 `a` <span id='weather_1'>x</span> <scr<b>i</b> ```\n"
  const golden = parseGolden("chars", `text ${JSON.stringify(text)}\n---\n`)
  const crumbs: TurnEvent[] = text.split("").map((delta) => ({ type: "text_delta", delta }))
  await createGoldenSession("whole")
  await feedEvent("whole", { type: "text_delta", delta: text }, golden.resolver)
  await feedEvent("whole", { type: "text_done" }, golden.resolver)
  const expected = printSegments(await segmentsStored("whole"), [])
  await playGolden({ ...golden, expected }, "chars", [...crumbs, { type: "text_done" }])
})
