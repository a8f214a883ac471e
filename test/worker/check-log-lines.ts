/** check-log-lines.ts: set-up of the worker project: a test fails if a line of this isolate has content (SPEC OB6). */

import { afterEach, expect } from "vitest"
import { checkLine, takeLeaks } from "../support/log-check.ts"

for (const level of ["log", "error"] as const) {
  const write = console[level]
  console[level] = (...values: unknown[]) => {
    const text = String(values[0])
    if (text.startsWith('{"event":')) checkLine(text)
    // There are many, and a failed test prints all lines.
    if (!/^\{"event":"(?:span|point)"/.test(text)) write.apply(console, values)
  }
}

afterEach(() => {
  expect(takeLeaks(), "content in log lines").toEqual([])
})
