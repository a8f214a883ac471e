/**
 * client-address.ts: shortens a client's IP address. The audit log stores only the address's network, because a full
 * address would be personal data. Limits use a longer part of the address as their key, which is not stored.
 */

import ipaddr from "ipaddr.js"

/**
 * Number of address bits that the audit log stores: they identify roughly a neighbourhood with IPv4, and a site with
 * IPv6.
 */
const IPV4_BITS = 24
const IPV6_BITS = 48

/**
 * Limits group IPv6 addresses by this number of leading bits. One network has 2^64 addresses, so counting individual
 * addresses would be useless.
 */
const IPV6_NETWORK_BITS = 64

/** Maximum length of an address, in characters: that of an IPv6 address that ends in an IPv4 address. */
const MAX_ADDRESS_CHARS = 45

/**
 * Truncates an address: `203.0.113.7` → `203.0.113.0/24`, `2001:db8:1:2::3` → `2001:db8:1::/48`. Returns null if `text`
 * is not an address.
 */
export function truncateAddress(text: string): string | null {
  return formatNetwork(text, IPV4_BITS, IPV6_BITS)
}

/**
 * Returns the key that limits use for counting: an IPv4 address, or an IPv6 network. Null if `text` is not an address.
 */
export function groupAddress(text: string): string | null {
  return formatNetwork(text, 32, IPV6_NETWORK_BITS)
}

function formatNetwork(text: string, ipv4Bits: number, ipv6Bits: number): string | null {
  if (text.length > MAX_ADDRESS_CHARS) return null
  if (ipaddr.IPv4.isValidFourPartDecimal(text)) return toIpv4Network(text, ipv4Bits)
  if (!ipaddr.IPv6.isValid(text)) return null
  const address = ipaddr.IPv6.parse(text)
  if (address.isIPv4MappedAddress()) return toIpv4Network(address.toIPv4Address().toString(), ipv4Bits)
  // An address's zone, which names a network interface of the server, is dropped.
  const withoutZone = new ipaddr.IPv6(address.parts)
  return `${ipaddr.IPv6.networkAddressFromCIDR(`${withoutZone.toString()}/${ipv6Bits}`).toString()}/${ipv6Bits}`
}

function toIpv4Network(text: string, bits: number): string {
  return `${ipaddr.IPv4.networkAddressFromCIDR(`${text}/${bits}`).toString()}/${bits}`
}
