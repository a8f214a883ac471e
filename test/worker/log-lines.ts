/** log-lines.ts: records the log lines of this isolate, which runs both the tests and the objects. */

import { onTestFinished, vi } from "vitest"
import { checkLine } from "../support/log-check.ts"

export type LogLine = Readonly<Record<string, unknown>> & { readonly event: string }

/**
 * Records the lines from now until the end of the test. With `session`, only that session's lines are recorded, because
 * sessions of other test files may still be running.
 */
export function recordLogLines(session?: string): LogLine[] {
  const lines: LogLine[] = []
  for (const level of ["log", "error"] as const) {
    const spy = vi.spyOn(console, level).mockImplementation((text: unknown) => {
      if (!String(text).startsWith("{")) return
      checkLine(text)
      const line: LogLine = JSON.parse(String(text))
      if (session === undefined || line["session"] === session) lines.push(line)
    })
    onTestFinished(() => spy.mockRestore())
  }
  return lines
}

export function linesOf(lines: readonly LogLine[], event: string): LogLine[] {
  return lines.filter((line) => line.event === event)
}
