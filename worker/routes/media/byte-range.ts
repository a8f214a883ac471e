/**
 * byte-range.ts: parses Range headers and formats Content-Range headers (SPEC MS4, RM4). Pure.
 */

import { fail, type Result, succeed } from "../../../shared/fault.ts"
import { faultToResponse } from "../../platform/fault-response.ts"

export interface ByteRange {
  readonly offset: number
  readonly length: number
}

/**
 * Parses a header with one byte range. Null if the header has several ranges or another unit, in which case the whole
 * file is served (RFC 9110 §14.2).
 *
 * Errors: `range_invalid` if the range begins after the end of the file.
 */
export function parseRange(header: string, size: number): Result<ByteRange | null> {
  const [, from = "", to = ""] = /^bytes=(\d{0,15})-(\d{0,15})$/.exec(header.trim()) ?? []
  if (from === "" && to === "") return succeed(null)
  const offset = from === "" ? Math.max(0, size - Number(to)) : Number(from)
  const end = from === "" || to === "" ? size - 1 : Math.min(Number(to), size - 1)
  if (from !== "" && to !== "" && Number(to) < Number(from)) return succeed(null)
  if (offset > end) return fail({ reason: "range_invalid" })
  return succeed({ offset, length: end - offset + 1 })
}

export function formatContentRange({ offset, length }: ByteRange, size: number): string {
  return `bytes ${offset}-${offset + length - 1}/${size}`
}

/** Returns the response for `range_invalid`. */
export function refuseRange(size: number): Response {
  const refused = faultToResponse({ reason: "range_invalid" })
  refused.headers.set("content-range", `bytes */${size}`)
  return refused
}
