/**
 * embed-hosts.ts: the sites that may show a tenant's widget: parsing and matching of their origins. Pure. Source: SPEC
 * WG1.
 */

import { fail, type Result, succeed } from "../../shared/fault.ts"
import { isLoopbackName, isPlainOrigin } from "../platform/origin.ts"
import { parseOrigin } from "./tenant-settings.ts"

/** Maximum number of embedding sites per tenant. A response header contains all of them. */
export const MAX_EMBED_HOSTS = 20

const WILDCARD = "https://*."

/**
 * Parses an https origin, or `https://*.example.com` for all of its subdomains, and normalises it. `allowsLoopback`:
 * the server is on a developer's machine, so a site on the same machine may embed it over http. Errors: `url_refused`.
 */
export function parseEmbedHost(text: string, allowsLoopback: boolean): Result<string> {
  if (allowsLoopback && isLoopbackOrigin(text)) return succeed(text)
  if (!text.toLowerCase().startsWith(WILDCARD)) return parseOrigin(text)
  const domain = parseOrigin(`https://${text.slice(WILDCARD.length)}`)
  if (!domain.ok) return domain
  // Browsers don't agree on how a frame policy matches a wildcard with a port.
  return new URL(domain.value).port === ""
    ? succeed(domain.value.replace("https://", WILDCARD))
    : fail({ reason: "url_refused", because: "malformed" })
}

/** Whether an origin has a form that an entry can allow. Says nothing about any tenant. */
export function canBeEmbedHost(origin: string, allowsLoopback: boolean): boolean {
  return isPlainOrigin(origin) && (origin.startsWith("https://") || (allowsLoopback && isLoopbackOrigin(origin)))
}

/** Whether one of the entries allows the origin. An entry with `*` allows the subdomains, but not the domain itself. */
export function isEmbedHost(entries: readonly string[], origin: string): boolean {
  return entries.some((entry) =>
    entry.startsWith(WILDCARD)
      ? origin.startsWith("https://") && origin.endsWith(entry.slice(WILDCARD.length - 1)) && isPlainOrigin(origin)
      : entry === origin,
  )
}

function isLoopbackOrigin(origin: string): boolean {
  return isPlainOrigin(origin) && isLoopbackName(new URL(origin).hostname)
}
