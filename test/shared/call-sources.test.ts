/** call-sources.test.ts: tests which pages a stored result names as sources, and what these sources may contain. */

import fc from "fast-check"
import { describe, expect, test } from "vitest"
import { MAX_CARD_BYTES, MAX_URL_CHARS } from "../../shared/limits.ts"
import { checkPublicUrl } from "../../shared/text/public-url.ts"
import {
  MAX_SOURCE_QUOTE_CHARS,
  MAX_SOURCE_TITLE_CHARS,
  MAX_SOURCES,
  readCallSources,
} from "../../shared/segment/call-sources.ts"
import { assertProperty } from "../support/seeded.ts"

const read = (...sources: unknown[]) => readCallSources(JSON.stringify({ sources }))
const url = "https://example.com/a"

describe("the sources of a result", () => {
  test.each([
    ["text that isn't JSON", "sources: https://example.com"],
    ["a list of entries", JSON.stringify([{ url }])],
    ["sources that aren't a list", JSON.stringify({ sources: { url } })],
    ["sources inside other data", JSON.stringify({ page: { sources: [{ url }] } })],
    ["sources after the data", `{}\n\n${JSON.stringify({ sources: [{ url }] })}`],
    ["data that is too large", JSON.stringify({ sources: [{ url }], rest: "x".repeat(MAX_CARD_BYTES) })],
  ])("[SC1] %s: the result has no sources", (_name, result) => {
    expect(readCallSources(result)).toEqual([])
  })

  test.each([
    "javascript:alert(1)",
    "http://example.com/",
    "https://user:password@example.com/",
    "https://127.0.0.1/",
    "https://[::1]/",
    "https://localhost/",
    "https://example.com\\@evil.example/",
    "/relative",
    7,
    null,
  ])("[SC2] a source with the URL %j is omitted", (address) => {
    expect(read({ url: address, title: "x" }, { url })).toEqual([{ type: "source", url, title: "example.com" }])
  })

  test("[SC2] a source with a URL that is too long is omitted", () => {
    expect(read({ url: `${url}${"x".repeat(MAX_URL_CHARS)}` })).toEqual([])
  })

  test("[SC2] titles and quotes are single lines of limited length, without bidi controls", () => {
    const [source] = read({ url, title: `a\u202e\n\u0000${"b".repeat(10_000)}`, quote: "c".repeat(10_000) })
    expect(source?.title).toBe(`a ${"b".repeat(MAX_SOURCE_TITLE_CHARS - 2)}`)
    expect(source?.quote).toBe("c".repeat(MAX_SOURCE_QUOTE_CHARS))
  })

  test("[SC2] whatever a result contains, its sources have public URLs and short text", () => {
    const entry = fc.oneof(
      fc.record({ url: fc.oneof(fc.webUrl(), fc.string()), title: fc.string(), quote: fc.jsonValue() }),
      fc.jsonValue(),
    )
    assertProperty(
      fc.property(fc.array(entry), (entries) => {
        for (const source of read(...entries)) {
          expect(checkPublicUrl(source.url).ok).toBe(true)
          expect(source.title).not.toBe("")
          expect(`${source.title}${source.quote ?? ""}`).not.toMatch(/[\p{Cc}\u202a-\u202e\u2066-\u2069]/u)
        }
      }),
    )
  })

  test("[SC2] only the first entries of a long list are read", () => {
    const many = Array.from({ length: 400 }, (_, at) => ({ url: `${url}${at}` }))
    expect(read(...many).length).toBeGreaterThan(MAX_SOURCES)
    expect(read(...many).length).toBeLessThanOrEqual(256)
  })
})
