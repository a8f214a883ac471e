/** theme.test.ts: tests how a tenant's theme and logo are set and read, and the theme in the page's HTML. */

import { env } from "cloudflare:test"
import { describe, expect, test } from "vitest"
import { MAX_LOGO_BYTES } from "../../shared/theme/png-logo.ts"
import { DEFAULT_THEME } from "../../shared/theme/page-theme.ts"
import type { Role } from "../../worker/platform/rpc/claims.ts"
import { call, refusal, roleToken, tablesOf } from "./http.ts"
import { downloadArchive, exportTenant, importTenant, ownerToken, registerUser } from "./tenant-transfer.ts"

const GREEN = {
  accent: { light: "#0b6e4f", dark: "#5fd3a6" },
  font: "serif",
  radius: 4,
  density: "compact",
  name: "Acme Help",
  welcome: "How can Acme help?",
  suggestions: ["Where is my order?"],
}

/** A PNG file with one pixel. */
const LOGO = Uint8Array.from(
  atob("iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=="),
  (character) => character.charCodeAt(0),
)

async function send(tenant: string, method: string, path = "/v1/theme", body?: BodyInit, role: Role = "admin") {
  const token = await roleToken(tenant, "root", role)
  const headers: Record<string, string> = path.endsWith("logo") ? { "content-type": "image/png" } : {}
  return await call(path, { method, token, headers, ...(body === undefined ? {} : { body }) })
}

const putTheme = (tenant: string, theme: unknown, role: Role = "admin") =>
  send(tenant, "PUT", "/v1/theme", JSON.stringify(theme), role)

describe("a theme", () => {
  test("[TH1] is the default theme at first, is set as a whole, and is reset; reading stores nothing", async () => {
    expect((await send("th-one", "GET")).json).toEqual({ theme: { ...DEFAULT_THEME, logo: null }, revision: 0 })
    expect(await tablesOf(env.TENANT.getByName("th-one"))).toEqual([])
    expect((await putTheme("th-one", GREEN)).json).toEqual({
      theme: { ...DEFAULT_THEME, ...GREEN, logo: null },
      revision: 1,
    })
    const settings = await call("/v1/settings", { token: await roleToken("th-one", "ada", "viewer") })
    expect(settings.json.theme).toMatchObject(GREEN)
    expect((await putTheme("th-one", { name: "Other" })).json.theme).toEqual({
      ...DEFAULT_THEME,
      name: "Other",
      logo: null,
    })
    expect((await send("th-one", "DELETE")).json).toEqual({ theme: { ...DEFAULT_THEME, logo: null }, revision: 4 })
    const after = await call("/v1/settings", { token: await roleToken("th-one", "ada", "viewer") })
    expect(after.json).not.toHaveProperty("theme")
  })

  test("[TH2] [TH3] an invalid or low-contrast field is refused, the error names it, and nothing is stored", async () => {
    const invalid = await putTheme("th-bad", { accent: { light: "#112233;x:url(//evil)", dark: "#ffffff" } })
    expect(invalid).toMatchObject({
      status: 400,
      json: { code: "field_invalid", fields: { field: "accent.light" } },
    })
    expect(await putTheme("th-bad", { css: "*{}" })).toEqual(refusal(400, "field_invalid"))
    const unreadable = await putTheme("th-bad", { accent: { light: "#ffee00", dark: "#a899ff" } })
    expect(unreadable).toMatchObject({
      status: 422,
      json: {
        code: "theme_unreadable",
        fields: { scheme: "light", pair: "accent_text/accent", ratio: 1.2, least: 4.5 },
      },
    })
    expect(await tablesOf(env.TENANT.getByName("th-bad"))).toEqual([])
  })

  test("[TH5] can be changed only by owners and admins, and only for their own tenant", async () => {
    await putTheme("th-mine", GREEN)
    for (const role of ["member", "viewer"] as const) {
      expect(await putTheme("th-mine", {}, role)).toEqual(refusal(403, "scope_denied"))
      expect(await send("th-mine", "DELETE", "/v1/theme", undefined, role)).toEqual(refusal(403, "scope_denied"))
      expect(await send("th-mine", "PUT", "/v1/theme/logo", LOGO, role)).toEqual(refusal(403, "scope_denied"))
      expect((await send("th-mine", "GET", "/v1/theme", undefined, role)).json.theme).toMatchObject(GREEN)
    }
    expect(await call("/v1/theme")).toEqual(refusal(401, "token_missing"))
    expect((await putTheme("th-mine", { ...GREEN, radius: 0 }, "owner")).status).toBe(200)
    expect((await send("th-theirs", "GET")).json.theme).toEqual({ ...DEFAULT_THEME, logo: null })
  })

  test("[TH5] each change is in the audit log, without the theme's text", async () => {
    await putTheme("th-log", GREEN)
    await send("th-log", "PUT", "/v1/theme/logo", LOGO)
    await send("th-log", "DELETE")
    const log = await call("/v1/audit", { token: await roleToken("th-log", "root", "owner") })
    const entries = log.json.entries as { action: string; details: unknown }[]
    expect(entries.map(({ action }) => action).toReversed()).toEqual(["theme.changed", "theme.changed", "theme.reset"])
    expect(entries.at(-1)?.details).toMatchObject({ accent: "#0b6e4f #5fd3a6", font: "serif", radius: 4, texts: 3 })
    expect(log.text).not.toMatch(/Acme|order/)
  })

  test("[TH5] is part of an export of the tenant, with its logo", async () => {
    await registerUser("th-from", "boss", "owner")
    await putTheme("th-from", GREEN)
    const { logo } = (await send("th-from", "PUT", "/v1/theme/logo", LOGO)).json.theme
    const archive = await downloadArchive("th-from", await exportTenant("th-from"))
    await registerUser("th-to", "boss", "owner")
    expect(await importTenant("th-to", archive)).toMatchObject({ state: "done" })
    const imported = (await call("/v1/theme", { token: await ownerToken("th-to") })).json.theme
    expect(imported).toEqual({ ...DEFAULT_THEME, ...GREEN, logo: logo.replace("th-from", "th-to") })
    expect((await call(imported.logo)).status).toBe(200)
  })
})

describe("a logo", () => {
  test("[TH6] is served to everyone, as an image that can't run scripts, at a URL that contains its hash", async () => {
    const put = await send("th-logo", "PUT", "/v1/theme/logo", LOGO)
    const path: string = put.json.theme.logo
    expect(path).toMatch(/^\/media\/logo\/th-logo\/[0-9a-f]{32}\.png$/)
    const served = await call(path)
    expect(served.status).toBe(200)
    expect(Object.fromEntries(served.headers)).toMatchObject({
      "content-type": "image/png",
      "x-content-type-options": "nosniff",
      "content-security-policy": "default-src 'none'; sandbox; frame-ancestors 'none'",
      "cross-origin-resource-policy": "cross-origin",
      "cache-control": "public, max-age=31536000, immutable",
    })
    // A URL with another tenant or name must not find the logo, and no URL may find it once it has been removed.
    for (const other of [path.replace("th-logo", "th-nobody"), path.replace(".png", ".svg"), "/media/logo/~page/x.png"])
      expect((await call(other)).status).toBe(404)
    expect((await send("th-logo", "DELETE", "/v1/theme/logo")).json.theme.logo).toBeNull()
    expect((await call(path)).status).toBe(404)
  })

  test("[TH6] scripts, other types and files that are too large are refused, and the old one stays", async () => {
    const token = await roleToken("th-evil", "root", "admin")
    const put = (body: BodyInit, type = "image/png") =>
      call("/v1/theme/logo", { method: "PUT", token, body, headers: { "content-type": type } })
    const before = (await put(LOGO)).json.theme.logo
    const svg = "<svg xmlns='http://www.w3.org/2000/svg'><script>alert(1)</script></svg>"
    for (const type of ["image/svg+xml", "image/png", "text/html", "application/json", "image/png, text/html"])
      expect(await put(svg, type)).toMatchObject({
        status: 422,
        json: { code: "logo_refused", fields: { because: "type" } },
      })
    expect(await put(new Uint8Array(MAX_LOGO_BYTES + 1))).toEqual(refusal(413, "body_too_large"))
    // A body of a hundred megabytes must not be read to its end.
    let chunks = 0
    const endless = new ReadableStream({
      pull(controller) {
        chunks++
        if (chunks > 1_600) controller.close()
        else controller.enqueue(new Uint8Array(64 * 1024))
      },
    })
    expect(await put(endless)).toEqual(refusal(413, "body_too_large"))
    expect(chunks).toBeLessThan(20)
    const polyglot = Uint8Array.from([...LOGO, ...new TextEncoder().encode("<script>alert(1)</script>")])
    expect((await put(polyglot)).json.theme.logo).toBe(before)
  })
})

describe("the page's HTML", () => {
  const ASSETS = {
    fetch: async () =>
      new Response('<!doctype html><meta name="cuecard-theme" content="" /><p>', {
        headers: { "content-type": "text/html; charset=utf-8" },
      }),
  }
  const openPage = async (tenant: string) => await call("/", { env: { ASSETS, PAGE_TENANT: tenant } })
  /** Returns what a browser reads from the attribute. */
  const readHead = (html: string): unknown =>
    JSON.parse((/content="([^"]*)"/.exec(html)?.[1] ?? "").replaceAll("&quot;", '"'))

  test("[TH4] contains the theme of the page's tenant from the start, as CSS properties and text", async () => {
    expect((await openPage("th-page")).text).toContain('content=""')
    await putTheme("th-page", GREEN)
    const { text, headers } = await openPage("th-page")
    expect(readHead(text)).toEqual({
      properties: {
        "--accent": "light-dark(#0b6e4f, #5fd3a6)",
        "--accent-text": "light-dark(#ffffff, #0b0b0f)",
        "--bubble": expect.stringMatching(/^light-dark\(#[0-9a-f]{6}, #[0-9a-f]{6}\)$/),
        "--font": expect.stringContaining("Charter"),
        "--radius": "4px",
        "--density": "0.85",
      },
      texts: {
        app: { name: "Acme Help" },
        welcome: { heading: "How can Acme help?", examples: ["Where is my order?"], hint: "" },
      },
      logo: null,
    })
    expect(headers.get("content-security-policy")).toContain("style-src 'self';")
    expect((await openPage("th-page-other")).text).toContain('content=""')
  })

  test("[TH4] treats text that looks like HTML as plain text", async () => {
    const name = `"><img src=x>&quot;'\`</meta>`
    await putTheme("th-html", { name })
    const { text } = await openPage("th-html")
    expect(text).not.toContain("<img")
    expect(readHead(text)).toMatchObject({ texts: { app: { name } } })
  })
})
