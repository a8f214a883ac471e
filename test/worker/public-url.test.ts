/** public-url.test.ts: tests that workerd parses URLs as Node does. */

import { expect, test } from "vitest"
import { ROWS, verdictOf } from "../support/url-table.ts"

test("[PU1] [PU2] [PU3] workerd parses every URL in the table as Node does", () => {
  expect(ROWS.map(([url]) => [url, verdictOf(url)])).toEqual(ROWS)
})
