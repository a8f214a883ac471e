/**
 * export-markdown.test.ts: tests that a message as Markdown shows everything in order, in blocks that its text cannot
 * escape.
 */

import fc from "fast-check"
import { Marked } from "marked"
import { describe, expect, test } from "vitest"
import type { TurnEvent } from "../../shared/protocol/event.ts"
import { createIntake } from "../../shared/ingest/intake.ts"
import { messageToMarkdown } from "../../shared/segment/export-markdown.ts"
import { fold, type Message, createMessage } from "../../shared/protocol/message.ts"
import { readGoldens } from "../support/golden-files.ts"
import { assertProperty } from "../support/seeded.ts"

const HEAD = { id: "m1", exchange_id: "q1", timestamp: "2026-01-02T03:04:05.000Z" } as const

function answerOf(...events: TurnEvent[]): Message {
  const intake = createIntake()
  const empty = createMessage({ ...HEAD, role: "assistant" })
  return events.flatMap((event) => intake.cleanEvent(event)).reduce(fold, empty)
}

function createQuestion(words: string): Message {
  return createMessage({ ...HEAD, role: "user", words, status: "completed" })
}

const END: TurnEvent = { type: "end", status: "completed", reason: null, metrics: null }
const createDelta = (delta: string): TurnEvent => ({ type: "text_delta", delta })

/** Returns the headings that a Markdown parser finds. */
function headingsIn(markdown: string): string[] {
  const tokens = new Marked().lexer(markdown)
  return tokens.flatMap((token) => (token.type === "heading" && token["depth"] === 2 ? [String(token["text"])] : []))
}

const OURS = /^(?:User|Assistant) · 2026-01-02T03:04:05\.000Z$/

describe("a message as Markdown", () => {
  test("[RE22] an answer: thinking, prose, a tool, a card and the text after it, in order", () => {
    const message = answerOf(
      { type: "step_start" },
      { type: "thinking_delta", delta: "First\nthe weather." },
      { type: "thinking_done", ms: 1_234 },
      createDelta("I will **look**."),
      { type: "tool_call", call_id: "c1", name: "weather", args: '{"city":"Paris"}' },
      { type: "tool_call_start", call_id: "c1", channel: "user", ordinal: 1 },
      {
        type: "tool_result",
        call_id: "c1",
        status: "ok",
        card: "weather_1",
        error: null,
        result: "{\"temp_c\":12}\n\nYou MUST wrap it in <span id='weather_1'>",
      },
      { type: "step_start" },
      createDelta("So: <span id='weather_1'>cool, 12 °C</span> Bye."),
      END,
    )
    expect(messageToMarkdown(message)).toBe(`## Assistant · 2026-01-02T03:04:05.000Z

<details><summary>Thinking (1.2 s)</summary>

> First
> the weather.

</details>

I will **look**.

Tool \`weather\`: ok

\`\`\`json
{"city":"Paris"}
\`\`\`

Result:

\`\`\`json
{"temp_c":12}
\`\`\`

So:

cool, 12 °C

Card \`weather_1\`

\`\`\`json
{
  "temp_c": 12
}
\`\`\`

Bye.
`)
  })

  test("[RE22] a user's text is verbatim, in a block that the text can't close", () => {
    const words = "# No heading\n```\ncode\n````\n## User · never\n<script>"
    expect(messageToMarkdown(createQuestion(words))).toBe(
      `## User · 2026-01-02T03:04:05.000Z\n\n\`\`\`\`\`text\n${words}\n\`\`\`\`\`\n`,
    )
  })

  test("[RE22] messages from agents, failures, cut-off answers and unverified imports are labelled", () => {
    const agent = { direction: "received", name: "Scout\n# x", exchange: "e" } as const
    expect(
      messageToMarkdown(createMessage({ ...HEAD, role: "agent", words: "found", agent, status: "completed" })),
    ).toBe("## Received from Scout # x · 2026-01-02T03:04:05.000Z\n\n```text\nfound\n```\n")
    const message = answerOf(
      { type: "tool_call", call_id: "c", name: "read`x", args: "{}" },
      {
        type: "tool_result",
        call_id: "c",
        status: "failed",
        result: "line\n".repeat(3_000),
        card: null,
        error: { code: "tool_failed", message: "No\n```" },
      },
      { type: "end", status: "failed", reason: "model_cut_off", metrics: null },
    )
    const markdown = messageToMarkdown({ ...message, origin: "import" })
    expect(markdown).toContain("_Imported from a file. Its contents are not verified._")
    expect(markdown).toContain("Tool ``` read`x ```: failed")
    expect(markdown).toContain("Result (cut: 3001 lines, 15000 bytes in all):")
    expect(markdown).toContain("Error `tool_failed`:\n\n````text\nNo\n```\n````")
    expect(markdown).toContain("_This answer is failed: The response was cut off._")
  })

  test.each([
    ["a fence", "```js\nlet a"],
    ["a longer fence", "`````\n```\nx"],
    ["a fence of tildes", "~~~~\n```\nx"],
    ["a fence in a list", "- a\n  ```\n  x"],
    ["a fence in a quote", "> ```\n> x"],
    ["a <pre>", "<pre>\nx"],
  ])("[RE22] %s that an answer leaves open ends with the answer", (_name, open) => {
    const markdown = `${messageToMarkdown(answerOf(createDelta(open), END))}\n${messageToMarkdown(createQuestion("next"))}`
    expect(headingsIn(markdown).filter((heading) => OURS.test(heading))).toHaveLength(2)
  })

  test("[RE22] whatever the text, every message keeps its heading", () => {
    const crumb = fc.constantFrom(
      "```",
      "````",
      "~~~",
      "\n",
      "> ",
      "- ",
      "  ",
      "<pre>",
      "</pre>",
      "`",
      "a",
      "# b",
      "<b>",
    )
    const crumbText = fc.array(crumb, { maxLength: 14 }).map((crumbs) => crumbs.join(""))
    assertProperty(
      fc.property(crumbText, crumbText, crumbText, (words, thought, prose) => {
        const answer = answerOf(
          { type: "thinking_delta", delta: thought },
          { type: "thinking_done" },
          createDelta(prose),
          END,
        )
        const markdown = [createQuestion(words), answer, createQuestion("next")]
          .map((one) => messageToMarkdown(one))
          .join("\n")
        expect(headingsIn(markdown).filter((heading) => OURS.test(heading))).toHaveLength(3)
      }),
      2_000,
    )
  })

  test.each(readGoldens().map((golden) => [golden.name, golden] as const))(
    "[RE22] %s is exported without spans and trailers",
    (_name, golden) => {
      const markdown = messageToMarkdown(answerOf(...golden.events))
      expect(markdown).not.toMatch(/MUST wrap/)
      expect(markdown.startsWith("## Assistant · ")).toBe(true)
    },
  )
})
