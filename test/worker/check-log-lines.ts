/**
 * check-log-lines.ts: set-up of the worker project: a test fails if a line of this isolate has content (SPEC OB6).
 *
 * It runs once for each file, and several files share an isolate.
 */

import { afterEach, beforeAll, expect, vi } from "vitest"
import { checkLine, forgetContent, takeLeaks } from "../support/log-check.ts"

/** Marks a function that checks, so that it isn't replaced again. */
const CHECKED = Symbol.for("cuecard.checked")

for (const level of ["log", "error"] as const) {
  const write = console[level]
  if (CHECKED in write) continue
  const checkAndWrite = (...values: unknown[]): void => {
    const text = String(values[0])
    if (text.startsWith('{"event":')) checkLine(text)
    // There are many, and a failed test prints all lines.
    if (!/^\{"event":"(?:span|point)"/.test(text)) write.apply(console, values)
  }
  console[level] = Object.assign(checkAndWrite, { [CHECKED]: true })
}

// An earlier file may have left the clock of the isolate changed, and its texts.
beforeAll(() => {
  forgetContent()
  vi.useRealTimers()
})

afterEach(() => {
  expect(takeLeaks(), "content in log lines").toEqual([])
})
