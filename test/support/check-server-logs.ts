/** check-server-logs.ts: set-up of the projects that start servers: a test fails if a server has logged content (SPEC OB6). */

import { afterEach, beforeAll, expect } from "vitest"
import { forgetContent, takeLeaks } from "./log-check.ts"

// Several files run in one process. The texts of an earlier file don't concern the servers of this one.
beforeAll(forgetContent)

afterEach(() => {
  expect(takeLeaks(), "content in log lines").toEqual([])
})
