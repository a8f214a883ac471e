/**
 * spans.ts: the spans of a turn, with the names and attributes of OpenTelemetry's GenAI conventions.
 *
 * turn → SPANS → sink (the platform's tracing, or log lines)
 * A sink never affects the work: the work runs exactly once, the caller gets its result, and nothing waits for a sink.
 * A sink that throws is ignored from then on (SPEC OB4). Without spans, nothing is computed for them.
 */

import { describeError } from "../platform/log.ts"

export type SpanAttributes = { readonly [name: string]: string | number | boolean | undefined }

/** A span in its sink. Any method may throw. */
export interface SinkSpan {
  setAttributes(attributes: SpanAttributes): void
  /** `reason` is a code, or the description of an error without its message. */
  setError(reason: string): void
  end(): void
}

export interface SpanSink {
  /** Calls `work` synchronously, with a new span. The caller ends the span. */
  open(name: string, parent: SinkSpan | null, work: (span: SinkSpan) => void): void
}

/** The names of spans. They contain only names of known tools, never text that a model wrote. */
export type SpanName = "invoke_agent" | "chat" | "execute_tool"

/** The work of a span. It receives the span in which it runs. */
export type SpanWork<T> = (span: TraceSpan) => Promise<T>

export interface TraceSpan {
  /** Sets attributes. `describe` is not called if nothing is recorded. */
  set(describe: () => SpanAttributes): void
  fail(reason: string): void
  /** Runs `work` in a span below this one, which ends when the work has settled. */
  run<T>(name: SpanName, describe: () => SpanAttributes, work: SpanWork<T>): Promise<T>
}

/** Used where no spans are recorded. */
export const NO_SPAN: TraceSpan = {
  set() {},
  fail() {},
  run: (_name, _describe, work) => work(NO_SPAN),
}

/** Creates the root of a trace. It is not a span itself. */
export function createTrace(sink: SpanSink): TraceSpan {
  return { ...NO_SPAN, run: (name, describe, work) => runInSpan(sink, null, name, describe, work) }
}

function runInSpan<T>(
  sink: SpanSink,
  parent: SinkSpan | null,
  name: SpanName,
  describe: () => SpanAttributes,
  work: SpanWork<T>,
): Promise<T> {
  let running: Promise<T> | undefined
  ignoreErrors(() =>
    sink.open(name, parent, (sinkSpan) => {
      const span = wrapSpan(sink, sinkSpan)
      span.set(describe)
      running ??= work(span)
      const endSpan = (): void => ignoreErrors(() => sinkSpan.end())
      running.then(endSpan, (error: unknown) => {
        span.fail(describeError(error))
        endSpan()
      })
    }),
  )
  return running ?? work(NO_SPAN)
}

function wrapSpan(sink: SpanSink, sinkSpan: SinkSpan): TraceSpan {
  return {
    set: (describe) => ignoreErrors(() => sinkSpan.setAttributes(describe())),
    fail: (reason) => ignoreErrors(() => sinkSpan.setError(reason)),
    run: (name, describe, work) => runInSpan(sink, sinkSpan, name, describe, work),
  }
}

/** Ignores errors of a sink, because reporting on a turn must not affect it. */
function ignoreErrors(report: () => void): void {
  try {
    report()
  } catch {}
}
