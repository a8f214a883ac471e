/** asset-url.test.ts: tests which URLs are recognised as those of our own assets and canvases. */
import { expect, test } from "vitest"
import { assetUrl, canvasUrl, parseOwnUrl } from "../../shared/protocol/asset-url.ts"

const LONGEST = "x".repeat(64)

test.each(["a", "as_1-Z", LONGEST])("[DR2] [DR16] the URLs of id %s are ours", (id) => {
  expect(parseOwnUrl(assetUrl(id))).toEqual({ kind: "asset", id })
  expect(parseOwnUrl(canvasUrl(id))).toEqual({ kind: "canvas", id })
})

test.each([
  assetUrl(""),
  assetUrl(`${LONGEST}x`),
  canvasUrl(`${LONGEST}x`),
  assetUrl("ä"),
  assetUrl("a/b"),
  assetUrl("a?token=x"),
  `${assetUrl("a")}\n`,
  "/canvas/documents/a/",
  "/canvas/documents/a/other.html",
  "/canvas/documents/../x/index.html",
  `https://a.com${assetUrl("a")}`,
])("[DR2] [DR16] %j is not ours", (url) => {
  expect(parseOwnUrl(url)).toBeNull()
})
