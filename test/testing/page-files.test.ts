/** page-files.test.ts: tests the paths of the built page's files, and how long browsers cache these files. */

import { type Cuecard, startCuecard } from "cuecard/testing"
import { afterAll, beforeAll, expect, test } from "vitest"

let cuecard: Cuecard
beforeAll(async () => {
  cuecard = await startCuecard()
})
afterAll(async () => {
  await cuecard.close()
})

async function getPath(path: string, headers: Record<string, string> = {}) {
  const response = await fetch(cuecard.url + path, { headers, redirect: "manual" })
  return { status: response.status, headers: response.headers, text: await response.text() }
}

test("[RT14] the page is only at /; any other path without a file is 404", async () => {
  expect((await getPath("/")).text).toContain('<div id="app">')
  expect((await getPath("/index.html")).status).toBe(307)
  for (const path of ["/nope", "/a/b/c", "/favicon.ico", "/robots.txt", "/s/abc", "/_headers"]) {
    const missing = await getPath(path)
    expect(`${path} ${missing.status}`).toBe(`${path} 404`)
    expect(missing.headers.get("cache-control")).toBe("no-store")
    expect(JSON.parse(missing.text)).toMatchObject({ code: "route_unknown" })
  }
  const page = await getPath("/nope", { accept: "text/html" })
  expect(page.status).toBe(404)
  expect(page.text).toContain('<a href="/">')
})

test("[RT15] browsers cache the hashed files forever, but not the response for a missing one", async () => {
  const paths = [...(await getPath("/")).text.matchAll(/(?:src|href)="(\/assets\/[^"]+)"/g)].map(
    (match) => match[1] ?? "",
  )
  expect(paths.length).toBeGreaterThan(1)
  for (const path of paths) {
    const { status, headers } = await getPath(path)
    expect(status).toBe(200)
    expect(headers.get("cache-control")).toBe("public, max-age=31536000, immutable")
    expect(headers.get("x-content-type-options")).toBe("nosniff")
    expect(headers.get("content-security-policy")).toContain("default-src 'none'")
  }
  const missing = await getPath("/assets/index-00000000.js")
  expect(missing.status).toBe(404)
  expect(missing.headers.get("cache-control")).toBe("no-store")
})
