/**
 * value-to-json.ts: prints values from a history as JSON, without fields that only the provider can read. Pure.
 */

import { cutText } from "../../text/cut-text.ts"

/** Fields that contain encrypted or binary data. They are unreadable and may be megabytes long. */
const OPAQUE_FIELDS: ReadonlySet<string> = new Set([
  "encrypted_content",
  "encrypted_index",
  "encrypted_stdout",
  "signature",
  "thinkingSignature",
  "textSignature",
  "thoughtSignature",
  "cache_control",
])

/** Returns a value as JSON without any changes. A value that can't be printed becomes `{}`. */
export function valueToJson(value: unknown): string {
  try {
    return JSON.stringify(value) ?? "{}"
  } catch {
    // The value is nested too deeply to be printed.
    return "{}"
  }
}

/** Returns a value as JSON for readers: without opaque fields, cut to `maxChars`. */
export function valueToReadableJson(value: unknown, maxChars: number): string {
  try {
    const text = JSON.stringify(value, (key, inner: unknown) => (OPAQUE_FIELDS.has(key) ? undefined : inner)) ?? ""
    return text.length > maxChars ? `${cutText(text, maxChars)}…` : text
  } catch {
    return "…"
  }
}
