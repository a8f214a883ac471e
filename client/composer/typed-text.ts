/**
 * typed-text.ts: removes control characters from typed or pasted text.
 *
 * Control characters mean nothing to users and models, and each takes six bytes in a frame.
 */

const CONTROL_CHARS = /[\u0000-\u0008\u000b\u000c\u000e-\u001f\u007f]/g

export function stripControlChars(text: string): string {
  return text.replace(CONTROL_CHARS, "")
}
