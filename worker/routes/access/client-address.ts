/**
 * client-address.ts: forms of a client's address: its network for the audit log, because a whole address would be personal data, and the
 * key that limits count by, which is not stored.
 */

import ipaddr from "ipaddr.js"

/** Bits that the audit log keeps: roughly a neighbourhood with IPv4, and one site with IPv6. */
const IPV4_BITS = 24
const IPV6_BITS = 48

/** An IPv6 network has 2^64 addresses, so counting single ones would be useless. */
const IPV6_NETWORK_BITS = 64

/** The longest text of an address is an IPv6 one with an IPv4 ending. */
const MAX_ADDRESS_CHARS = 45

/** `203.0.113.7` → `203.0.113.0/24`, `2001:db8:1:2::3` → `2001:db8:1::/48`. Null for text that is not an address. */
export function truncateAddress(text: string): string | null {
  return formatNetwork(text, IPV4_BITS, IPV6_BITS)
}

/** The key that a limit counts by: an IPv4 address, or an IPv6 network. Null for text that is not an address. */
export function groupAddress(text: string): string | null {
  return formatNetwork(text, 32, IPV6_NETWORK_BITS)
}

function formatNetwork(text: string, ipv4Bits: number, ipv6Bits: number): string | null {
  if (text.length > MAX_ADDRESS_CHARS) return null
  if (ipaddr.IPv4.isValidFourPartDecimal(text)) return toIpv4Network(text, ipv4Bits)
  if (!ipaddr.IPv6.isValid(text)) return null
  const address = ipaddr.IPv6.parse(text)
  if (address.isIPv4MappedAddress()) return toIpv4Network(address.toIPv4Address().toString(), ipv4Bits)
  // A zone names an interface of the server.
  const withoutZone = new ipaddr.IPv6(address.parts)
  return `${ipaddr.IPv6.networkAddressFromCIDR(`${withoutZone.toString()}/${ipv6Bits}`).toString()}/${ipv6Bits}`
}

function toIpv4Network(text: string, bits: number): string {
  return `${ipaddr.IPv4.networkAddressFromCIDR(`${text}/${bits}`).toString()}/${bits}`
}
