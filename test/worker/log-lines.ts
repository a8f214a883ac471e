/** log-lines.ts: the log lines of this isolate, which runs the tests and the objects. */

import { onTestFinished, vi } from "vitest"

export type LogLine = Readonly<Record<string, unknown>> & { readonly event: string }

/** Records all lines from now to the end of the test. */
export function recordLogLines(): LogLine[] {
  const lines: LogLine[] = []
  for (const level of ["log", "error"] as const) {
    const spy = vi.spyOn(console, level).mockImplementation((text: unknown) => {
      if (String(text).startsWith("{")) lines.push(JSON.parse(String(text)))
    })
    onTestFinished(() => spy.mockRestore())
  }
  return lines
}

export function linesOf(lines: readonly LogLine[], event: string): LogLine[] {
  return lines.filter((line) => line.event === event)
}
