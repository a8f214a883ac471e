/** media.test.ts: tests signed URLs, and the files that are served under them. */

import { env } from "cloudflare:test"
import { describe, expect, test } from "vitest"
import { MAX_SIGNED_URLS, SIGNED_URL_SECONDS, SIGNED_URL_STEP_SECONDS } from "../../shared/asset-limits.ts"
import { verifyToken } from "../../worker/auth/verify-token.ts"
import { verifyLink, signLink } from "../../worker/auth/link-signing.ts"
import { call, makeSession, nowSeconds, refusal, SECRET, tokenOf } from "./http.ts"
import { brokenBucket, file, hrefOf, png, signUrls, postFile } from "./files.ts"

const T = "med"

async function uploadFile(bytes: Uint8Array, name = "a.png") {
  const token = await tokenOf(T, "ann")
  const session = await makeSession(token)
  const id: string = (await postFile(session, token, bytes, { name })).json.id
  return { token, session, id, href: await hrefOf(session, token, `/media/${id}`) }
}

describe("signing", () => {
  test("[MS1] accepts the session's files, its canvases and public URLs, in order, and nothing else", async () => {
    const { token, session, id } = await uploadFile(png(1))
    const canvas = { id: "cv1", kind: "canvas", mime_type: "text/html", label: "c", size: 1 } as const
    const stub = env.SESSION.getByName(`${T}:${session}`)
    const claims = { tenant: T, user: "ann", expires: 4_000_000_000, token: null, issued: 0 }
    const reserved = await stub.reserveAsset(claims, 1)
    if (!reserved.ok) throw new Error(reserved.fault.reason)
    const cv = reserved.value
    await stub.commitAsset(claims, { ...canvas, id: cv }, "00")
    const urls = [
      `/media/${id}`,
      `/canvas/documents/${cv}/index.html`,
      "https://EXAMPLE.com/a.png",
      "/media/nope",
      `/media/${cv}`,
      `/canvas/documents/${id}/index.html`,
      "http://example.com/",
      "https://127.0.0.1/",
      "/media/remote",
      `/media/${id}?x=1`,
      `//x/media/${id}`,
      "",
      `/media/${id}`,
    ]
    const response = await signUrls(session, token, urls)
    expect(response.status).toBe(200)
    expect(response.json.signed.map(({ url }: { url: string }) => url)).toEqual(urls)
    const heads = response.json.signed.map(({ href }: { href: string | null }) => href?.split("?token=")[0] ?? null)
    const [own, none] = [`/media/${id}`, null]
    expect(heads).toEqual([
      own,
      `/canvas/documents/${cv}/index.html`,
      "/media/remote",
      none,
      none,
      none,
      none,
      none,
      none,
      none,
      none,
      none,
      own,
    ])
    const lasts = response.json.expires - nowSeconds()
    expect(lasts).toBeGreaterThan(SIGNED_URL_SECONDS - 301)
    expect(lasts).toBeLessThanOrEqual(SIGNED_URL_SECONDS)
    const remote = response.json.signed[2].href.split("?token=")[1]
    expect(await verifyLink(SECRET, "remote", remote, Date.now())).toMatchObject({
      value: { tenant: T, session, what: "https://example.com/a.png" },
    })
  })

  test("[MS1] is possible only for the session's owner and the session's own files, up to MAX_SIGNED_URLS", async () => {
    const { token, session, id } = await uploadFile(png(1))
    expect(await signUrls(session, await tokenOf("else", "ann"), [])).toEqual(refusal(404, "session_unknown"))
    expect(await signUrls(session, await tokenOf(T, "eve"), [])).toEqual(refusal(404, "session_unknown"))
    const other = await makeSession(token)
    expect((await signUrls(other, token, [`/media/${id}`])).json.signed).toEqual([{ url: `/media/${id}`, href: null }])
    const many = Array.from({ length: MAX_SIGNED_URLS + 1 }, () => `/media/${id}`)
    expect(await signUrls(session, token, many)).toEqual(refusal(400, "field_invalid"))
    expect((await signUrls(session, token, many.slice(1))).json.signed).toHaveLength(MAX_SIGNED_URLS)
  })

  test("[MS1] canvases are on CANVAS_ORIGIN if it is set; files never are", async () => {
    const { token, session, id } = await uploadFile(png(1))
    const stub = env.SESSION.getByName(`${T}:${session}`)
    const claims = { tenant: T, user: "ann", expires: 4_000_000_000, token: null, issued: 0 }
    const reserved = await stub.reserveAsset(claims, 1)
    if (!reserved.ok) throw new Error(reserved.fault.reason)
    const canvas = { id: reserved.value, kind: "canvas", mime_type: "text/html", label: "c", size: 1 } as const
    await stub.commitAsset(claims, canvas, "00")
    const urls = [`/canvas/documents/${canvas.id}/index.html`, `/media/${id}`, "https://example.com/a.png"]
    const apart = { CANVAS_ORIGIN: "https://canvas.example.com", PAGE_ORIGIN: "https://chat.example.com" }
    const path = `/v1/sessions/${session}/media/sign`
    const response = await call(path, { method: "POST", token, body: JSON.stringify({ urls }), env: apart })
    expect(response.json.signed.map(({ href }: { href: string }) => href.split("?")[0])).toEqual([
      `https://canvas.example.com/canvas/documents/${canvas.id}/index.html`,
      `/media/${id}`,
      "/media/remote",
    ])
  })

  test("[MS2] [MS6] a signature is valid only for the URL and the audience that it names, until it expires; it isn't a user token", async () => {
    const { token, session, id } = await uploadFile(png(1))
    const claims = { tenant: T, session, what: id, expires: nowSeconds() + 60 }
    const getFile = async (link: string, of = id) => await call(`/media/${of}?token=${link}`)
    const link = await signLink(SECRET, "media", claims)
    expect(await signLink(SECRET, "media", claims)).toBe(link)
    expect((await getFile(link)).status).toBe(200)
    expect(await getFile(link, "other")).toEqual(refusal(403, "link_invalid"))
    expect(await getFile("")).toEqual(refusal(403, "link_invalid"))
    expect(await getFile(token)).toEqual(refusal(403, "link_invalid"))
    for (const audience of ["canvas", "remote"] as const) {
      expect(await getFile(await signLink(SECRET, audience, claims))).toEqual(refusal(403, "link_invalid"))
    }
    const foreign = { ...claims, tenant: "else" }
    expect(await getFile(await signLink(SECRET, "media", foreign))).toEqual(refusal(404, "asset_unknown"))
    const old = { ...claims, expires: nowSeconds() - 1 }
    expect(await getFile(await signLink(SECRET, "media", old))).toEqual(refusal(403, "link_expired"))
    expect(await getFile(await signLink(`${SECRET}!`, "media", claims))).toEqual(refusal(403, "link_invalid"))
    const [head, , end] = link.split(".")
    const forged = btoa(JSON.stringify({ ...claims, sub: id, aud: "media", exp: claims.expires + 1 })).replace(
      /=+$/,
      "",
    )
    expect(await getFile(`${head}.${forged}.${end}`)).toEqual(refusal(403, "link_invalid"))
    expect(await verifyToken(link, SECRET, Date.now())).toMatchObject({ ok: false })
    expect(await call("/v1/sessions", { token: link })).toEqual(refusal(401, "token_invalid"))
  })

  test("[MS7] a URL keeps the same signature for a while; the signature survives a revocation and ends with the session", async () => {
    const { token, session, id, href } = await uploadFile(png(1))
    const again = (await signUrls(session, token, [`/media/${id}`])).json.signed[0].href
    const stepOf = (path: string) => JSON.parse(atob(path.split(".")[1] ?? "")).exp % SIGNED_URL_STEP_SECONDS
    expect([stepOf(href), stepOf(again)]).toEqual([0, 0])
    expect((await call("/v1/tokens/revoke", { method: "POST", token, body: "{}" })).status).toBe(200)
    expect((await call(href)).status).toBe(200)
    const other = await tokenOf(T, "ann")
    expect((await call(`/v1/sessions/${session}`, { method: "DELETE", token: other })).status).toBeLessThan(300)
    expect(await call(href)).toEqual(refusal(404, "asset_unknown"))
  })
})

describe("serving", () => {
  test("[MS3] sends a file with its type and name, and nothing that could run", async () => {
    const { href, id } = await uploadFile(png(1), 'c"a\\t ü😀.png')
    const { status, headers } = await call(href)
    expect(status).toBe(200)
    expect(Object.fromEntries(headers)).toMatchObject({
      "content-type": "image/png",
      "content-length": "200",
      "content-disposition": `inline; filename="t ___.png"; filename*=UTF-8''t%20%C3%BC%F0%9F%98%80.png`,
      "content-security-policy": "sandbox; default-src 'none'",
      "cross-origin-resource-policy": "same-origin",
      "x-content-type-options": "nosniff",
      "cache-control": expect.stringMatching(/^private, max-age=[2-6]\d\d, immutable$/),
      "accept-ranges": "bytes",
    })
    const head = await call(href, { method: "HEAD" })
    expect([head.status, head.text, head.headers.get("content-length")]).toEqual([200, "", "200"])
    const etag = headers.get("etag") ?? ""
    for (const known of [etag, `W/${etag}`, `"x", ${etag}`, "*"]) {
      expect((await call(href, { headers: { "if-none-match": known } })).status).toBe(304)
    }
    expect((await call(href, { headers: { "if-none-match": '"x"' } })).status).toBe(200)
    expect((await call(`/media/${id}`, { method: "POST" })).status).toBe(404)
  })

  test("[MS3] PDF, HTML, SVG and XML files are sent as downloads, and the last three as plain text", async () => {
    const cases = [
      [file(100, "%PDF-1.7\n"), "application/pdf"],
      ["<!doctype html><script>alert(1)</script>", "text/plain; charset=utf-8"],
      ["<svg xmlns='http://www.w3.org/2000/svg' onload='alert(1)'/>", "text/plain; charset=utf-8"],
      ["<?xml version='1.0'?><x/>", "text/plain; charset=utf-8"],
      ["a,b\n1,2\n", "text/plain; charset=utf-8"],
    ] as const
    for (const [bytes, type] of cases) {
      const { href } = await uploadFile(typeof bytes === "string" ? new TextEncoder().encode(bytes) : bytes, "x.html")
      const { headers } = await call(href)
      expect(headers.get("content-type")).toBe(type)
      expect(headers.get("content-disposition")).toMatch(/^attachment; /)
    }
  })

  const RANGES: readonly (readonly [range: string, status: number, from: number, length: number])[] = [
    ...([
      ["bytes=0-9", 206, 0, 10],
      ["bytes=10-", 206, 10, 190],
      ["bytes=-5", 206, 195, 5],
    ] as const),
    ...([
      ["bytes=190-999", 206, 190, 10],
      ["bytes=-999", 206, 0, 200],
      ["bytes=199-199", 206, 199, 1],
    ] as const),
    ...([
      ["bytes=200-", 416, 0, 0],
      ["bytes=-0", 416, 0, 0],
    ] as const),
    ...([
      ["bytes=5-1", 200, 0, 200],
      ["bytes=0-1,5-6", 200, 0, 200],
      ["lines=1-2", 200, 0, 200],
    ] as const),
  ]
  test.each(RANGES)("[MS4] answers the range %s with %i", async (range, status, from, length) => {
    const bytes = file(200, ...Array.from({ length: 200 }, (_, i) => i)).map((_, i) => 32 + (i % 90))
    const { href } = await uploadFile(bytes)
    const part = await call(href, { headers: { range } })
    expect(part.status).toBe(status)
    if (status === 416) return expect(part.headers.get("content-range")).toBe("bytes */200")
    expect(part.text).toBe(new TextDecoder().decode(bytes.slice(from, from + length)))
    expect(part.headers.get("content-range")).toBe(status === 206 ? `bytes ${from}-${from + length - 1}/200` : null)
    const stale = await call(href, { headers: { range, "if-range": '"other"' } })
    expect([stale.status, stale.text.length]).toEqual([200, 200])
  })

  test("[MS5] serves no canvas and no missing file, and reports a failing bucket", async () => {
    const { href, id, session } = await uploadFile(png(1))
    for (const way of ["get", "head"] as const) {
      const headers = way === "head" ? { range: "bytes=0-1" } : {}
      const response = await call(href, { headers, env: { MEDIA: brokenBucket(way) } })
      expect(response).toEqual(refusal(503, "asset_store_failed"))
    }
    const key = `${T}/${session}/${id}`
    await env.MEDIA.put(key, "<html>", {
      httpMetadata: { contentType: "text/html" },
      customMetadata: { kind: "canvas" },
    })
    expect(await call(href)).toEqual(refusal(404, "asset_unknown"))
    expect((await call(href, { headers: { range: "bytes=0-1" } })).status).toBe(404)
    await env.MEDIA.put(key, "<html>", { httpMetadata: { contentType: "text/html" } })
    expect(await call(href)).toEqual(refusal(404, "asset_unknown"))
    await env.MEDIA.delete(key)
    expect(await call(href)).toEqual(refusal(404, "asset_unknown"))
    expect((await call(href, { method: "HEAD" })).status).toBe(404)
  })
})
