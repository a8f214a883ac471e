/**
 * attachments.test.ts: tests attachments from the sent message to the model's context, in workerd with a real SQLite
 * database and a real bucket.
 */

import { evictDurableObject, runInDurableObject } from "cloudflare:test"
import { describe, expect, test } from "vitest"
import type { HistoryPage } from "../../shared/protocol/http-body.ts"
import { MAX_ATTACHMENTS, MAX_QUOTE_CHARS, PROTOCOL_VERSION } from "../../shared/limits.ts"
import { createPastTurns } from "../../worker/turn/past-turns.ts"
import { createQuoteLookup } from "../../worker/turn/past-turns.ts"
import { createSessionStore } from "../../worker/store/session-store.ts"
import { reserveAsset, assetOf, putAsset } from "./sample-assets.ts"
import { CLAIMS, connect, createSession, pageOf, sessionOf, type TestClient } from "../support/socket.ts"
import { call as callRoute, makeSession, refusal, tokenOf } from "./http.ts"
import {
  answerTo,
  beginTurn,
  call,
  expectSame,
  freshSession as fresh,
  pause,
  rowsIn,
  say,
  script,
  toolsIn,
} from "./session-helpers.ts"

const freshSession = (): Promise<string> => fresh("att")

/** Returns the segment of one of the assets in these tests. */
const createMediaSegment = (id: string) => ({ type: "media", url: `/media/${id}`, label: `${id}.png` })
const matchMedia = (id: string) => expect.objectContaining(createMediaSegment(id))

async function sendFiles(client: TestClient, id: string, content: string, attachments: readonly string[]) {
  client.say({ type: "send", id, content, attachments: [...attachments] })
  return await client.untilEnd(id)
}

/** Sends a frame. Returns the error code of the response, or "taken" if the frame was accepted. */
async function sendRefused(client: TestClient, frame: object): Promise<string> {
  const before = client.frames.length
  client.say(JSON.stringify(frame))
  await client.untilTrue(
    (reply) => client.frames.indexOf(reply) >= before && (reply.type === "error" || reply.type === "ack"),
  )
  const answer = client.frames.slice(before).find((reply) => reply.type === "error" || reply.type === "ack")
  return answer?.type === "error" ? answer.code : "taken"
}

/** Sends a revision, and reads history as the page does. */
async function reviseMessage(id: string, client: TestClient, frame: Parameters<TestClient["say"]>[0] & { id: string }) {
  client.say(frame)
  await client.untilTrue((reply) => reply.type === "ack" && reply.id === frame.id)
  const page: HistoryPage = await pageOf(id)
  client.messages.clear()
  for (const message of page.messages) client.messages.set(message.id, message)
  client.last = page.seq
  client.say({ type: "hello", protocol: PROTOCOL_VERSION, live: true, epoch: page.epoch, after: page.seq })
  return page
}

const createQuestion = async (id: string, message: string) =>
  (await pageOf(id)).messages.find((one) => one.id === message)

describe("a message's attachments", () => {
  test("[AT1] follow its text in order, both live and after a reload and an eviction", async () => {
    const id = await freshSession()
    const client = await connect(id)
    await putAsset(id, assetOf("one"))
    await putAsset(id, assetOf("two", { kind: "audio", mime_type: "audio/wav", voice: true }))
    await sendFiles(client, "q1", "/say seen", ["two", "one"])
    const segments = [
      { type: "text", content: "/say seen" },
      { ...createMediaSegment("two"), voice: true },
      matchMedia("one"),
    ]
    expect(client.messages.get("q1")).toMatchObject({ content: "/say seen", segments })
    await expectSame(id, client)
    await evictDurableObject(sessionOf(id))
    expect(await createQuestion(id, "q1")).toMatchObject({ segments })
    const late = await connect(id, CLAIMS, { epoch: (await pageOf(id)).epoch, after: 0 })
    await late.untilTrue((frame) => frame.type === "message" && frame.id === "q1")
    expect(late.messages.get("q1")).toMatchObject({ segments })
  })

  test("[AT1] a message with attachments needs no text, and the first file's label becomes the title of an untitled session", async () => {
    const id = await freshSession()
    const client = await connect(id)
    await putAsset(id, assetOf("map", { label: "Map of Paris.png" }))
    expect((await sendFiles(client, "q1", " \n", ["map"])).status).toBe("completed")
    expect(client.messages.get("q1")).toMatchObject({ content: "", segments: [{ url: "/media/map" }] })
    const title = await runInDurableObject(
      sessionOf(id),
      (_object, state) => createSessionStore(state.storage.sql).readSession()?.title,
    )
    expect(title).toBe("Map of Paris.png")
  })

  test("[AT1] are also accepted by POST /v1/sessions/:id/messages", async () => {
    const token = await tokenOf(CLAIMS.tenant, CLAIMS.user)
    const id = await makeSession(token)
    await putAsset(id, assetOf("one"))
    const postMessage = (body: object) =>
      callRoute(`/v1/sessions/${id}/messages`, { method: "POST", token, body: JSON.stringify(body) })
    expect(await postMessage({ id: "q1", content: "", attachments: ["one"] })).toMatchObject({ status: 202 })
    await expect.poll(async () => (await createQuestion(id, "q1"))?.segments).toEqual([matchMedia("one")])
    expect(await postMessage({ content: "x", attachments: ["none"] })).toEqual(refusal(404, "attachment_unknown"))
    expect(await postMessage({ content: "x", attachments: "one" })).toEqual(
      refusal(400, "field_invalid", "attachments"),
    )
    expect(await postMessage({ content: "x", attachments: [1] })).toEqual(refusal(400, "field_invalid", "attachments"))
  })

  test("[AT2] a file that isn't stored in this session, a duplicate and one file too many are refused, and nothing is stored", async () => {
    const [id, other] = [await freshSession(), await freshSession()]
    const many = Array.from({ length: MAX_ATTACHMENTS + 1 }, (_, n) => `many${n}`)
    for (const one of [...many, "here"]) await putAsset(id, assetOf(one))
    await putAsset(id, assetOf("doc", { kind: "canvas", mime_type: "text/html" }))
    await putAsset(other, assetOf("there"))
    await reserveAsset(id, "pending")
    const client = await connect(id)
    const before = await rowsIn(id)
    const attemptSend = (attachments: unknown, content = "x") =>
      sendRefused(client, { type: "send", id: "q1", content, attachments })
    expect(await attemptSend(["unknown"])).toBe("attachment_unknown")
    expect(await attemptSend(["there"])).toBe("attachment_unknown")
    expect(await attemptSend(["here", "pending"])).toBe("attachment_unknown")
    expect(await attemptSend(["doc"])).toBe("attachment_unknown")
    expect(await attemptSend(["here", "here"])).toBe("frame_invalid")
    expect(await attemptSend(many)).toBe("attachments_too_many")
    expect(await attemptSend("here")).toBe("frame_invalid")
    expect(await attemptSend({ 0: "here" })).toBe("frame_invalid")
    expect(await attemptSend([null])).toBe("frame_invalid")
    expect(await attemptSend(["../here"])).toBe("frame_invalid")
    expect(await attemptSend([], " ")).toBe("message_empty")
    expect(await rowsIn(id)).toEqual(before)
    // The id is still free, and the maximum number of attachments is accepted.
    await sendFiles(client, "q1", "", many.slice(1))
    expect(client.messages.get("q1")?.segments).toHaveLength(MAX_ATTACHMENTS)
  })

  test("[AT2] a message that repeats an id with other files has no effect", async () => {
    const id = await freshSession()
    const client = await connect(id)
    for (const one of ["one", "two"]) await putAsset(id, assetOf(one))
    await sendFiles(client, "q1", "/say hi", ["one"])
    // Ignore the reported size, because a session reports its size some time after a turn.
    const contentRows = async () => ({ ...(await rowsIn(id)), reported_bytes: null })
    const rows = await contentRows()
    expect(await sendRefused(client, { type: "send", id: "q1", content: "/say hi", attachments: ["two"] })).toBe(
      "taken",
    )
    expect(await sendRefused(client, { type: "send", id: "q1", content: "", attachments: ["unknown"] })).toBe("taken")
    expect(await contentRows()).toEqual(rows)
    expect((await createQuestion(id, "q1"))?.segments).toEqual([
      { type: "text", content: "/say hi" },
      matchMedia("one"),
    ])
  })

  test("[AT3] wait in the queue with their message, even through an eviction, and are removed if it is withdrawn", async () => {
    const id = await freshSession()
    const client = await connect(id)
    for (const one of ["one", "two"]) await putAsset(id, assetOf(one))
    await beginTurn(client, "q1", script([say("a"), pause(1_500), say("b")]))
    client.say({ type: "send", id: "q2", content: "", attachments: ["one"], reply_to: "q1" })
    client.say({ type: "send", id: "q3", content: "/say no", attachments: ["two"] })
    await client.untilTrue((frame) => frame.type === "message" && frame.id === "q3")
    expect(await createQuestion(id, "q2")).toMatchObject({
      status: "queued",
      segments: [matchMedia("one")],
      reply_to: "q1",
    })
    expect(client.messages.get("q2")).toMatchObject({ status: "queued", segments: [matchMedia("one")] })
    client.say({ type: "withdraw", id: "w1", message: "q3" })
    await client.untilTrue((frame) => frame.type === "ack" && frame.id === "w1")
    await client.untilEnd("q2")
    expect(await createQuestion(id, "q2")).toMatchObject({
      status: "completed",
      segments: [matchMedia("one")],
      reply_to: "q1",
    })
    expect(await createQuestion(id, "q3")).toBeUndefined()
  })

  test("[AT4] are preserved by edit, regenerate and retry, as is reply_to", async () => {
    const id = await freshSession()
    const client = await connect(id)
    for (const one of ["one", "two"]) await putAsset(id, assetOf(one))
    await sendFiles(client, "q0", "/say first", [])
    client.say({ type: "send", id: "q1", content: "/say hi", attachments: ["one", "two"], reply_to: "q0" })
    const answer = await client.untilEnd("q1")
    await reviseMessage(id, client, { type: "regenerate", id: "r1", message: answer.id })
    await client.untilEnd("q1")
    expect(await createQuestion(id, "q1")).toMatchObject({
      segments: [{}, matchMedia("one"), matchMedia("two")],
      reply_to: "q0",
    })
    await reviseMessage(id, client, { type: "edit", id: "q1b", message: "q1", content: "" })
    await client.untilEnd("q1b")
    const edited = { segments: [matchMedia("one"), matchMedia("two")], reply_to: "q0", version: 2, versions: 2 }
    expect(await createQuestion(id, "q1b")).toMatchObject(edited)
    await reviseMessage(id, client, { type: "edit", id: "q1c", message: "q1b", content: "/fault model_refused" })
    const failed = await client.untilEnd("q1c")
    await reviseMessage(id, client, { type: "retry", id: "r2", message: failed.id })
    await client.untilEnd("q1c")
    expect(await createQuestion(id, "q1c")).toMatchObject({
      segments: [{}, matchMedia("one"), matchMedia("two")],
      reply_to: "q0",
    })
    await evictDurableObject(sessionOf(id))
    const page = await reviseMessage(id, await connect(id), { type: "switch", id: "s1", message: "q1c", version: 2 })
    expect(page.messages.find((message) => message.id === "q1b")).toMatchObject({ ...edited, versions: 3 })
    // A message with blank text and no file still counts as empty.
    expect(await sendRefused(client, { type: "edit", id: "q0b", message: "q0", content: "" })).toBe("message_empty")
  })

  test("[AT3] if a turn that waits for approval is evicted, its question keeps its files until the turn has ended", async () => {
    const id = await freshSession()
    const client = await connect(id)
    await putAsset(id, assetOf("one"))
    const scriptText = script([call("probe_ask")], [say("ok")])
    client.say({ type: "send", id: "q1", content: scriptText, attachments: ["one"] })
    await client.untilTrue(
      (frame) => frame.type === "ops" && frame.ops.some((op) => op.op === "meta" && op.status === "waiting"),
    )
    const before = answerTo(client, "q1")
    await evictDurableObject(sessionOf(id))
    const withFile = { segments: [{ content: scriptText }, matchMedia("one")] }
    expect(await createQuestion(id, "q1")).toMatchObject(withFile)
    const second = await connect(id)
    const callId = toolsIn(before)[0]?.call_id ?? ""
    second.say({ type: "approve", call_id: callId, decision: "allow" })
    await second.untilTrue((frame) => frame.type === "ops" && frame.ops.some(({ op }) => op === "end"))
    expect(await createQuestion(id, "q1")).toMatchObject({ ...withFile, status: "completed" })
  })
})

describe("replies", () => {
  test("[AT6] the replied-to message is quoted to the model, up to MAX_QUOTE_CHARS", async () => {
    const id = await freshSession()
    const client = await connect(id)
    await putAsset(id, assetOf("one"))
    await sendFiles(client, "q1", `/say ${"long ".repeat(400)}`, [])
    const answer = await client.untilEnd("q1")
    client.say({ type: "send", id: "q2", content: "", attachments: ["one"], reply_to: answer.id })
    await client.untilEnd("q2")
    client.say({ type: "send", id: "q3", content: "/say MEDIA: /media/one", reply_to: "q2" })
    const shown = await client.untilEnd("q3")
    client.say({ type: "send", id: "q4", content: "/say that", reply_to: shown.id })
    await client.untilEnd("q4")
    const userMessages = await runInDurableObject(sessionOf(id), (_object, state) => {
      const store = createSessionStore(state.storage.sql)
      const past = [...createPastTurns(store.findMessageAt, 32_000, createQuoteLookup(store))(store.readNewestPos())]
      return past.reverse().flatMap(({ messages }) => messages.filter(({ role }) => role === "user"))
    })
    expect(userMessages).toMatchObject([
      { content: expect.stringMatching(/^\/say long/) },
      { content: "", quote: { from: "assistant", text: expect.stringMatching(/^long long .* \[…\]$/) } },
      { quote: { from: "user", text: "one.png" } },
      { content: "/say that", quote: { from: "assistant", text: "one.png" } },
    ])
    const quote = userMessages[1]?.role === "user" ? (userMessages[1].quote?.text ?? "") : ""
    expect(quote.length).toBe(MAX_QUOTE_CHARS + 4)
    expect(userMessages[0]).not.toHaveProperty("quote")
  })

  test("[AT6] a reply to an unknown message is refused", async () => {
    const id = await freshSession()
    const client = await connect(id)
    expect(await sendRefused(client, { type: "send", id: "q1", content: "x", reply_to: "none" })).toBe("frame_invalid")
  })
})

test("[AT2] a message can't attach files from another user's session", async () => {
  const id = await freshSession()
  await putAsset(id, assetOf("one"))
  const claims = { ...CLAIMS, user: "eve" }
  await createSession("att-eve", claims)
  const client = await connect("att-eve", claims)
  expect(await sendRefused(client, { type: "send", id: "q1", content: "x", attachments: ["one"] })).toBe(
    "attachment_unknown",
  )
})
