/** import-records.test.ts: transcripts of another system, in the shape that its sources define, become the stored messages. */

import { readFileSync, writeFileSync } from "node:fs"
import fc from "fast-check"
import { describe, expect, test } from "vitest"
import { listCalls } from "../../shared/protocol/message.ts"
import { segmentsOf } from "../../shared/segment/segmenter.ts"
import { IMPORT_FIXTURES, readImportFixtures } from "../support/import-fixture-files.ts"
import { importLines, printMessages } from "../support/import-fixtures.ts"
import { assertProperty, IS_FULL, RUNS } from "../support/seeded.ts"
import { printTranscript, storeTranscriptArb, wholeText } from "../support/store-transcripts.ts"

const fixtures = readImportFixtures()

describe("stored transcripts", () => {
  test.each(fixtures.map((fixture) => [fixture.name, fixture] as const))("[IR1] %s", (name, { lines, expected }) => {
    const printed = printMessages(importLines(lines))
    // UPDATE=1 writes the expected messages. Read them before you commit them.
    if (process.env["UPDATE"] === "1") {
      const file = new URL(`${name}.txt`, IMPORT_FIXTURES)
      writeFileSync(
        file,
        readFileSync(file, "utf8").replace(/^---\n[\s\S]*$/m, () => `---\n${printed}`),
      )
    } else expect(printed).toBe(expected)
  })
})

describe("generated transcripts", () => {
  test("[IR8] no text is lost or doubled, and each call has its arguments and its result", () => {
    const property = fc.property(storeTranscriptArb, (transcript) => {
      const messages = importLines(printTranscript(transcript))
      const questions = messages.filter(({ role }) => role !== "assistant")
      expect(questions.map(({ words, mode, role }) => (mode === "spoken" ? "spoken" : `${role} ${words}`))).toEqual(
        transcript.turns.map(({ question }, n) => {
          if (question === "spoken") return "spoken"
          return `${question === "agent" ? "agent" : "user"} Question ${n}`
        }),
      )
      for (const [n, turn] of transcript.turns.entries()) {
        const question = questions[n]
        const answers = messages.filter(
          ({ role, exchange_id }) => role === "assistant" && exchange_id === question?.exchange_id,
        )
        expect(answers).toHaveLength(1)
        const segments = answers.flatMap((answer) => segmentsOf(answer))
        const textOf = (type: "text" | "thinking"): string =>
          segments.map((segment) => (segment.type === type ? segment.content : "")).join("")
        expect(toLetters(textOf("text"))).toBe(toLetters(wholeText(turn)))
        expect(toLetters(textOf("thinking"))).toBe(toLetters(turn.thinking))
        const calls = turn.pieces.filter((piece) => piece.type === "call")
        expect(answers.flatMap(listCalls)).toMatchObject(
          calls.map(({ args, result }) => ({
            name: "tool_a",
            args: JSON.stringify(args),
            status: "ok",
            result: (typeof result === "string" ? result : JSON.stringify(result)).toWellFormed(),
          })),
        )
      }
    })
    // A fifth of them in each run.
    assertProperty(property, IS_FULL ? RUNS : 2 * RUNS)
  })
})

/** Producers trim texts, and so does the segmenter. */
function toLetters(text: string): string {
  return text.replace(/\s+/g, "")
}
