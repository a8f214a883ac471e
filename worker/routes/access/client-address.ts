/**
 * client-address.ts: the network of a client's address, for the audit log. A whole address would be personal data.
 */

import ipaddr from "ipaddr.js"

/** Bits that are kept: about a neighbourhood of an IPv4 provider, and one site of IPv6. */
const IPV4_BITS = 24
const IPV6_BITS = 48

/** The longest text of an address is an IPv6 one with an IPv4 ending. */
const MAX_ADDRESS_CHARS = 45

/** `203.0.113.7` → `203.0.113.0/24`, `2001:db8:1:2::3` → `2001:db8:1::/48`. Null for a text that is no address. */
export function truncateAddress(text: string): string | null {
  if (text.length > MAX_ADDRESS_CHARS) return null
  if (ipaddr.IPv4.isValidFourPartDecimal(text)) return toIpv4Network(text)
  if (!ipaddr.IPv6.isValid(text)) return null
  const address = ipaddr.IPv6.parse(text)
  if (address.isIPv4MappedAddress()) return toIpv4Network(address.toIPv4Address().toString())
  // A zone names an interface of the server.
  const withoutZone = new ipaddr.IPv6(address.parts)
  return `${ipaddr.IPv6.networkAddressFromCIDR(`${withoutZone.toString()}/${IPV6_BITS}`).toString()}/${IPV6_BITS}`
}

function toIpv4Network(text: string): string {
  return `${ipaddr.IPv4.networkAddressFromCIDR(`${text}/${IPV4_BITS}`).toString()}/${IPV4_BITS}`
}
