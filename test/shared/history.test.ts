/** history.test.ts: conversation files of other systems, in the shapes that their sources declare. */

import { readFileSync } from "node:fs"
import { describe, expect, test } from "vitest"
import { importValues, listKeys, listValues, printHistory, readHistoryFixtures } from "../support/history-fixtures.ts"

const fixtures = readHistoryFixtures()
const cases = fixtures.map((fixture) => [fixture.title, fixture] as const)
const producers = [...new Set(fixtures.map(({ producer }) => producer))]

describe("fixtures", () => {
  test.each(cases)("%s", (_title, { body, expected, source }) => {
    expect(source).not.toBe("")
    expect(printHistory(importValues(listValues(body)))).toEqual(expected)
  })

  test.each(cases)("[IH11] in two parts, cut before any line: %s", (_title, { body, expected }) => {
    const values = listValues(body)
    const stepless = (lines: readonly string[]): string[] => lines.map((line) => line.replace(/^answer \d+/, "answer"))
    for (let cutAt = 1; cutAt < values.length; cutAt++) {
      const messages = printHistory(importValues(values, cutAt)).filter((line) => !line.startsWith("kind "))
      expect([cutAt, ...stepless(messages)]).toEqual([
        cutAt,
        ...stepless(expected.filter((line) => !line.startsWith("kind "))),
      ])
    }
  })
})

describe("[IH12] docs/import.md", () => {
  const docs = readFileSync(new URL("../../docs/import.md", import.meta.url), "utf8")
  const sections = new Map(docs.split(/^## /m).map((section) => [section.split("\n", 1)[0] ?? "", section]))

  /** The first column of the tables: names of fields in code, several in a cell. */
  const listedIn = (producer: string): Set<string> => {
    const rows = (sections.get(producer) ?? "").split("\n").filter((line) => line.startsWith("| `"))
    return new Set(rows.flatMap((row) => Array.from((row.split("|")[1] ?? "").matchAll(/`([^`]+)`/g), ([, name]) => name ?? "")))
  }

  test.each(producers)("lists the fields of %s: those of its source, and those of its fixtures", (producer) => {
    const own = fixtures.filter((fixture) => fixture.producer === producer)
    const declared = new Set(own.flatMap(({ fields }) => fields))
    const used = new Set(own.flatMap(({ body }) => listValues(body).flatMap(listKeys)))
    const listed = listedIn(producer)
    expect([...used].filter((key) => !declared.has(key))).toEqual([])
    expect([...declared].filter((key) => !listed.has(key)).sort()).toEqual([])
    expect([...listed].filter((key) => !declared.has(key)).sort()).toEqual([])
  })
})
