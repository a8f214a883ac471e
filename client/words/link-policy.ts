/**
 * link-policy.ts: which addresses of a text may become links.
 *
 * Only what a reader can mean to open: web, mail, telephone. Never a script, a file, or an address relative to this page.
 * Pure. Source: SPEC MD5.
 */

const ALLOWED_SCHEMES: ReadonlySet<string> = new Set(["http:", "https:", "mailto:", "tel:"])

/** The address if it may be opened, whole and normal; null if it stays text. Entities are decoded before. */
export function toSafeHref(href: string): string | null {
  if (!/^[a-z][a-z0-9+.-]*:/i.test(href)) return null
  try {
    const url = new URL(href)
    return ALLOWED_SCHEMES.has(url.protocol) ? url.href : null
  } catch {
    return null
  }
}

/** The host that a reader's browser would ask; "" where there is none. */
export function parseHost(href: string): string {
  try {
    return new URL(href).host
  } catch {
    return ""
  }
}
