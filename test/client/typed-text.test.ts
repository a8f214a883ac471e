/** typed-text.test.ts: control characters in pasted text. */

import { expect, test } from "vitest"
import { stripControlChars } from "../../client/composer/typed-text.ts"
import { MAX_CLIENT_FRAME_BYTES, MAX_MESSAGE_BYTES } from "../../shared/limits.ts"

test("[SO6] control characters are removed before sending, so that a full message fits its frame", () => {
  expect(stripControlChars("a\u0001b\tc\nd\r\n\u007f")).toBe("ab\tc\nd\r\n")
  const worst = stripControlChars('\u0001"'.repeat(MAX_MESSAGE_BYTES))
  const frame = JSON.stringify({ type: "send", id: "x".repeat(64), content: worst.slice(0, MAX_MESSAGE_BYTES) })
  expect(frame.length).toBeLessThan(MAX_CLIENT_FRAME_BYTES)
})
