/**
 * import-records.test.ts: tests that another system's transcripts, in the format that its source code declares, become
 * the expected messages.
 */

import { readFileSync, writeFileSync } from "node:fs"
import fc from "fast-check"
import { describe, expect, test } from "vitest"
import { listCalls } from "../../shared/protocol/message.ts"
import { messageToRecords } from "../../shared/segment/message-to-records.ts"
import { segmentsOf } from "../../shared/segment/segmenter.ts"
import { readGoldens } from "../support/golden-files.ts"
import { createQuestion, foldGolden } from "../support/golden-messages.ts"
import { IMPORT_FIXTURES, readImportFixtures } from "../support/import-fixture-files.ts"
import { importLines, printMessages } from "../support/import-fixtures.ts"
import { assertProperty, IS_FULL, RUNS } from "../support/seeded.ts"
import { printTranscript, storeTranscriptArb, wholeText } from "../support/store-transcripts.ts"

const fixtures = readImportFixtures()

describe("stored transcripts", () => {
  test.each(fixtures.map((fixture) => [fixture.name, fixture] as const))("[IR1] %s", (name, { lines, expected }) => {
    const printed = printMessages(importLines(lines))
    // UPDATE=1 writes the expected messages. Review them before you commit them.
    if (process.env["UPDATE"] === "1") {
      const file = new URL(`${name}.txt`, IMPORT_FIXTURES)
      writeFileSync(
        file,
        readFileSync(file, "utf8").replace(/^---\n[\s\S]*$/m, () => `---\n${printed}`),
      )
    } else expect(printed).toBe(expected)
  })
})

const DOCUMENT = readFileSync(new URL("../../docs/import.md", import.meta.url), "utf8")

/** Returns the fields in a section of docs/import.md, as `record.field`. */
function readDocumentedFields(section: string): string[] {
  const text = DOCUMENT.split(/^## /m).find((part) => part.startsWith(`${section}\n`)) ?? ""
  const rows = text.split("\n").filter((line) => line.startsWith("| `"))
  return rows.flatMap((row) => {
    const [records = "", fields = "", use = "", reason = ""] = row
      .split("|")
      .slice(1)
      .map((cell) => cell.trim())
    expect(["used", "omitted"], row).toContain(use)
    if (use === "omitted") expect(reason, row).not.toBe("")
    return listCodes(records).flatMap((record) => listCodes(fields).map((field) => `${record}.${field}`))
  })
}

function listCodes(cell: string): string[] {
  return Array.from(cell.matchAll(/`([^`]+)`/g), (match) => match[1] ?? "")
}

/** Returns the fields of all records and their payloads. */
function listFields(record: { readonly type: string; readonly payload?: object }): string[] {
  const { type, payload } = record
  return payload === undefined
    ? Object.keys(record).map((field) => `${type}.${field}`)
    : [...Object.keys(record).map((field) => `*.${field}`), ...Object.keys(payload).map((field) => `${type}.${field}`)]
}

describe("docs/import.md", () => {
  test.each([
    ["kcosr/assistant: conversation log", "store-"],
    ["kcosr/assistant: event store", "events"],
  ])("[IR1] lists exactly the record fields of %s, and no file contains any others", (section, prefix) => {
    const documented = readDocumentedFields(section)
    expect(new Set(documented).size).toBe(documented.length)
    const files = fixtures.filter(({ name }) => name.startsWith(prefix))
    expect(files.length).toBeGreaterThan(0)
    const common = new Set(documented.flatMap((field) => (field.startsWith("*.") ? field.slice(2) : [])))
    const ofTypes = new Set(
      files.flatMap(({ keys, source }) => {
        expect(source).toContain("kcosr/assistant@")
        return [...keys].flatMap(([type, names]) =>
          names.map((name) => (common.has(name) && prefix !== "events" ? `*.${name}` : `${type}.${name}`)),
        )
      }),
    )
    expect([...ofTypes].sort()).toEqual([...documented].sort())
    const types = new Map(files.flatMap(({ keys }) => [...keys]))
    for (const { name, lines } of files) {
      for (const line of lines) {
        const unknown = listFields(JSON.parse(line)).filter((field) => {
          const [type = "", key = ""] = field.split(".")
          return !(types.get(type) ?? []).includes(key)
        })
        expect(unknown, `${name}: ${line}`).toEqual([])
      }
    }
    // Each type must occur in at least one file.
    const used = new Set(files.flatMap(({ lines }) => lines.map((line) => String(JSON.parse(line).type))))
    expect([...types.keys()].filter((type) => type !== "*" && !used.has(type))).toEqual([])
  })

  test("[IR1] lists the fields of Cuecard's own export", () => {
    const documented = new Set(readDocumentedFields("Cuecard export"))
    const records = readGoldens().flatMap((golden) =>
      [createQuestion("q1", golden.title), foldGolden(golden, "a1", "q1")].flatMap((message) =>
        messageToRecords({ pos: 2, parent: 1, tip: 3, message }, "s1"),
      ),
    )
    const fields = records.flatMap((record) => Object.keys(record).map((key) => [record.type, key] as const))
    const missing = fields.filter(([type, key]) => !documented.has(`*.${key}`) && !documented.has(`${type}.${key}`))
    expect(missing).toEqual([])
  })
})

describe("generated transcripts", () => {
  test("[IR8] no text is lost or duplicated, and each call has its arguments and its result", () => {
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
    // A short test run performs only a small share of this number, so the number is doubled there.
    assertProperty(property, IS_FULL ? RUNS : 2 * RUNS)
  })
})

/** Removes whitespace, because producers trim text and so does the segmenter. */
function toLetters(text: string): string {
  return text.replace(/\s+/g, "")
}
