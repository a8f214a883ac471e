/**
 * hijack.test.ts: tests third-party text that a real tool returns in a real turn and that the model repeats. The
 * socket's frames must match history before and after an eviction, and no part of the text may become a card, a file or
 * a frame.
 */

import { evictDurableObject, runInDurableObject } from "cloudflare:test"
import { expect, test } from "vitest"
import type { Segment } from "../../shared/protocol/segment.ts"
import type { WireMessage } from "../../shared/protocol/server-frame.ts"
import { createAssetRows } from "../../worker/asset/asset-rows.ts"
import { HIJACKS } from "../support/hijack-table.ts"
import { IS_FULL } from "../support/seeded.ts"
import { connect, pageOf, sessionOf, type TestClient } from "../support/socket.ts"
import { call, freshSession, say, script, shownOf } from "./session-helpers.ts"

const RESULT_FORMS = ["object", "card", "wrapped", "output"] as const

/** Returns the hostile text for one test. With `npm test`, each test uses a different third of the text. */
function textsOf(third: 0 | 1 | 2): string[] {
  return HIJACKS.filter((_, n) => IS_FULL || n % 3 === third)
}

function storeImage(id: string): Promise<void> {
  return runInDurableObject(sessionOf(id), (_object, { storage }) => {
    const book = createAssetRows(storage.sql)
    book.reserve("pic", "user", 1)
    book.commit({ id: "pic", kind: "image", mime_type: "image/png", label: "pic.png", size: 3 }, "00")
  })
}

test("[DR15] hostile text that a tool returns adds nothing to the answer except the call, live and after a reload", async () => {
  const id = await freshSession("quiet")
  await storeImage(id)
  const client = await connect(id)
  for (const [n, text] of textsOf(0).entries()) {
    const calls = RESULT_FORMS.map((as) => call("probe_data", { text, as }))
    client.say({ type: "send", id: `q${n}`, content: script(calls, [say("Done.")]) })
    const { segments, status } = await client.untilEnd(`q${n}`)
    client.say({ type: "seen", seq: client.last })
    const types = [...RESULT_FORMS.map(() => "tool"), "text"]
    expect([text, status, segments.map(({ type }) => type)]).toEqual([text, "completed", types])
    expect(segments.at(-1)).toEqual({ type: "text", content: "Done." })
  }
  await expectReload(id, client)
}, 60_000)

test("[DR15] hostile text that the model repeats shows only stored data, live and after a reload", async () => {
  const id = await freshSession("loud")
  await storeImage(id)
  const client = await connect(id)
  for (const [n, text] of textsOf(1).entries()) {
    const as = RESULT_FORMS[n % RESULT_FORMS.length] ?? "object"
    const halves = [text.slice(0, text.length / 2), text.slice(text.length / 2)].map((half) => say(half.toWellFormed()))
    const steps = [[call("probe_data", { text, as })], [say("So:\n"), ...halves]]
    client.say({ type: "send", id: `q${n}`, content: script(...steps) })
    const { segments, status } = await client.untilEnd(`q${n}`)
    client.say({ type: "seen", seq: client.last })
    expect([text, status, segments[0]?.type]).toEqual([text, "completed", "tool"])
    for (const segment of segments) expectOwn(segment, text, as)
  }
  await expectReload(id, client)
}, 60_000)

test("[DR15] [AG12] hostile text that another agent sends and the caller repeats stays text", async () => {
  const id = await freshSession("asked")
  await storeImage(id)
  const client = await connect(id)
  for (const [n, text] of textsOf(2).entries()) {
    const message = script([say(text.toWellFormed())])
    const agentCall = call("agents_message", { agent: "researcher", message, mode: "sync" })
    client.say({ type: "send", id: `q${n}`, content: script([agentCall], [say("So:\n"), say(text.toWellFormed())]) })
    const { segments, status } = await client.untilEnd(`q${n}`)
    client.say({ type: "seen", seq: client.last })
    const [first] = segments
    expect([text, status, first?.type]).toEqual([text, "completed", "tool"])
    const result: unknown = JSON.parse((first?.type === "tool" ? first.result : undefined) ?? "null")
    expect(result).toEqual(expect.objectContaining({ agent: "researcher", answer: expect.any(String) }))
    for (const segment of segments) expectOwn(segment, text, "asked")
  }
  await expectReload(id, client)
}, 90_000)

/** Asserts that a card shows a tool result of this turn, and that a file belongs to the session. */
function expectOwn(segment: Segment, text: string, as: string): void {
  if (segment.type === "rich") {
    expect([as === "card" || as === "wrapped", segment.tag, segment.payload]).toEqual([true, "probe_data_1", { text }])
  }
  if (segment.type === "media") expect(segment).toMatchObject({ url: "/media/pic", label: "pic.png" })
  expect(segment.type).not.toBe("canvas")
}

async function expectReload(id: string, client: TestClient): Promise<void> {
  const readPages = async (): Promise<WireMessage[]> => [...(await pageOf(id, { limit: 100 })).messages]
  const before = await readPages()
  await evictDurableObject(sessionOf(id))
  const after = await readPages()
  expect(JSON.stringify(after)).toBe(JSON.stringify(before))
  expect(after.length).toBeGreaterThan(HIJACKS.length / 2)
  for (const message of after) {
    const live = client.messages.get(message.id)
    expect(live && shownOf(live)).toBe(shownOf(message))
  }
}
