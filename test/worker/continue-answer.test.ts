/**
 * continue-answer.test.ts: tests how an answer that was stopped in the middle of its text is continued, in workerd with
 * real SQLite.
 */

import { evictDurableObject } from "cloudflare:test"
import { describe, expect, test } from "vitest"
import type { WireMessage } from "../../shared/protocol/server-frame.ts"
import { joinContinuation } from "../../worker/turn/continuation/join-text.ts"
import { decideNextAction } from "../../worker/turn/next-action.ts"
import { planRecovery } from "../../worker/turn/turn-recovery.ts"
import { reopenText } from "../../worker/turn/continuation/reopen-text.ts"
import { createMessage, fold, type Message } from "../../shared/protocol/message.ts"
import {
  beginTurn,
  call,
  expectSame,
  fault,
  freshSession as fresh,
  pause,
  renewPage,
  say,
  script,
  textIn,
  think,
} from "./session-helpers.ts"
import { connect, pageOf, sessionOf, type TestClient } from "../support/socket.ts"

const freshSession = (): Promise<string> => fresh("cont")

/** Asks a question, and stops the answer once it shows the text `shown`. */
async function stopAfter(client: TestClient, question: string, shown: string): Promise<WireMessage> {
  const { id } = await beginTurn(client, "q1", question)
  await client.untilTrue(() => textIn(client.messages.get(id)).endsWith(shown))
  client.say({ type: "cancel", exchange_id: "q1" })
  return await client.untilEnd("q1")
}

async function continueAnswer(id: string, client: TestClient, stopped: WireMessage, as = "c1"): Promise<WireMessage> {
  client.say({ type: "retry", id: as, message: stopped.id })
  await client.untilTrue((frame) => frame.type === "ack" && frame.id === as)
  await renewPage(id, client)
  return await client.untilEnd("q1")
}

describe("continuing", () => {
  test("[WR1] a stopped answer continues from its last text, as another version, and every client shows what history shows", async () => {
    const id = await freshSession()
    const client = await connect(id)
    const steps = [
      [think("Hm."), say("One two thr"), pause(5_000)],
      [say(" three"), say(" four.")],
    ]
    const stopped = await stopAfter(client, script(...steps), "thr")
    const second = await connect(id)
    const whole = await continueAnswer(id, client, stopped)
    expect(whole).toMatchObject({ id: "c1", version: 2, versions: 2, status: "completed" })
    expect(whole.segments.map(({ type }) => type)).toEqual(["thinking", "text"])
    expect(textIn(whole)).toBe("|One two three four.")
    expect((await pageOf(id)).messages.at(-1)?.content).toBe("One two three four.")
    await renewPage(id, second)
    await expectSame(id, client)
    await evictDurableObject(sessionOf(id))
    await expectSame(id, client)
    await expectSame(id, second)
    client.say({ type: "switch", id: "s1", message: "c1", version: 1 })
    await client.untilTrue((frame) => frame.type === "ack" && frame.id === "s1")
    expect(textIn((await pageOf(id)).messages.at(-1))).toBe("|One two thr")
  })

  test("[WR1] an answer whose stream broke off can be continued too, and its completed calls aren't repeated", async () => {
    const id = await freshSession()
    const client = await connect(id)
    const steps = [[call("weather", { location: "Oslo" })], [say("In Oslo, "), fault("model_cut_off")], [say("mild.")]]
    const { id: first } = await beginTurn(client, "q1", script(...steps))
    const cut = await client.untilEnd("q1")
    expect([cut.id, cut.status]).toEqual([first, "failed"])
    const whole = await continueAnswer(id, client, cut)
    expect([textIn(whole), whole.status]).toEqual(["|In Oslo, mild.", "completed"])
    await expectSame(id, client)
  })

  test("[WR1] the scripted model writes the remainder of its answer and repeats nothing", async () => {
    const id = await freshSession()
    const client = await connect(id)
    const words = Array.from({ length: 400 }, (_, n) => `word${n}`).join(" ")
    const stopped = await stopAfter(client, `/say ${words}`, "")
    const whole = await continueAnswer(id, client, stopped)
    expect(textIn(whole)).toBe(words)
  })

  test("[WR3] a code block, an escaped tag and an open card continue as they were", async () => {
    const id = await freshSession()
    const client = await connect(id)
    const code = [[say("```html\n<b>o"), pause(5_000)], [say("ne</b>\n<i>\n```\nEnd <script>x</script>.")]]
    const stopped = await stopAfter(client, script(...code), "<b>o")
    expect(textIn(await continueAnswer(id, client, stopped))).toBe("```html\n<b>one</b>\n<i>\n```\nEnd .")
    await expectSame(id, client)
    const other = await freshSession()
    const otherClient = await connect(other)
    const card = [
      [call("weather", { location: "Oslo" })],
      [say("Now: <span id='weather_1'>Cool and "), pause(5_000)],
      [say("sunny.</span> Enjoy.")],
    ]
    const { id: answerId } = await beginTurn(otherClient, "q1", script(...card))
    await otherClient.untilTrue(
      () =>
        otherClient.messages.get(answerId)?.segments.some((one) => one.type === "rich" && one.synthesis !== "") ===
        true,
    )
    otherClient.say({ type: "cancel", exchange_id: "q1" })
    const whole = await continueAnswer(other, otherClient, await otherClient.untilEnd("q1"))
    expect(whole.segments.slice(1)).toMatchObject([
      { type: "text", content: "Now:" },
      { type: "rich", tag: "weather_1", synthesis: "Cool and sunny." },
      { type: "text", content: "Enjoy." },
    ])
    await expectSame(other, otherClient)
  })
})

describe("joining the continuation", () => {
  test.each([
    ["One two ", "three", "three"],
    ["One two ", " three", "three"],
    ["One,", "two", " two"],
    ["One,", " two", " two"],
    ["Eins", "zwei", "zwei"],
    ["今天，", "天气", "天气"],
    ["```\n  a\n", "  b", "  b"],
  ])("[WR2] after %j, the continuation %j is added as %j", (shown, added, joined) => {
    expect(joinContinuation(shown, added)).toBe(joined)
  })

  const ended = (status: Message["status"], text: string, more: Partial<Message> = {}): Message => ({
    ...createMessage({ id: "a", role: "assistant", exchange_id: "q", timestamp: "2026-01-01T00:00:00.000Z" }),
    status,
    parts: [{ type: "text", step: 1, text, open: false, cut: true }],
    step: 1,
    ...more,
  })
  const textOf = (message: Message) => {
    const last = reopenText(message)?.parts.at(-1)
    return last?.type === "text" ? last.text : null
  }

  test.each([
    ["The quick bro", "The quick "],
    ["Done", "Done"],
    ["It ends.", "It ends."],
    ["今天天气", "今天天气"],
    ["<span id='weather_1'>Cool", "<span id='weather_1'>Cool"],
    ["```\nlet abc", "```\nlet abc"],
  ])("[WR2] the text %j continues from %j", (text, from) => {
    expect(textOf(ended("cancelled", text))).toBe(from)
  })

  test("[WR1] a restart while an answer is being continued interrupts the answer, which can be continued again", () => {
    const reopened = reopenText(ended("cancelled", "One two thr"))
    const running: Message = { ...ended("cancelled", ""), status: "running", parts: reopened?.parts ?? [] }
    const interrupted = planRecovery(running, () => false).reduce(fold, running)
    expect(interrupted).toMatchObject({ status: "interrupted", parts: [{ text: "One two ", open: false }] })
    expect(textOf(interrupted)).toBe("One two ")
    expect(decideNextAction(running, { isInFlight: () => false, needsApproval: () => false })).toEqual({ do: "step" })
  })

  test("[WR1] a complete answer, one that failed for another reason, and one that doesn't end in text can't be continued", () => {
    expect(textOf(ended("completed", "Done"))).toBe(null)
    expect(textOf(ended("failed", "Done", { reason: "model_malformed" }))).toBe(null)
    expect(textOf(ended("cancelled", "  "))).toBe(null)
    expect(textOf(ended("failed", "Do so", { reason: "model_cut_off" }))).toBe("Do ")
  })
})
