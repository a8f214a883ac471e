/**
 * trace-id.ts: the id that follows one turn through log lines, spans and the page.
 */

import { bytesToHex } from "../platform/crypto/hex.ts"

/** Creates a new id in the form of W3C Trace Context: 32 hexadecimal digits. */
export function createTraceId(): string {
  return bytesToHex(crypto.getRandomValues(new Uint8Array(16)))
}

/**
 * Whether a sample of the given share of all traces, 0 to 1, includes this trace. The result for a trace is always the
 * same.
 */
export function isSampled(trace: string, share: number): boolean {
  return Number.parseInt(trace.slice(0, 8), 16) < share * 2 ** 32
}
