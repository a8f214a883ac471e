/** long-paste.ts: decides whether pasted text becomes a file. Pure. Source: SPEC WR30. */

/** Longer text would hide the rest of the message. The limits are in UTF-16 code units and in lines. */
const MAX_PASTED_CHARS = 4_000
const MAX_PASTED_LINES = 60

export function isLongPaste(text: string): boolean {
  if (text.length > MAX_PASTED_CHARS) return true
  let lines = 1
  for (let at = text.indexOf("\n"); at >= 0 && lines <= MAX_PASTED_LINES; at = text.indexOf("\n", at + 1)) lines += 1
  return lines > MAX_PASTED_LINES
}

/** Returns the pasted text as a file. A number in the name distinguishes several pastes. */
export function createPastedFile(text: string, name: string, number: number): File {
  const suffix = number === 1 ? "" : ` ${number}`
  return new File([text], `${name}${suffix}.txt`, { type: "text/plain" })
}
