/**
 * check-log-lines.ts: a setup file of the worker project. It makes a test fail if a log line of this isolate contains
 * content (SPEC OB6).
 *
 * It runs once per test file, and several test files share an isolate.
 */

import { afterEach, beforeAll, expect, vi } from "vitest"
import { checkLine, forgetContent, takeLeaks } from "../support/log-check.ts"

/** Marks a function that already checks lines, so that it isn't wrapped again. */
const CHECKED = Symbol.for("cuecard.checked")

for (const level of ["log", "error"] as const) {
  const write = console[level]
  if (CHECKED in write) continue
  const checkAndWrite = (...values: unknown[]): void => {
    const text = String(values[0])
    if (text.startsWith('{"event":')) checkLine(text)
    // Don't print spans and data points. There are many of them, and a failed test prints all lines.
    if (!/^\{"event":"(?:span|point)"/.test(text)) write.apply(console, values)
  }
  console[level] = Object.assign(checkAndWrite, { [CHECKED]: true })
}

// An earlier test file may have changed the isolate's clock and left recorded content behind.
beforeAll(() => {
  forgetContent()
  vi.useRealTimers()
})

afterEach(() => {
  expect(takeLeaks(), "content in log lines").toEqual([])
})
