/** public-url.test.ts: tests which URLs count as public. */

import fc from "fast-check"
import { expect, test } from "vitest"
import { MAX_URL_CHARS } from "../../shared/limits.ts"
import { checkPublicUrl } from "../../shared/text/public-url.ts"
import { assertProperty } from "../support/seeded.ts"
import { AMBIGUOUS, INNER_NAMES, INNER_V4, INNER_V6, ROWS, verdictOf } from "../support/url-table.ts"

test("[PU1] the table has at least 250 different URLs", () => {
  expect(new Set(ROWS.map(([url]) => url)).size).toBe(ROWS.length)
  expect(ROWS.length).toBeGreaterThanOrEqual(250)
})

test.each(AMBIGUOUS)("[PU5] [PU6] [PU7] %j is refused: %s", (url, verdict) => {
  expect(verdictOf(url)).toBe(verdict)
})

test("[PU7] labels of up to 63 characters are accepted", () => {
  expect(verdictOf(`https://${"a".repeat(63)}.${"b".repeat(63)}.com/`)).toBe("ok")
})

test.each(ROWS.filter(([, verdict]) => verdict !== "host"))("[PU1] %j is %s", (url, verdict) => {
  expect(verdictOf(url)).toBe(verdict)
})

test.each(INNER_NAMES)("[PU2] %j is internal", (url) => {
  expect(verdictOf(url)).toBe("host")
})

test("[PU2] a name longer than DNS allows is refused", () => {
  const createLong = (size: number): string => `https://${"a.".repeat(size).slice(0, size - 4)}.com`
  expect([verdictOf(createLong(253)), verdictOf(`${createLong(253)}.`), verdictOf(createLong(255))]).toEqual([
    "ok",
    "ok",
    "host",
  ])
})

test.each([...INNER_V4, ...INNER_V6])("[PU3] %j is not a public address", (url) => {
  expect(verdictOf(url)).toBe("host")
})

test("[PU1] a URL over MAX_URL_CHARS is refused, and an accepted one is returned in normalised form", () => {
  const createLong = (size: number): string => "https://example.com/".padEnd(size, "x")
  expect(verdictOf(createLong(MAX_URL_CHARS))).toBe("ok")
  expect(verdictOf(createLong(MAX_URL_CHARS + 1))).toBe("too_long")
  expect(checkPublicUrl("HTTPS://EXAMPLE.com:443/a/../b c?d")).toEqual({
    ok: true,
    value: {
      href: "https://example.com/b%20c?d",
      origin: "https://example.com",
      host: "example.com",
      path: "/b%20c",
    },
  })
})

test("[PU5] an `@` in the query or fragment is not user info, and the returned URL has a slash before it", () => {
  const hrefs = ["https://example.com?email=a@b.c", "https://example.com#@b.c/"].map((url) => {
    const checked = checkPublicUrl(url)
    return checked.ok ? [checked.value.host, checked.value.href] : null
  })
  expect(hrefs).toEqual([
    ["example.com", "https://example.com/?email=a@b.c"],
    ["example.com", "https://example.com/#@b.c/"],
  ])
})

test("[PU4] it never throws, and it accepts the https URL that it returns", () => {
  const part = fc.constantFrom(
    "https:",
    "//",
    "/",
    "[",
    "]",
    "::",
    "ffff:",
    "127.0.0.1",
    ".",
    "a",
    "com",
    "@",
    ":",
    "%",
    "0x7f",
    "\\",
    "é",
    "\ud800",
    "xn--",
    "?",
    "#",
  )
  const glued = fc.array(part, { maxLength: 14 }).map((parts) => parts.join(""))
  assertProperty(
    fc.property(
      fc.oneof(
        glued,
        fc.webUrl(),
        fc.string({ unit: "binary" }),
        glued.map((rest) => `https://${rest}`),
      ),
      (text) => {
        const checked = checkPublicUrl(text)
        if (!checked.ok) return
        expect(checked.value.href.startsWith("https://")).toBe(true)
        expect(checkPublicUrl(checked.value.href)).toEqual(checked)
      },
    ),
  )
})

/** Generates one number of an IPv4 address in any notation that URL parsers accept. */
function toNumeral(value: number): fc.Arbitrary<string> {
  return fc.tuple(fc.constantFrom(10, 8, 16), fc.nat({ max: 3 }), fc.boolean()).map(([base, zeros, isUpper]) => {
    if (base === 10) return `${value}`
    if (base === 8) return `0${"0".repeat(zeros)}${value.toString(8)}`
    const digits = `${"0".repeat(zeros)}${value.toString(16)}`
    return isUpper ? `0X${digits.toUpperCase()}` : `0x${digits}`
  })
}

/** Generates notations of an IPv4 address, with one to four numbers. The last number contains the remaining bytes. */
function toV4Notation(address: number): fc.Arbitrary<string> {
  return fc.nat({ max: 3 }).chain((heads) => {
    const octets = Array.from({ length: heads }, (_, i) => (address >>> (24 - 8 * i)) & 0xff)
    const rest = heads === 0 ? address : address % 2 ** (32 - 8 * heads)
    return fc
      .tuple(fc.tuple(...[...octets, rest].map(toNumeral)), fc.constantFrom("", "."), fc.constantFrom(".", "。", "%2e"))
      .map(([numbers, end, dot]) => numbers.join(dot) + end)
  })
}

function toV6Notations(address: number): string[] {
  const [high, low] = [(address >>> 16).toString(16), (address & 0xffff).toString(16)]
  const [highNot, lowNot] = [(~(address >>> 16) & 0xffff).toString(16), (~address & 0xffff).toString(16)]
  return [
    `::${high}:${low}`,
    `::ffff:${high}:${low}`,
    `0:0:0:0:0:FFFF:${high}:${low}`,
    `64:ff9b::${high}:${low}`,
    `2002:${high}:${low}::1`,
    `2001:0:808:808:0:0:${highNot}:${lowNot}`,
    `2001:0:${high}:${low}:0:0:f7f7:f7f7`,
    `2606:4700::5efe:${high}:${low}`,
  ]
}

/** Every range of addresses that is not public, as its first address and its size. */
const INNER_RANGES: readonly (readonly [number, number])[] = [
  [0x00000000, 2 ** 24],
  [0x0a000000, 2 ** 24],
  [0x64400000, 2 ** 22],
  [0x7f000000, 2 ** 24],
  [0xa9fe0000, 2 ** 16],
  [0xac100000, 2 ** 20],
  [0xc0000000, 2 ** 8],
  [0xc0000200, 2 ** 8],
  [0xc0586300, 2 ** 8],
  [0xc0a80000, 2 ** 16],
  [0xc6120000, 2 ** 17],
  [0xc6336400, 2 ** 8],
  [0xcb007100, 2 ** 8],
  [0xe0000000, 2 ** 29],
]

const innerAddress = fc
  .constantFrom(...INNER_RANGES)
  .chain(([first, size]) => fc.nat({ max: size - 1 }).map((offset) => first + offset))

test("[PU3] every notation of every private IPv4 address is refused, including inside IPv6", () => {
  const notation = innerAddress.chain((address) => fc.tuple(fc.constant(address), toV4Notation(address)))
  assertProperty(
    fc.property(notation, ([address, text]) => {
      expect(verdictOf(`https://${text}/x`)).toBe("host")
      for (const inner of toV6Notations(address)) expect(verdictOf(`https://[${inner}]/`)).toBe("host")
    }),
    2_000,
  )
})

test("[PU3] [PU7] a public address is accepted as four decimal numbers, and in no other notation", () => {
  const isInner = (address: number): boolean =>
    INNER_RANGES.some(([first, size]) => address >= first && address < first + size)
  // Exclude three small reserved ranges and a cloud provider's metadata address, which are refused too.
  const isOther = (address: number): boolean =>
    [0xc0af30, 0xc01fc4, 0xc034c1].includes(address >>> 8) || address === 0xa83f8110
  const outer = fc.nat({ max: 0xffffffff }).filter((address) => !isInner(address) && !isOther(address))
  assertProperty(
    fc.property(
      outer.chain((address) => fc.tuple(fc.constant(address), toV4Notation(address))),
      ([address, text]) => {
        const decimal = [24, 16, 8, 0].map((shift) => (address >>> shift) & 0xff).join(".")
        expect(verdictOf(`https://${decimal}/x`)).toBe("ok")
        if (text !== decimal) expect(verdictOf(`https://${text}/x`)).not.toBe("ok")
        for (const inner of toV6Notations(address)) expect(verdictOf(`https://[${inner}]/`)).toBe("ok")
      },
    ),
    2_000,
  )
})
