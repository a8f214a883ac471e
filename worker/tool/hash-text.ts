/** hash-text.ts: a fast hash for choices that must be the same for the same text. Not for security. Pure. */

/** FNV-1a over UTF-16 code units, as an unsigned 32-bit integer. */
export function hashText(text: string): number {
  let hash = 0x811c9dc5
  for (let i = 0; i < text.length; i++) hash = Math.imul(hash ^ text.charCodeAt(i), 0x01000193)
  return hash >>> 0
}
