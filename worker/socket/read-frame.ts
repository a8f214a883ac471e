/**
 * read-frame.ts: parses one frame from a client.
 */

import { type Fault, fail, type Result } from "../../shared/fault.ts"
import { MAX_CLIENT_FRAME_BYTES } from "../../shared/limits.ts"
import { countUtf8Bytes } from "../../shared/truncate.ts"
import { type ClientFrame, parseClientFrame } from "../../shared/protocol/client-frame.ts"

/**
 * Parses a frame. Errors: `frame_malformed` (also for a binary frame), `frame_too_large`, and those of
 * `parseClientFrame`.
 */
export function readFrame(data: string | ArrayBuffer): Result<ClientFrame, Fault> {
  if (typeof data !== "string") return fail({ reason: "frame_malformed" })
  const mayBeTooLarge = data.length > MAX_CLIENT_FRAME_BYTES / 4
  if (mayBeTooLarge && countUtf8Bytes(data) > MAX_CLIENT_FRAME_BYTES) {
    return fail({ reason: "frame_too_large", max: MAX_CLIENT_FRAME_BYTES })
  }
  return parseClientFrame(data)
}
