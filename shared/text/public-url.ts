/**
 * public-url.ts: checks that a URL uses https and that its host is public.
 *
 * model text → PUBLIC URL → directive; redirect → PUBLIC URL → fetch
 * The platform's WHATWG parser is used, and a URL that other parsers may read differently is refused, because a check
 * with one parser would not hold for another. The address ranges come from ipaddr.js. A public name may still resolve
 * to a private address; code that fetches a URL must guard against that.
 */

import ipaddr from "ipaddr.js"
import { type Fault, fail, type Result, succeed } from "../fault.ts"
import { MAX_HOST_CHARS, MAX_URL_CHARS } from "../limits.ts"

export interface PublicUrl {
  /** The URL as normalised by the platform. */
  readonly href: string
  readonly origin: string
  /** The host name or address, without the port. */
  readonly host: string
  readonly path: string
}

/** Checks a URL of at most MAX_URL_CHARS. Fails with `url_refused` and the reason; never throws. SPEC PU1–PU6. */
export function checkPublicUrl(text: string): Result<PublicUrl, Fault> {
  if (text.length > MAX_URL_CHARS) return fail({ reason: "url_refused", because: "too_long" })
  const url = parseUrl(text)
  if (url === null) return fail({ reason: "url_refused", because: "malformed" })
  if (url.protocol !== "https:") return fail({ reason: "url_refused", because: "scheme" })
  if (url.username !== "" || url.password !== "" || AT_BEFORE_PATH.test(text))
    return fail({ reason: "url_refused", because: "credentials" })
  const [, host, port] = AUTHORITY.exec(text) ?? []
  if (host === undefined || AMBIGUOUS.test(text)) return fail({ reason: "url_refused", because: "malformed" })
  if (!isSameHost(host, url.hostname) || !isPublicHost(url.hostname))
    return fail({ reason: "url_refused", because: "host" })
  if (!isWebPort(port ?? "")) return fail({ reason: "url_refused", because: "port" })
  return succeed({ href: url.href, origin: url.origin, host: url.hostname, path: url.pathname })
}

function parseUrl(text: string): URL | null {
  try {
    return new URL(text)
  } catch {
    return null
  }
}

/**
 * Matches an `@` after which the host may begin: parsers disagree on that. An `@` in the query or fragment is harmless,
 * because `href` has a `/` before it.
 */
const AT_BEFORE_PATH = /^[^/]*\/\/[^/?#]*@/
/** Matches the scheme, two slashes, the host and the port, each in the form that the standard uses. */
const AUTHORITY = /^https:\/\/(\[[^\]/?#]*\]|[^\s:/?#[\]]+)(?::(\d*))?(?=[/?#]|$)/i
/**
 * Only some parsers treat a backslash as a slash, and only some remove control characters, or whitespace at the ends.
 */
const AMBIGUOUS = /[\\\0-\x1f\x7f]|\s$/

/**
 * Returns whether every parser reads the host as the platform's does: without escapes, numeric forms, or variant forms
 * of dots or letters.
 */
function isSameHost(written: string, host: string): boolean {
  if (host.startsWith("[")) return true
  if (DOTTED_QUAD.test(host)) return written === host
  const labels = host.split(".")
  const writtenLabels = written.toLowerCase().split(".")
  if (labels.length !== writtenLabels.length) return false
  return labels.every((label, at) => {
    if (label.length > MAX_LABEL_CHARS || !HOST_LABEL.test(label)) return false
    return label === writtenLabels[at] || (label.startsWith("xn--") && NON_ASCII.test(writtenLabels[at] ?? ""))
  })
}

/** Maximum length of a label in a host name, in bytes (RFC 1035). */
const MAX_LABEL_CHARS = 63
/**
 * A label may be empty here, because the last label of a name with a trailing dot is; `isPublicName` checks that case.
 */
const HOST_LABEL = /^[a-z0-9_-]*$/
const NON_ASCII = /[^\0-\x7f]/

/** Ports that browsers never fetch from, because other protocols use them (the "bad ports" of the Fetch standard). */
const BAD_PORTS = new Set(
  (
    "0 1 7 9 11 13 15 17 19 20 21 22 23 25 37 42 43 53 69 77 79 87 95 101 102 103 104 109 110 111 113 115 117 119 123 " +
    "135 137 139 143 161 179 389 427 465 512 513 514 515 526 530 531 532 540 548 554 556 563 587 601 636 989 990 993 995 " +
    "1719 1720 1723 2049 3659 4045 4190 5060 5061 6000 6566 6665 6666 6667 6668 6669 6679 6697 10080"
  ).split(" "),
)
/** Ports of databases, queues and remote desktops, which are missing from BAD_PORTS. */
const SERVICE_PORTS = new Set(
  "445 873 1433 1521 1883 2375 3306 3389 4222 5432 5672 5900 6379 8883 9042 9092 11211 27017".split(" "),
)

/** Returns whether a port may be used. A port with leading zeros is refused, because some parsers read it as octal. */
function isWebPort(port: string): boolean {
  return !/^0/.test(port) && !BAD_PORTS.has(port) && !SERVICE_PORTS.has(port)
}

/**
 * Matches every normalised IPv4 address and no name. For names, the library would throw and catch internally, which is
 * slow.
 */
const DOTTED_QUAD = /^\d{1,3}(?:\.\d{1,3}){3}$/

/**
 * Returns whether a host is public. `host` must be normalised: lower-case ASCII, canonical addresses, IPv6 in square
 * brackets.
 */
function isPublicHost(host: string): boolean {
  if (host.startsWith("[")) return isPublicV6(ipaddr.IPv6.parse(host.slice(1, -1)))
  return DOTTED_QUAD.test(host) ? isPublicV4(ipaddr.IPv4.parse(host)) : isPublicName(host)
}

/**
 * Top-level domains used inside networks: RFC 6761, 6762 (with appendix G), 7686, 8375 and 9476, and names that ICANN
 * reserves.
 */
const PRIVATE_TLDS = new Set(
  (
    "localhost local localdomain internal intranet private lan home corp mail test example invalid onion alt arpa " +
    "domain workgroup i2p exit gnu zkey svc consul docker"
  ).split(" "),
)

/**
 * Public names that are known to point to internal hosts: cloud metadata services, and services whose names resolve to
 * any chosen address.
 */
const PRIVATE_NAMES = new Set(
  (
    "metadata.goog metadata.tencentyun.com metadata.packet.net metadata.platformequinix.com metadata.cloud.ibm.com " +
    "metadata.azure.com metadata.oraclecloud.com localtest.me lvh.me vcap.me lacolhost.com nip.io sslip.io xip.io " +
    "traefik.me fritz.box localdev.me local.gd backname.io rbndr.us 1u.ms rebind.network"
  ).split(" "),
)

function isPublicName(host: string): boolean {
  const name = host.endsWith(".") ? host.slice(0, -1) : host
  // The length limit bounds the cost of checking every suffix.
  if (name.length > MAX_HOST_CHARS) return false
  const labels = name.split(".")
  if (labels.length < 2 || labels.includes("")) return false
  if (PRIVATE_TLDS.has(labels.at(-1) ?? "")) return false
  // Checks every suffix: `a.b.nip.io` belongs to `nip.io`.
  return labels.every((_, at) => !PRIVATE_NAMES.has(labels.slice(at).join(".")))
}

/** Addresses of metadata services in public ranges. */
const BLOCKED_V4 = new Set(["168.63.129.16"])

function isPublicV4(address: ipaddr.IPv4): boolean {
  return address.range() === "unicast" && !BLOCKED_V4.has(address.toString())
}

/**
 * Returns whether an IPv6 address is public: global unicast, which is 2000::/3 without its special ranges. If an
 * address embeds an IPv4 address, that address must be public.
 */
function isPublicV6(address: ipaddr.IPv6): boolean {
  const { parts } = address
  const embedded = extractEmbeddedV4(parts)
  if (embedded !== null) return embedded.every(isPublicV4)
  const isGlobal = ((parts[0] ?? 0) & 0xe000) === 0x2000 && address.range() === "unicast"
  return isGlobal && (!isIsatap(parts) || isPublicV4(readV4(parts, 6)))
}

/** Returns the IPv4 addresses embedded in an IPv6 address (mapped, compatible, NAT64, 6to4, Teredo), or null. */
function extractEmbeddedV4(parts: readonly number[]): ipaddr.IPv4[] | null {
  const isZero = (from: number, to: number): boolean => parts.slice(from, to).every((part) => part === 0)
  if (isZero(0, 5) && (parts[5] === 0xffff || parts[5] === 0)) return [readV4(parts, 6)]
  if (parts[0] === 0x64 && parts[1] === 0xff9b && isZero(2, 6)) return [readV4(parts, 6)]
  if (parts[0] === 0x2002) return [readV4(parts, 1)]
  // The addresses of the server and of the client; the client's is stored inverted.
  if (parts[0] === 0x2001 && parts[1] === 0) return [readV4(parts, 2), readV4(parts, 6, 0xffff)]
  return null
}

/** Returns whether the address is an ISATAP address (RFC 5214), which ends in an IPv4 address. */
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
