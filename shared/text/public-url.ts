/**
 * public-url.ts: is this URL a public https one?
 *
 * text of a model → PUBLIC URL → directive; redirect of a fetch → PUBLIC URL → fetch
 * The platform's WHATWG parser reads it, so that every notation of an address has become one before it is judged; the
 * ranges are those of ipaddr.js. A name may still resolve to a private address: whoever fetches guards that.
 * Pure.
 */

import ipaddr from "ipaddr.js"
import { type Fault, fail, type Result, succeed } from "../fault.ts"
import { MAX_HOST_CHARS, MAX_URL_CHARS } from "../limits.ts"

export interface PublicUrl {
  /** As the platform writes it. */
  readonly href: string
  readonly origin: string
  /** Name or address, without its port. */
  readonly host: string
  readonly path: string
}

/**
 * Judges one URL.
 *
 * Shapes  text → Result<PublicUrl>.
 * Errors  `url_refused` and because of what. Never throws.
 * Cost    linear in the text, which is at most MAX_URL_CHARS.
 * Source  SPEC PU1–PU4.
 */
export function checkPublicUrl(text: string): Result<PublicUrl, Fault> {
  if (text.length > MAX_URL_CHARS) return fail({ reason: "url_refused", because: "too_long" })
  const url = parseUrl(text)
  if (url === null) return fail({ reason: "url_refused", because: "malformed" })
  if (url.protocol !== "https:") return fail({ reason: "url_refused", because: "scheme" })
  if (url.username !== "" || url.password !== "") return fail({ reason: "url_refused", because: "credentials" })
  if (!isPublicHost(url.hostname)) return fail({ reason: "url_refused", because: "host" })
  return succeed({ href: url.href, origin: url.origin, host: url.hostname, path: url.pathname })
}

function parseUrl(text: string): URL | null {
  try {
    return new URL(text)
  } catch {
    return null
  }
}

/** Every IPv4 address as WHATWG writes it, and no name. The library would throw and catch for each name, which costs more than all else. */
const DOTTED_QUAD = /^\d{1,3}(?:\.\d{1,3}){3}$/

/** `host` as WHATWG writes it: lower case, in ASCII, addresses in their one form, IPv6 in brackets. */
function isPublicHost(host: string): boolean {
  if (host.startsWith("[")) return isPublicV6(ipaddr.IPv6.parse(host.slice(1, -1)))
  return DOTTED_QUAD.test(host) ? isPublicV4(ipaddr.IPv4.parse(host)) : isPublicName(host)
}

/** What answers only inside a network: RFC 6761, 6762 (also its appendix G), 7686, 8375, 9476, and what ICANN keeps back. */
const PRIVATE_TLDS = new Set(
  (
    "localhost local localdomain internal intranet private lan home corp mail test example invalid onion alt arpa " +
    "domain workgroup i2p exit gnu zkey svc consul docker"
  ).split(" "),
)

/** Names under common ends that are known to lead inside: metadata services of clouds, and names made to resolve to inner addresses. */
const PRIVATE_NAMES = new Set(
  (
    "metadata.goog metadata.tencentyun.com metadata.packet.net metadata.platformequinix.com metadata.cloud.ibm.com " +
    "metadata.azure.com metadata.oraclecloud.com localtest.me lvh.me vcap.me lacolhost.com nip.io sslip.io xip.io " +
    "traefik.me fritz.box localdev.me local.gd backname.io rbndr.us 1u.ms rebind.network"
  ).split(" "),
)

function isPublicName(host: string): boolean {
  const name = host.endsWith(".") ? host.slice(0, -1) : host
  // All its ends are looked at: that is not done with a name of any length.
  if (name.length > MAX_HOST_CHARS) return false
  const labels = name.split(".")
  if (labels.length < 2 || labels.includes("")) return false
  if (PRIVATE_TLDS.has(labels.at(-1) ?? "")) return false
  // Of any name all ends: `a.b.nip.io` is `nip.io` too.
  return labels.every((_, at) => !PRIVATE_NAMES.has(labels.slice(at).join(".")))
}

/** Answers metadata requests in a cloud, though its range is public. */
const BLOCKED_V4 = new Set(["168.63.129.16"])

function isPublicV4(address: ipaddr.IPv4): boolean {
  return address.range() === "unicast" && !BLOCKED_V4.has(address.toString())
}

/** Global unicast is 2000::/3 without its special ranges; an address that holds another is as good as that one. */
function isPublicV6(address: ipaddr.IPv6): boolean {
  const { parts } = address
  const embedded = extractEmbeddedV4(parts)
  if (embedded !== null) return embedded.every(isPublicV4)
  const isGlobal = ((parts[0] ?? 0) & 0xe000) === 0x2000 && address.range() === "unicast"
  return isGlobal && (!isIsatap(parts) || isPublicV4(readV4(parts, 6)))
}

/** The IPv4 addresses that an IPv6 address stands for, or null: mapped, compatible, NAT64, 6to4, Teredo. */
function extractEmbeddedV4(parts: readonly number[]): ipaddr.IPv4[] | null {
  const isZero = (from: number, to: number): boolean => parts.slice(from, to).every((part) => part === 0)
  if (isZero(0, 5) && (parts[5] === 0xffff || parts[5] === 0)) return [readV4(parts, 6)]
  if (parts[0] === 0x64 && parts[1] === 0xff9b && isZero(2, 6)) return [readV4(parts, 6)]
  if (parts[0] === 0x2002) return [readV4(parts, 1)]
  // Its server, and its client, written in complement.
  if (parts[0] === 0x2001 && parts[1] === 0) return [readV4(parts, 2), readV4(parts, 6, 0xffff)]
  return null
}

/** RFC 5214: the address of an interface inside an IPv4 network. */
function isIsatap(parts: readonly number[]): boolean {
  return ((parts[4] ?? 0) & 0xfdff) === 0 && parts[5] === 0x5efe
}

function readV4(parts: readonly number[], at: number, mask = 0): ipaddr.IPv4 {
  const octets = [at, at + 1].flatMap((i) => {
    const part = (parts[i] ?? 0) ^ mask
    return [part >> 8, part & 0xff]
  })
  return new ipaddr.IPv4(octets)
}
