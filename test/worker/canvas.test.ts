/** canvas.test.ts: tests access to canvas documents, their origin, and their headers. */

import { env, SELF } from "cloudflare:test"
import { nanoid } from "nanoid"
import { describe, expect, test } from "vitest"
import { hardenDocument } from "../../worker/routes/media/canvas-document.ts"
import { issueToken } from "../../worker/auth/verify-token.ts"
import { type LinkAudience, signLink } from "../../worker/auth/link-signing.ts"
import { call, HOST, nowSeconds, refusal, SECRET } from "./http.ts"

async function storeCanvas(html = "<h1>Plan</h1>", kind = "canvas", tenant = "cv") {
  const id = nanoid()
  await env.MEDIA.put(`${tenant}/s1/${id}`, html, { customMetadata: { kind } })
  return id
}

function signCanvas(what: string, { tenant = "cv", audience = "canvas" as LinkAudience, seconds = 600 } = {}) {
  return signLink(SECRET, audience, { tenant, session: "s1", what, expires: nowSeconds() + seconds })
}

const canvasPath = (id: string, token: string): string => `/canvas/documents/${id}/index.html?token=${token}`

describe("a document", () => {
  test("[CD1] is served to frames without caching, under a policy that blocks all requests", async () => {
    const id = await storeCanvas()
    const answer = await call(canvasPath(id, await signCanvas(id)), { headers: { "sec-fetch-dest": "iframe" } })
    expect(answer.status).toBe(200)
    expect(answer.text).toMatch(/^<!doctype html><script>[\s\S]*<\/script><h1>Plan<\/h1>$/)
    const headers = Object.fromEntries(answer.headers)
    expect(headers["content-security-policy"]?.split("; ")).toEqual([
      "sandbox allow-scripts",
      "default-src 'none'",
      "script-src 'unsafe-inline'",
      "style-src 'unsafe-inline'",
      "img-src data: blob:",
      "media-src data: blob:",
      "font-src data:",
      "form-action 'none'",
      "base-uri 'none'",
      "frame-ancestors 'self'",
      "require-trusted-types-for 'script'",
      "trusted-types default",
    ])
    expect(headers).toMatchObject({
      "content-type": "text/html; charset=utf-8",
      "x-content-type-options": "nosniff",
      "referrer-policy": "no-referrer",
      "x-dns-prefetch-control": "off",
      "connection-allowlist": "()",
      "cross-origin-resource-policy": "same-origin",
      "cache-control": "private, no-store",
    })
    expect(headers["permissions-policy"]).toContain("fullscreen=()")
    expect(headers["set-cookie"]).toBeUndefined()
  })

  test("[CD1] isn't served with an expired token, a bearer token, or a token for another document, tenant or audience", async () => {
    const id = await storeCanvas()
    const bearer = await issueToken(
      { tenant: "cv", user: "ada", expires: nowSeconds() + 60, token: nanoid(), issued: nowSeconds() },
      SECRET,
    )
    for (const token of [
      "",
      "x",
      bearer,
      await signCanvas(await storeCanvas()),
      await signCanvas(id, { audience: "media" }),
    ]) {
      expect(await call(canvasPath(id, token))).toEqual(refusal(403, "link_invalid"))
    }
    expect(await call(canvasPath(id, await signCanvas(id, { seconds: -60 })))).toEqual(refusal(403, "link_expired"))
    expect(await call(canvasPath(id, await signCanvas(id, { tenant: "other" })))).toEqual(refusal(404, "asset_unknown"))
    // An uploaded file must never be served as a document, whatever it contains.
    const uploaded = await storeCanvas("<h1>Plan</h1>", "file")
    expect(await call(canvasPath(uploaded, await signCanvas(uploaded)))).toEqual(refusal(404, "asset_unknown"))
    // The token in the URL isn't valid as a user's token.
    expect((await call("/v1/sessions", { token: await signCanvas(id) })).status).toBe(401)
  })

  test("[CD1] a failing bucket is reported as an error; in a frame, errors are readable text", async () => {
    const id = await storeCanvas()
    const MEDIA = { get: () => Promise.reject(new Error("away")) }
    expect(await call(canvasPath(id, await signCanvas(id)), { env: { MEDIA } })).toEqual(
      refusal(503, "asset_store_failed"),
    )
    const framed = await call(canvasPath(id, "x"), { headers: { "sec-fetch-dest": "iframe" } })
    expect(framed).toMatchObject({ status: 403, text: expect.stringContaining("not available") })
    expect(framed.headers.get("content-security-policy")).toContain("sandbox")
  })

  test.each(["document", "object", "embed", "empty", "script"])(
    "[CD1] is served only to frames, not to %s",
    async (dest) => {
      const id = await storeCanvas()
      expect(await call(canvasPath(id, await signCanvas(id)), { headers: { "sec-fetch-dest": dest } })).toEqual(
        refusal(403, "link_invalid"),
      )
    },
  )
})

describe("a canvas origin", () => {
  const vars = { CANVAS_ORIGIN: "https://canvas.test", PAGE_ORIGIN: HOST, ALLOWED_ORIGINS: "https://shop.example" }
  const fetchFromWorker = async (url: string) => {
    const { default: worker } = await import("../../worker/index.ts")
    const own = { ...env, PROBE_TOOLS: undefined, PROBE_URL: undefined, ...vars }
    return await worker.fetch(new Request(url, { headers: { "sec-fetch-dest": "iframe" } }), own)
  }

  test("[CD2] serves documents to frames on the deployment's pages; the pages' own origin serves none", async () => {
    const id = await storeCanvas()
    const path = canvasPath(id, await signCanvas(id))
    const answer = await fetchFromWorker(`https://canvas.test${path}`)
    expect(answer.status).toBe(200)
    expect(answer.headers.get("content-security-policy")).toContain(`frame-ancestors ${HOST} https://shop.example`)
    expect((await fetchFromWorker(HOST + path)).status).toBe(404)
  })

  test.each([
    "/",
    "/deep/link",
    "/healthz",
    "/v1/sessions",
    "/v1/dev/token",
    "/media/x",
    "/external/sessions",
    "/canvas/",
  ])("[CD2] serves nothing else: %s", async (path) => {
    expect((await fetchFromWorker(`https://canvas.test${path}`)).status).toBe(404)
    expect(await (await SELF.fetch(`${HOST}/canvas/nothing`)).json()).toMatchObject({ code: "route_unknown" })
  })
})

describe("the injected script", () => {
  const hardenBody = (html: string): string => hardenDocument(html).replace(/^[\s\S]*?<\/script>/, "")

  test.each([
    ["<iframe src=x>", "<x-iframe src=x>"],
    ["<IFRAME\tsrcdoc=x>", "<x-IFRAME\tsrcdoc=x>"],
    ["<link/rel=preconnect>", "<x-link/rel=preconnect>"],
    ["<object\ndata=x></object>", "<x-object\ndata=x></object>"],
    ["<svg><foreignObject><embed >", "<svg><foreignObject><x-embed >"],
    ["<frame\f>", "<x-frame\f>"],
    ["<h:iframe srcdoc=x>", "<x-h:iframe srcdoc=x>"],
    ["<!ENTITY e '&#60;iframe'>", "<x-!ENTITY e '&#60;iframe'>"],
    // This document ends inside a tag name, which later markup could complete.
    ["<p>x</p><ifr", "<p>x</p><x-ifr"],
    ["<p>x</p><", "<p>x</p><x-"],
  ])("[CD3] %j is blocked", (html, hardened) => {
    expect(hardenBody(html)).toBe(hardened)
  })

  test.each(["a<links.length;", "<linked>", "x<link;<p>", "<p>frame <b>link</b>", "if(i<object.n)", "5<6", "1 < 2"])(
    "[CD3] %j is unchanged",
    (html) => {
      expect(hardenBody(html)).toBe(html)
    },
  )
})
