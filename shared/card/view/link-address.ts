/**
 * link-address.ts: the URLs that a card may link to: the same URLs that may be links in an answer. Pure. SPEC MD5, CV7.
 */

/** In UTF-16 code units. */
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
