/**
 * span-sinks.ts: writes spans to the platform's tracing or into log lines.
 *
 * The platform records custom spans only together with its automatic ones. The automatic spans of SQL statements
 * include parameter values, which are content. Log lines need no tracing (docs/decisions/0043-telemetry.md).
 */

import { bytesToHex } from "../platform/crypto/hex.ts"
import type { Log } from "../platform/log.ts"
import type { SinkSpan, SpanAttributes, SpanSink } from "./spans.ts"

/** The part of `tracing` from `cloudflare:workers` that is used here. */
export interface PlatformTracing {
  startActiveSpan(name: string, work: (span: PlatformSpan) => void): void
}

interface PlatformSpan {
  setAttributes(attributes: Record<string, string | number | boolean | undefined>): unknown
  setStatus(status: { readonly code: "error"; readonly message: string }): unknown
  end(): void
}

/** Writes to the platform's tracing, which nests spans by the asynchronous context in which they begin. */
export function createPlatformSink(tracing: PlatformTracing): SpanSink {
  return {
    open(name, _parent, work) {
      tracing.startActiveSpan(name, (span) =>
        work({
          setAttributes: (attributes) => void span.setAttributes({ ...attributes }),
          setError: (reason) => void span.setStatus({ code: "error", message: reason }),
          end: () => span.end(),
        }),
      )
    },
  }
}

interface LoggedSpan extends SinkSpan {
  readonly id: string
}

/** Writes one line when a span ends, with the ids of its trace, the span and its parent. */
export function createLogSink(log: Log, trace: string, now: () => number): SpanSink {
  return {
    open(name, parent, work) {
      const id = bytesToHex(crypto.getRandomValues(new Uint8Array(8)))
      const startMs = now()
      let fields: SpanAttributes = {}
      let error: string | null = null
      const span: LoggedSpan = {
        id,
        setAttributes(attributes) {
          fields = { ...fields, ...attributes }
        },
        setError(reason) {
          error = reason
        },
        end() {
          const parentId = parent === null ? null : (parent as LoggedSpan).id
          const times = { start: startMs, ms: now() - startMs }
          log("span", { trace, span: id, parent: parentId, name, ...times, error, ...fields })
        },
      }
      work(span)
    },
  }
}
