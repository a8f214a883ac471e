/** summary.test.ts: tests that a long session is summarised for the model, but stays complete for the user. */

import { evictDurableObject, runInDurableObject } from "cloudflare:test"
import { describe, expect, test } from "vitest"
import { MODEL_CONTEXT_TOKENS } from "../../shared/limits.ts"
import { type Message, createMessage } from "../../shared/protocol/message.ts"
import { buildContext } from "../../worker/turn/model-context.ts"
import { createPastTurns, type MessageLookup } from "../../worker/turn/past-turns.ts"
import { planSummary } from "../../worker/turn/context-summary.ts"
import {
  truncateToTokens,
  estimateTokens,
  estimateMessageTokens,
  estimatePromptTokens,
} from "../../worker/model/token-estimate.ts"
import { createSessionStore } from "../../worker/store/session-store.ts"
import { answerOf, placed, TIME } from "../support/turn.ts"
import { connect, pageOf, sessionOf } from "../support/socket.ts"
import { expectSame, freshSession } from "./session-helpers.ts"

function userMessage(words: string): Message {
  return createMessage({ id: "u", role: "user", exchange_id: "u", timestamp: TIME, words, status: "completed" })
}

function answerMessage(text: string, change: Partial<Message> = {}): Message {
  return { ...answerOf({ type: "text_delta", delta: text }), ...change }
}

/** Returns a lookup of messages whose positions start at 1. Each message is the parent of the next. */
function lookUpIn(messages: readonly Message[]): MessageLookup {
  return (pos) => {
    const message = messages[pos - 1]
    return message === undefined ? null : placed(message, { pos, parent: pos === 1 ? null : pos - 1, seq: pos })
  }
}

/** Returns the messages of turns with about 100 tokens each and numbered text. */
function turnsOf(count: number): Message[] {
  return Array.from({ length: count }, (_, i) => [
    userMessage(`q${i} ${"x".repeat(196)}`),
    answerMessage(`a${i} ${"y".repeat(196)}`),
  ]).flat()
}

describe("what is summarised", () => {
  const planMessages = (messages: readonly Message[], budget: number) =>
    planSummary(answerOf(), messages.length, createPastTurns(lookUpIn(messages), 1e6), budget)

  test("[TU9] nothing is summarised while the context fits; near the budget, all turns except the newest are", () => {
    const messages = [...turnsOf(6), userMessage("now")]
    expect(planMessages(messages, 1_000)).toBeNull()
    const due = planMessages(messages, 700)
    expect(due?.upto).toBe(10)
    expect(due?.messages).toHaveLength(10)
    expect(due?.messages[0]).toMatchObject({ content: expect.stringContaining("q0") })
    expect(due?.previous).toBeNull()
  })

  test("[TU9] the next summary begins where the last one ended, and includes it", () => {
    const messages = [...turnsOf(12), userMessage("now")]
    messages[11] = { ...(messages[11] as Message), summary: { text: "before six", upto: 8 } }
    const due = planMessages(messages, 800)
    expect(due?.previous?.text).toBe("before six")
    expect(due?.messages[0]).toMatchObject({ content: expect.stringContaining("q4") })
    expect(due?.upto).toBeGreaterThan(12)
  })

  test("[TU9] an earlier summary is never lost, however long the later turns are", () => {
    const createLong = (id: string, tokens: number): Message[] => [
      userMessage(`${id} ${"x".repeat(tokens * 4 - 8)}`),
      answerMessage("ok"),
    ]
    const messages = [
      ...turnsOf(2),
      ...createLong("q2", 100),
      ...createLong("q3", 300),
      ...createLong("q4", 300),
      ...createLong("q5", 700),
      userMessage("now"),
    ]
    messages[5] = { ...(messages[5] as Message), summary: { text: "THE OLD SUMMARY", upto: 4 } }
    const due = planMessages(messages, 1_000)
    expect(due?.previous?.text).toBe("THE OLD SUMMARY")
    expect(due?.upto).toBe(12)
    expect(estimateMessageTokens(due?.messages ?? [])).toBeLessThanOrEqual(1_000)
  })

  test("[TU9] a turn that already has a summary gets no second one", () => {
    const current = { ...answerOf(), summary: { text: "x", upto: 2 } }
    const messages = [...turnsOf(9), userMessage("now")]
    expect(planSummary(current, messages.length, createPastTurns(lookUpIn(messages), 1e6), 100)).toBeNull()
  })

  test("[TU9] the model gets the summary in place of the turns that it covers", () => {
    const messages = [...turnsOf(4), userMessage("now")]
    const current = { ...answerOf(), summary: { text: "It was about x.", upto: 6 } }
    const past = createPastTurns(lookUpIn(messages), 1e6)
    const request = { current, parent: 9, past, system: "S", tools: [], tokens: MODEL_CONTEXT_TOKENS }
    const { system, messages: sent } = buildContext(request) ?? { system: "", messages: [] }
    expect(system).toContain("It was about x.")
    expect(sent.map((message) => (message.role === "user" ? message.content.slice(0, 3) : "a"))).toEqual([
      "q3 ",
      "a",
      "now",
    ])
  })

  test("[TU9] a summary of an earlier answer on the path is used again", () => {
    const messages = [...turnsOf(4), userMessage("now")]
    messages[7] = { ...(messages[7] as Message), summary: { text: "Older.", upto: 4 } }
    const past = createPastTurns(lookUpIn(messages), 1e6)
    const request = { current: answerOf(), parent: 9, past, system: "S", tools: [], tokens: MODEL_CONTEXT_TOKENS }
    const { system, messages: sent } = buildContext(request) ?? { system: "", messages: [] }
    expect(system).toContain("Older.")
    expect(sent.filter((message) => message.role === "user")).toHaveLength(3)
  })
})

test("[TU6] tokens are estimated as one per four letters and one per ideograph", () => {
  expect(estimateTokens("four")).toBe(1)
  expect(estimateTokens("東京都")).toBe(3)
  expect(estimateTokens("")).toBe(0)
  expect(truncateToTokens("abcdefgh", 1)).toBe("abcd")
  expect(truncateToTokens("ab😀", 1)).toBe("ab")
  expect(truncateToTokens("東京", 5)).toBe("東京")
})

test("[TU6] the tokens of a prompt and its tools equal the tokens of their texts, however often they are counted", () => {
  const specOf = (name: string) => ({ name, description: "x".repeat(400), parameters: {} })
  const [one, two] = [[specOf("a")], [specOf("a"), specOf("b")]]
  const estimateExpected = (system: string, tools: readonly object[]) =>
    estimateTokens(system) + estimateTokens(JSON.stringify(tools))
  for (const system of ["", "short", "long ".repeat(50), "short"]) {
    expect(estimatePromptTokens(system, one)).toBe(estimateExpected(system, one))
    expect(estimatePromptTokens(system, two)).toBe(estimateExpected(system, two))
  }
})

test("[TU9] in a real session: the summary is stored with its answer, shown live and in history, and nothing is lost", async () => {
  const id = await freshSession("sum")
  const filler = "many words about the harbour and its ships ".repeat(650)
  await runInDurableObject(sessionOf(id), (_object, state) => {
    const store = createSessionStore(state.storage.sql)
    for (let i = 0; i < 4; i++) {
      const [pos, exchange_id] = [2 * i + 1, `u${i}`]
      const question = { ...userMessage(`Question ${i}: ${filler}`), id: exchange_id, exchange_id }
      store.insertMessage(placed(question, { pos, parent: pos === 1 ? null : pos - 1, seq: pos }))
      const answer = createMessage({
        id: `a${i}`,
        role: "assistant",
        exchange_id,
        timestamp: TIME,
        status: "completed",
      })
      store.insertMessage(placed(answer, { pos: pos + 1, parent: pos, seq: pos + 1 }))
      const chunk = { part: 0, n: 0, kind: "text", step: 1, open: false, ms: null, held: null, text: "Noted." } as const
      store.putChunk(pos + 1, pos + 1, chunk)
    }
  })
  await evictDurableObject(sessionOf(id))
  const client = await connect(id)
  client.say({ type: "send", id: "q9", content: "/say on" })
  const answer = await client.untilEnd("q9")
  expect(answer.summary).toContain("- Question 0: many words")
  expect(answer.summary).not.toContain("/say on")
  const { messages } = await pageOf(id)
  expect(messages).toHaveLength(10)
  expect(messages[0]?.content).toContain("Question 0")
  expect(messages.at(-1)).toMatchObject({ summary: answer.summary })
  // The next turn fits again, and so gets no summary.
  client.say({ type: "send", id: "q10", content: "/say more" })
  expect((await client.untilEnd("q10")).summary).toBeUndefined()
  client.messages.delete("u0")
  const known = new Map(messages.map((message) => [message.id, message]))
  for (const [key, message] of known) if (!client.messages.has(key)) client.messages.set(key, message)
  await expectSame(id, client)
})
