/**
 * typed-text.ts: what somebody typed or pasted, as it can be a message.
 *
 * Control characters say nothing to a reader or a model, and each of them takes six bytes of a frame.
 */

const CONTROL_CHARS = /[\u0000-\u0008\u000b\u000c\u000e-\u001f\u007f]/g

export function stripControlChars(text: string): string {
  return text.replace(CONTROL_CHARS, "")
}
