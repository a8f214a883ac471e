/** check-server-logs.ts: set-up of the projects that start servers: a test fails if a server has logged content (SPEC OB6). */

import { afterEach, expect } from "vitest"
import { takeLeaks } from "./log-check.ts"

afterEach(() => {
  expect(takeLeaks(), "content in log lines").toEqual([])
})
