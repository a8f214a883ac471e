/**
 * ingest-tally.ts: counts the accepted, repeated and refused records of one request.
 */

import { type Fault, faultToWire } from "../../../shared/fault.ts"
import { MAX_BAD_LINES } from "../../../shared/limits.ts"
import type { RefusedLine } from "../../platform/rpc/session-types.ts"

export class IngestTally {
  applied = 0
  /** Number of records that had already been applied. */
  repeated = 0
  /** Number of refused lines. */
  skipped = 0
  /** The first MAX_BAD_LINES refused lines. */
  readonly bad: RefusedLine[] = []

  refuse(line: number, fault: Fault): void {
    this.skipped += 1
    if (this.bad.length >= MAX_BAD_LINES) return
    const { code, text } = faultToWire(fault)
    this.bad.push({ line, code, text })
  }
}
