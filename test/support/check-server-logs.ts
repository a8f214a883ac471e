/**
 * check-server-logs.ts: the setup file for projects that start servers. It makes a test fail if a server has logged
 * content (SPEC OB6).
 */

import { afterEach, beforeAll, expect } from "vitest"
import { forgetContent, takeLeaks } from "./log-check.ts"

// Several test files run in one process. Text that an earlier file recorded is irrelevant to this file's servers.
beforeAll(forgetContent)

afterEach(() => {
  expect(takeLeaks(), "content in log lines").toEqual([])
})
