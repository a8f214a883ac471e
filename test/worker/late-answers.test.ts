/**
 * late-answers.test.ts: tests answers from other agents that arrive when the version that asked is no longer active.
 */

import { evictDurableObject, runInDurableObject, SELF } from "cloudflare:test"
import { expect, test } from "vitest"
import type { HistoryPage } from "../../shared/protocol/http-body.ts"
import type { ClientFrame } from "../../shared/protocol/client-frame.ts"
import type { WireMessage } from "../../shared/protocol/server-frame.ts"
import { connect, pageOf, sessionOf, type TestClient } from "../support/socket.ts"
import { askAgent, askFor, freshAsker, resultsIn } from "./agents.ts"
import { END, numberRecords, openRequest, postRecords, result, text, callStart } from "./external-producer.ts"
import { HOST, tokenOf } from "./http.ts"
import { answerTo, beginTurn, call, expectSame, renewPage, say, script, textIn, toolsIn } from "./session-helpers.ts"

/** The delay of a late answer, in milliseconds. It is long enough for a command to arrive before the answer. */
const SLOW_MS = 900

/** Returns a question that makes the model ask the researcher without waiting for the answer. */
function askLater(text: string, ms = SLOW_MS): string {
  const research = script([call("probe_slow", { ms })], [say(text)])
  return script([askAgent("researcher", research, "async")], [say("You will hear.")])
}

type Command = Extract<ClientFrame, { type: "regenerate" | "edit" | "switch" }>

interface Tabs {
  readonly live: TestClient
  readonly second: TestClient
  /** A client that receives only whole messages. */
  readonly slow: TestClient
}

async function openTabs(id: string): Promise<Tabs> {
  const [live, second] = [await connect(id), await connect(id)]
  return { live, second, slow: await connect(id, undefined, { live: false }) }
}

/** Sends a command, and then lets every tab read the new path, as the page does. */
async function sendCommand(id: string, tabs: Tabs, frame: Command): Promise<HistoryPage> {
  tabs.live.say(frame)
  await tabs.live.untilTrue((reply) => reply.type === "ack" && reply.id === frame.id)
  await renewPage(id, tabs.live)
  await renewPage(id, tabs.second)
  return await renewPage(id, tabs.slow)
}

/** Returns the number of the session's questions that have no answer yet. */
function countOpenAsks(id: string): Promise<number> {
  return runInDurableObject(sessionOf(id), (_object, { storage }) =>
    Number(storage.sql.exec("SELECT count(*) AS n FROM asked WHERE open = 1").one()["n"]),
  )
}

async function untilAnswered(id: string): Promise<void> {
  await expect.poll(() => countOpenAsks(id), { timeout: 10_000 }).toBe(0)
}

/** Returns the ids of the messages about which a client has received frames since the last hello. */
function idsSinceHello({ frames }: TestClient): string[] {
  const since = frames.slice(frames.findLastIndex(({ type }) => type === "hello") + 1)
  return since.flatMap((frame) => (frame.type === "message" ? [frame.id] : frame.type === "ops" ? [frame.message] : []))
}

/** Asserts that all tabs show history, receive no frame about a message outside it, and see seqs without gaps. */
async function expectOnlyHistory(id: string, tabs: Tabs): Promise<void> {
  await askFor(tabs.live, `next-${id}`, "/say after it")
  await tabs.second.untilEnd(`next-${id}`)
  await tabs.slow.untilEnd(`next-${id}`)
  const { messages } = await pageOf(id)
  const known = messages.map((message) => message.id)
  for (const tab of Object.values(tabs)) expect(known).toEqual(expect.arrayContaining(idsSinceHello(tab)))
  for (const tab of [tabs.live, tabs.second]) expectNoGap(tab)
  await expectSame(id, tabs.live)
  await expectSame(id, tabs.second)
  const resumed = await connect(id, undefined, { epoch: (await pageOf(id)).epoch, after: 0 })
  expect(known).toEqual(expect.arrayContaining([...resumed.messages.keys()]))
}

/** Asserts that a live client has received every seq since its last hello. */
function expectNoGap({ frames }: TestClient): void {
  const at = frames.findLastIndex(({ type }) => type === "hello")
  const hello = frames[at]
  let last = hello?.type === "hello" ? hello.seq : 0
  for (const frame of frames.slice(at + 1)) {
    if (frame.type !== "message" && frame.type !== "ops") continue
    expect(frame.seq).toBe(last + 1)
    last = frame.seq
  }
}

/** Returns the turn that the late answer begins, once it has ended. */
async function untilReply(id: string): Promise<readonly WireMessage[]> {
  const replyOf = (messages: readonly WireMessage[]): WireMessage | undefined =>
    messages.find(({ role }) => role === "agent")
  const isDone = async (): Promise<boolean> => {
    const { messages } = await pageOf(id)
    const reply = replyOf(messages)
    const turn = messages.find(({ role, exchange_id }) => role === "assistant" && exchange_id === reply?.exchange_id)
    return turn?.status === "completed"
  }
  await expect.poll(isDone, { timeout: 10_000 }).toBe(true)
  return (await pageOf(id)).messages
}

async function exportOf(id: string, query = ""): Promise<string> {
  const headers = { authorization: `Bearer ${await tokenOf("acme", "ada")}` }
  return await (await SELF.fetch(`${HOST}/v1/sessions/${id}/events${query}`, { headers })).text()
}

test("[VE8] a late answer for a version that was regenerated stays with that version, and begins its turn when the version is shown again", async () => {
  const id = await freshAsker()
  const tabs = await openTabs(id)
  const first = await askFor(tabs.live, "q1", askLater("Found it."))
  expect(toolsIn(first)).toMatchObject([{ status: "waiting" }])
  // The second version asks too, and its answer takes longer.
  await sendCommand(id, tabs, { type: "regenerate", id: "r1", message: first.id })
  await tabs.live.untilEnd("q1")
  await expect.poll(() => countOpenAsks(id), { timeout: 10_000 }).toBe(1)
  const seqs = tabs.live.frames.flatMap((frame) => ("prev" in frame ? [frame.seq] : []))
  expect(idsSinceHello(tabs.live)).not.toContain(first.id)
  expect(Math.max(...seqs)).toBe((await pageOf(id)).seq)
  const replies = await untilReply(id)
  expect(replies.filter(({ role }) => role === "agent")).toHaveLength(1)
  await expectOnlyHistory(id, tabs)
  const back = await sendCommand(id, tabs, { type: "switch", id: "s1", message: "r1", version: 1 })
  expect(toolsIn(back.messages.find((message) => message.id === first.id))).toMatchObject([{ status: "ok" }])
  const shown = await untilReply(id)
  expect(shown.map(({ role }) => role)).toEqual(["user", "assistant", "agent", "assistant"])
  await expectSame(id, tabs.live)
})

test("[VE8] a late answer for a question that was edited stays with the old version, in history and in exports", async () => {
  const id = await freshAsker()
  const tabs = await openTabs(id)
  const first = await askFor(tabs.live, "q1", askLater("Found it."))
  await sendCommand(id, tabs, { type: "edit", id: "e1", message: "q1", content: "/say edited" })
  await tabs.live.untilEnd("e1")
  await untilAnswered(id)
  expect((await pageOf(id)).messages.map(({ role }) => role)).toEqual(["user", "assistant"])
  await expectOnlyHistory(id, tabs)
  expect(await exportOf(id, "?format=markdown")).not.toContain("Found it.")
  // The file must contain every version, and the late answer with the version that asked.
  expect(await exportOf(id)).toContain("Found it.")
  await evictDurableObject(sessionOf(id))
  const back = await sendCommand(id, tabs, { type: "switch", id: "s1", message: "e1", version: 1 })
  const answered = back.messages.find((message) => message.id === first.id)
  expect(resultsIn(answered)).toMatchObject([{ agent: "researcher", answer: "Found it." }])
  const shown = await untilReply(id)
  expect(shown.map(({ role }) => role)).toEqual(["user", "assistant", "agent", "assistant"])
  expect(textIn(shown[3])).toContain("The **researcher** agent replied")
  await expectSame(id, tabs.live)
  expect(await exportOf(id, "?format=markdown")).toContain("Found it.")
})

test("[VE8] a late answer for an inactive version stays with that version; its turn begins once, however often the version is shown", async () => {
  const id = await freshAsker()
  const tabs = await openTabs(id)
  await askFor(tabs.live, "q1", "/say plain")
  await sendCommand(id, tabs, { type: "edit", id: "e1", message: "q1", content: askLater("Found it.") })
  const asked = await tabs.live.untilEnd("e1")
  await sendCommand(id, tabs, { type: "switch", id: "s1", message: "e1", version: 1 })
  await untilAnswered(id)
  const before = await pageOf(id)
  expect(before.messages.map(({ role }) => role)).toEqual(["user", "assistant"])
  await expectOnlyHistory(id, tabs)
  await sendCommand(id, tabs, { type: "switch", id: "s2", message: "q1", version: 2 })
  await untilReply(id)
  expect(toolsIn(answerTo(tabs.live, "e1"))).toMatchObject([{ status: "ok" }])
  expect(asked.id).toBe(answerTo(tabs.live, "e1")?.id)
  await sendCommand(id, tabs, { type: "switch", id: "s3", message: "e1", version: 1 })
  await sendCommand(id, tabs, { type: "switch", id: "s4", message: "q1", version: 2 })
  const shown = await untilReply(id)
  expect(shown.map(({ role }) => role)).toEqual(["user", "assistant", "agent", "assistant"])
})

test("[VE5] [EX5] the active version can't change while an external answer is open; later records of its producer change no version", async () => {
  const id = await freshAsker()
  const tabs = await openTabs(id)
  const first = await askFor(tabs.live, "q1", "/say one")
  const records = numberRecords("x1", text("working "), callStart("c1"))
  const request = await openRequest(id)
  for (const record of records) await request.send(record)
  await tabs.live.untilTrue(() => tabs.live.messages.get("x1")?.segments.length === 2)
  tabs.live.say({ type: "regenerate", id: "r0", message: first.id })
  const refused = await tabs.live.untilTrue((frame) => frame.type === "error" && frame.id === "r0")
  expect(refused).toMatchObject({ code: "turn_running" })
  await request.send({ ...END, responseId: "x1", n: 3 })
  await request.end()
  await tabs.live.untilTrue(() => tabs.live.messages.get("x1")?.status === "completed")
  await sendCommand(id, tabs, { type: "edit", id: "e1", message: "q1", content: "/say edited" })
  await tabs.live.untilEnd("e1")
  const { seq } = await pageOf(id)
  const late = await postRecords(id, [{ ...result("c1"), responseId: "x1", n: 4 }])
  expect(JSON.stringify(late.json)).toContain("turn_ended")
  expect((await pageOf(id)).seq).toBe(seq)
  await expectOnlyHistory(id, tabs)
  const back = await sendCommand(id, tabs, { type: "switch", id: "s1", message: "e1", version: 1 })
  expect(toolsIn(back.messages.find((message) => message.id === "x1"))).toMatchObject([{ status: "interrupted" }])
})

test("[VE5] a queued message belongs to the version that is active when it is sent, and that version stays active while the message is waiting", async () => {
  const id = await freshAsker()
  const tabs = await openTabs(id)
  const first = await askFor(tabs.live, "q1", "/say one")
  await beginTurn(tabs.live, "q2", script([call("probe_slow", { ms: 400 })], [say("two")]))
  tabs.live.say({ type: "send", id: "q3", content: "/say three" })
  tabs.live.say({ type: "edit", id: "e0", message: "q1", content: "/say other" })
  const refused = await tabs.live.untilTrue((frame) => frame.type === "error" && frame.id === "e0")
  expect(refused).toMatchObject({ code: "turn_running" })
  await tabs.live.untilEnd("q3")
  await sendCommand(id, tabs, { type: "edit", id: "e1", message: "q1", content: "/say edited" })
  await tabs.live.untilEnd("e1")
  await expectOnlyHistory(id, tabs)
  const back = await sendCommand(id, tabs, { type: "switch", id: "s1", message: "e1", version: 1 })
  expect(back.messages.map((message) => message.exchange_id)).toEqual(["q1", "q1", "q2", "q2", "q3", "q3"])
  expect(back.messages[1]?.id).toBe(first.id)
})
