/**
 * link-policy.ts: selects the URLs in text that may become links: web, mail and telephone URLs.
 *
 * Script, file and relative URLs remain plain text. Pure. Source: SPEC MD5.
 */

const ALLOWED_SCHEMES: ReadonlySet<string> = new Set(["http:", "https:", "mailto:", "tel:"])

/** Returns the normalised URL, or null if the URL must remain plain text. HTML entities must already be decoded. */
export function toSafeHref(href: string): string | null {
  if (!/^[a-z][a-z0-9+.-]*:/i.test(href)) return null
  try {
    const url = new URL(href)
    return ALLOWED_SCHEMES.has(url.protocol) ? url.href : null
  } catch {
    return null
  }
}

/** Returns the host, with its port, that the browser would contact; "" if there is none. */
export function parseHost(href: string): string {
  try {
    return new URL(href).host
  } catch {
    return ""
  }
}
