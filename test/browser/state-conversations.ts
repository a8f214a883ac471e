/** state-conversations.ts: uses the HTTP API to create the conversations that the states in page-states.ts show. */

import type { Cuecard } from "cuecard/testing"
import { expect, vi } from "vitest"
import { addUser, callApi, tokenFor } from "./admin-pages.ts"

const TEXT = [
  "# Plan",
  "A list, with [a link](https://example.com), a note[^1] and `code`:",
  "- [x] one\n- [ ] two",
  "| city | a long heading of a column | another heading |\n|---|---|---|\n| Oslo | 1 | 2 |",
  `\`\`\`ts\nconst answer = "a line of code that is longer than a phone is wide, ${"and so on ".repeat(8)}"\n\`\`\``,
  "> A quotation.",
  "> [!WARNING]\n> Mind the gap.",
  "$$\\int_0^1 x^2 \\, dx = \\frac{1}{3}$$",
  "[^1]: A footnote.",
].join("\n\n")

const say = (text: string): string => `/say ${JSON.stringify(text)}`

/** The questions of each conversation. */
const QUESTIONS = {
  cards: ["What's the weather in London and Paris?"],
  charts: ["Draw a chart of tea 4, coffee 7, water 9."],
  texts: [say(TEXT), `/think ${"Let me see. ".repeat(20)}`],
  media: ["Paint a sunset.", "Say hello world", "Make a counter canvas"],
  agents: ["Ask the researcher about the weather in Oslo.", "Search for tea"],
  short: [say("Something about rowing."), say("And something else.")],
  approval: ["Rename this conversation to Plans."],
  failed: ["/fault model_unreachable"],
  running: [
    `/script ${JSON.stringify([[{ type: "thinking_delta", delta: "Hm." }, { type: "text_delta", delta: "One moment, " }, ...Array.from({ length: 20 }, () => ({ type: "pause", ms: 10_000 }))]])}`,
    "And then?",
  ],
} as const

export type StateConversations = Readonly<Record<keyof typeof QUESTIONS | "copyUrl", string>>

/** Creates all conversations at the same time, and gives a user a budget that is used up. */
export async function writeConversations(cuecard: Cuecard): Promise<StateConversations> {
  const entries = await Promise.all(
    Object.entries(QUESTIONS).map(
      async ([name, questions]) =>
        [name, await writeConversation(cuecard, questions, { rests: name !== "running" })] as const,
    ),
  )
  const ids = Object.fromEntries(entries) as Record<keyof typeof QUESTIONS, string>
  const shared = await call(cuecard, "POST", `/v1/sessions/${ids.cards}/shares`, {})
  const owner = await tokenFor(cuecard, "you", "owner")
  await addUser(cuecard, "limited")
  const limits = { users: { limited: { tokens_per_day: 0 } } }
  expect((await callApi(cuecard, owner, "PUT", "/v1/budgets", limits)).status).toBe(200)
  return { ...ids, copyUrl: shared.url }
}

interface WriteOptions {
  readonly agent?: string | undefined
  /** Whether each question waits until the previous answer has ended or is waiting for the user. Default: true. */
  readonly rests?: boolean
  /** Called with the new conversation before its first question. */
  readonly watch?: (id: string) => Promise<void>
}

/** Asks the questions one after another in a new conversation. */
export async function writeConversation(
  cuecard: Cuecard,
  questions: readonly string[],
  { agent, rests = true, watch }: WriteOptions = {},
): Promise<string> {
  const { id } = await call(cuecard, "POST", "/v1/sessions", agent === undefined ? {} : { agent })
  await watch?.(id)
  for (const content of questions) {
    await send(cuecard, id, content)
    if (rests) await untilRested(cuecard, id)
  }
  return id
}

async function call(cuecard: Cuecard, method: string, path: string, body?: object) {
  const { status, body: answer } = await callApi(cuecard, cuecard.token, method, path, body)
  expect(status, path).toBeLessThan(300)
  return answer
}

async function send(cuecard: Cuecard, session: string, content: string): Promise<void> {
  await call(cuecard, "POST", `/v1/sessions/${session}/messages`, { content })
}

/** Waits until no answer is running. An answer that is waiting for approval isn't running. */
async function untilRested(cuecard: Cuecard, session: string): Promise<void> {
  const check = async (): Promise<void> => {
    const { messages } = await call(cuecard, "GET", `/v1/sessions/${session}/conversation/recent`)
    expect(messages.at(-1)?.role === "assistant" ? messages.at(-1).status : "queued").toMatch(
      /^(?:completed|failed|waiting)$/,
    )
  }
  await vi.waitFor(check, { timeout: 20_000 })
}
