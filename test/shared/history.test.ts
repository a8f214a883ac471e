/** history.test.ts: conversation files of other systems, in the shapes that their sources declare. */

import { describe, expect, test } from "vitest"
import { importValues, listValues, printHistory, readHistoryFixtures } from "../support/history-fixtures.ts"

const fixtures = readHistoryFixtures().map((fixture) => [fixture.title, fixture] as const)

describe("fixtures", () => {
  test.each(fixtures)("%s", (_title, { body, expected }) => {
    expect(printHistory(importValues(listValues(body)))).toEqual(expected)
  })
})
