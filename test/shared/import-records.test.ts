/** import-records.test.ts: transcripts of another system, in the shape that its sources define, become the stored messages. */

import { readFileSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { describe, expect, test } from "vitest"
import { importLines, printMessages, readImportFixtures } from "../support/import-fixtures.ts"

const fixtures = readImportFixtures()

describe("stored transcripts", () => {
  test.each(fixtures.map((fixture) => [fixture.name, fixture] as const))("[IR1] %s", (name, { lines, expected }) => {
    const printed = printMessages(importLines(lines))
    // UPDATE=1 writes the expected messages. Read them before you commit them.
    if (process.env["UPDATE"] === "1") {
      const file = join(import.meta.dirname, "import", `${name}.txt`)
      writeFileSync(
        file,
        readFileSync(file, "utf8").replace(/^---\n[\s\S]*$/m, () => `---\n${printed}`),
      )
    } else expect(printed).toBe(expected)
  })
})
