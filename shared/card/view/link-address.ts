/**
 * link-address.ts: decides which URLs a card may link to. The same URLs are allowed in answers. Pure. SPEC MD5, CV7.
 */

/** Maximum length of a URL, in UTF-16 code units. */
export const MAX_ADDRESS_CHARS = 2_048

export function isLinkAddress(address: string): boolean {
  if (!/^(?:https?:\/\/|mailto:|tel:)/i.test(address)) return false
  try {
    new URL(address)
    return true
  } catch {
    return false
  }
}
