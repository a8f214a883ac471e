import { expect, test } from "vitest"
import { ROWS, verdictOf } from "../support/url-table.ts"

test("[PU1] [PU2] [PU3] workerd parses every address of the table as Node does", () => {
  expect(ROWS.map(([url]) => [url, verdictOf(url)])).toEqual(ROWS)
})
