/**
 * names.test.ts: tests that invalid ids of tenants, users and sessions cause the same error wherever they are sent, and
 * create nothing.
 */

import { env } from "cloudflare:test"
import { SignJWT } from "jose"
import { describe, expect, test } from "vitest"
import * as v from "valibot"
import { PAGE_FILES_FOLDER } from "../../shared/asset-limits.ts"
import { MAX_ID_CHARS } from "../../shared/limits.ts"
import { formatApiKey } from "../../worker/auth/api-key.ts"
import { getRegion, newTenantIdSchema, tenantIdSchema } from "../../worker/platform/tenant-id.ts"
import { call, nowSeconds, refusal, tablesOf, tokenOf } from "./http.ts"
import { RECORDED_OPERATOR, RECORDED_SECRET, withRecordedDeployment } from "./recorded-objects.ts"

/** Strings that are not valid ids of any kind. */
const BAD_NAMES: readonly string[] = [
  "",
  " ",
  "a b",
  " a",
  "a\n",
  "a\0",
  "a:b",
  "acme:ada",
  ":",
  "a/b",
  "/",
  "..",
  ".",
  "../acme",
  "a/../b",
  "a\\b",
  "%2e%2e",
  "a%2Fb",
  "*",
  "'; DROP TABLE users",
  "а", // Cyrillic
  "аcme",
  "ａcme", // full width
  "acmé",
  "acme\u0301",
  "acme\u200b", // zero width space
  "\u202eemca", // bidi override
  "\u212a", // Kelvin sign
  "\u017f", // long s
  "\u0131", // dotless i
  "😀",
  "\ud800", // lone surrogate
  "key:abc",
  "x".repeat(MAX_ID_CHARS + 1),
  "x".repeat(10_000),
]

/** Ids with a dot, which are invalid for users and sessions. */
const DOTTED: readonly string[] = ["a.b", "eu.acme", "s1.ada", ".a", "a."]

const BAD_TENANTS: readonly string[] = [
  ...BAD_NAMES,
  "eu.",
  ".acme",
  "acme.",
  "eu.eu.acme",
  "xx.acme",
  "EU.acme",
  "eu..acme",
  "eu:acme",
  "fedramp_high.acme",
  "eu.a b",
  `eu.${"x".repeat(MAX_ID_CHARS + 1)}`,
]

/** Values that are not strings. */
const NO_TEXT: readonly unknown[] = [null, 7, true, [], ["acme"], {}, { toString: "acme" }]

const signClaims = (claims: object): Promise<string> =>
  new SignJWT({ exp: nowSeconds() + 600, ...claims })
    .setProtectedHeader({ alg: "HS256" })
    .sign(new TextEncoder().encode(RECORDED_SECRET))

const showName = (name: unknown): string => JSON.stringify(name).slice(0, 60)

describe("invalid ids", () => {
  test("[RG5] of a tenant, user or session in a token's claims cause token_invalid, and no object is called", async () => {
    await withRecordedDeployment({}, async ({ asked, fetch }) => {
      const cases: { claims: object }[] = [
        ...[...BAD_TENANTS, ...NO_TEXT].map((tenant) => ({ claims: { tenant, sub: "ada" } })),
        ...[...BAD_NAMES, ...DOTTED, ...NO_TEXT].map((sub) => ({ claims: { tenant: "names", sub } })),
        ...[...BAD_NAMES, ...DOTTED, 7, []].map((session) => ({
          claims: { tenant: "names", sub: "ada", scope: "external", session },
        })),
        { claims: { sub: "ada" } },
        { claims: { tenant: "names" } },
        ...["root", "Owner", "", 1, ["owner"]].map((role) => ({ claims: { tenant: "names", sub: "ada", role } })),
      ]
      for (const { claims } of cases) {
        const headers = { authorization: `Bearer ${await signClaims(claims)}` }
        for (const path of ["/v1/sessions", "/v1/sessions/s1/conversation/recent", "/external/sessions/s1/events"]) {
          const response = await fetch(path, { headers })
          expect([response.status, (await response.json<{ code: string }>()).code], showName(claims)).toEqual([
            401,
            "token_invalid",
          ])
        }
      }
      expect([...asked]).toEqual([])
    })
  })

  test("[RG5] of a session or user in a path, a query or a body cause the same error, and only the caller's directory and tenant are called", async () => {
    await withRecordedDeployment({}, async ({ asked, fetch, tokenFor }) => {
      const token = await tokenFor({ tenant: "names", user: "ada" })
      const headers = { authorization: `Bearer ${token}`, "content-type": "application/json" }
      const sendRequest = async (method: string, path: string, body?: unknown) => {
        const init = body === undefined ? { method, headers } : { method, headers, body: JSON.stringify(body) }
        const response = await fetch(path, init)
        const { code, text } = await response.json<{ code: string; text: string }>()
        return { status: response.status, code, text }
      }
      const createFieldFault = (name: string) => ({
        status: 400,
        code: "field_invalid",
        text: expect.stringContaining(`"${name}"`),
      })
      for (const name of [...BAD_NAMES, ...DOTTED]) {
        // Some names can't be tested, because a path can't have an empty segment, and the platform resolves dot
        // segments, even escaped ones.
        const escaped = toUrlText(name)
        const isPath = isSegment(name)
        if (isPath) {
          const unknown = { status: 404, code: "session_unknown" }
          for (const [method, rest] of [
            ["GET", "/conversation/recent"],
            ["GET", "/socket"],
            ["DELETE", ""],
            ["GET", "/viewers"],
          ] as const)
            expect(await sendRequest(method, `/v1/sessions/${escaped}${rest}`), showName(name)).toMatchObject(unknown)
          expect(
            await sendRequest("POST", `/v1/sessions/${escaped}/messages`, { content: "x" }),
            showName(name),
          ).toMatchObject(unknown)
        }
        if (escaped !== null) {
          expect(await sendRequest("GET", `/v1/sessions/s1/events?owner=${escaped}`), showName(name)).toMatchObject(
            createFieldFault("owner"),
          )
          expect(await sendRequest("GET", `/v1/sessions?after=1.1.${escaped}`), showName(name)).toMatchObject(
            createFieldFault("after"),
          )
          expect(await sendRequest("GET", `/v1/sessions/shared?after=1.ada.${escaped}`), showName(name)).toMatchObject(
            createFieldFault("after"),
          )
        }
        expect(await sendRequest("POST", "/v1/sessions", { id: name }), showName(name)).toMatchObject(
          createFieldFault("id"),
        )
      }
      for (const name of NO_TEXT.filter((value) => value !== null))
        expect(await sendRequest("POST", "/v1/sessions", { id: name }), showName(name)).toMatchObject(
          createFieldFault("id"),
        )
      expect([...asked].sort()).toEqual(["names", "names:ada"])
    })
    expect(await tablesOf(env.DIRECTORY.getByName("names:ada"))).toEqual([])
  })

  test("[RG5] of a tenant or user in requests of an operator, an API key or an administrator cause the same error, and no object with that name is called", async () => {
    await withRecordedDeployment({}, async ({ asked, fetch, tokenFor }) => {
      const sendRequest = async (method: string, path: string, token: string, body?: unknown) => {
        const headers = { authorization: `Bearer ${token}`, "content-type": "application/json" }
        const response = await fetch(
          path,
          body === undefined ? { method, headers } : { method, headers, body: JSON.stringify(body) },
        )
        return [response.status, (await response.json<{ code: string; key: string }>()).code]
      }
      const created = await fetch("/v1/tenants", {
        method: "POST",
        headers: { authorization: `Bearer ${RECORDED_OPERATOR}`, "content-type": "application/json" },
        body: '{"id":"names-keys"}',
      })
      const { key } = await created.json<{ key: string }>()
      const owner = await tokenFor({ tenant: "names-keys", user: "ada", role: "owner" })
      for (const id of [...BAD_TENANTS, "Acme", "a_b", ...NO_TEXT])
        expect(await sendRequest("POST", "/v1/tenants", RECORDED_OPERATOR, { id }), showName(id)).toEqual([
          400,
          "field_invalid",
        ])
      for (const user of [...BAD_NAMES, ...DOTTED, ...NO_TEXT])
        expect(await sendRequest("POST", "/v1/tokens", key, { user }), showName(user)).toEqual([400, "field_invalid"])
      for (const name of [...BAD_NAMES, ...DOTTED].filter(isSegment)) {
        const escaped = encodeURIComponent(name)
        expect(await sendRequest("GET", `/v1/users/${escaped}`, owner), showName(name)).toEqual([404, "user_unknown"])
        expect(await sendRequest("POST", `/v1/users/${escaped}/suspend`, owner), showName(name)).toEqual([
          404,
          "user_unknown",
        ])
      }
      for (const name of BAD_TENANTS.filter(isSegment))
        expect(
          await sendRequest("POST", `/v1/tenants/${encodeURIComponent(name)}/keys`, RECORDED_OPERATOR, { name: "k" }),
          showName(name),
        ).toEqual([400, "field_invalid"])
      // Other names can't be tested, because a header can carry only printable ASCII characters. Whitespace is not
      // tested either.
      for (const name of BAD_TENANTS.filter((name) => /^[\x21-\x7e]*$/.test(name)))
        expect(
          await sendRequest(
            "GET",
            "/v1/keys",
            formatApiKey({ tenant: name, id: "0".repeat(10), secret: "0".repeat(40) }),
          ),
          showName(name),
        ).toEqual([401, "key_invalid"])
      const known = ["names-keys", "names-keys:ada", "tenants"]
      expect([...asked].filter((name) => !known.includes(name))).toEqual([])
    })
  })

  test("[RG5] of a user with whom a session is to be shared cause field_invalid, and no directory of such a user is called", async () => {
    const token = await tokenOf("names", "eve")
    await call("/v1/sessions", { method: "POST", token, body: '{"id":"mine"}' })
    await withRecordedDeployment({}, async ({ asked, fetch, tokenFor }) => {
      const headers = { authorization: `Bearer ${await tokenFor({ tenant: "names", user: "eve" })}` }
      for (const name of [...BAD_NAMES, ...DOTTED]) {
        const escaped = toUrlText(name)
        if (!isSegment(name)) continue
        for (const method of ["PUT", "DELETE"]) {
          const response = await fetch(`/v1/sessions/mine/viewers/${escaped}`, { method, headers })
          expect([response.status, (await response.json<{ code: string }>()).code], showName(name)).toEqual([
            400,
            "field_invalid",
          ])
        }
      }
      expect([...asked].filter((name) => !["names", "names:eve", "names:mine"].includes(name))).toEqual([])
    })
  })

  test("[RG5] a claims header sent by a client is ignored", async () => {
    const token = await tokenOf("names", "ben")
    await call("/v1/sessions", { method: "POST", token, body: '{"id":"bens"}' })
    const forged = JSON.stringify({
      tenant: "names",
      user: "ben",
      expires: 4e9,
      token: null,
      issued: 0,
      sharedBy: "ben",
    })
    const headers = { "x-cuecard-claims": forged, upgrade: "websocket" }
    const eve = await tokenOf("names", "eve")
    expect(await call("/v1/sessions/bens/socket", { token: eve, headers })).toEqual(refusal(404, "session_unknown"))
    expect(await call("/v1/sessions/bens/socket", { headers })).toEqual(refusal(401, "token_missing"))
  })
})

describe("ids of tenants", () => {
  test("[RG6] from version 0.1.0 are still valid, with or without a region; new ones must be lower case, like a host name", () => {
    for (const name of BAD_TENANTS) {
      expect(v.is(tenantIdSchema, name), showName(name)).toBe(false)
      expect(v.is(newTenantIdSchema, name), showName(name)).toBe(false)
    }
    const upTo = (count: number): string => "x".repeat(count)
    const old = ["acme", "Acme", "a_b", "-", "demo", "eu.Acme", upTo(MAX_ID_CHARS), `us.${upTo(MAX_ID_CHARS)}`]
    expect(old.filter((name) => !v.is(tenantIdSchema, name))).toEqual([])
    const fresh = ["acme", "a", "a-1", "7", "eu", "eu.acme", "us.acme", "fedramp.acme", "fedramp-high.acme", upTo(40)]
    expect(fresh.filter((name) => !v.is(newTenantIdSchema, name) || !v.is(tenantIdSchema, name))).toEqual([])
    const refused = ["Acme", "a_b", "-a", "a-", "-", "eu.Acme", upTo(41), `eu.${upTo(41)}`]
    expect(refused.filter((name) => v.is(newTenantIdSchema, name))).toEqual([])
  })

  test("[DP13] can't be the folder of the page's files", () => {
    for (const name of [PAGE_FILES_FOLDER, `eu.${PAGE_FILES_FOLDER}`, `acme${PAGE_FILES_FOLDER}`, "~"])
      expect(v.is(tenantIdSchema, name), name).toBe(false)
  })

  test("[RG6] name their region exactly", () => {
    const regions = ["acme", "eu", "eu-acme", "eu.acme", "us.acme", "fedramp.acme", "fedramp-high.acme", "xx.acme"]
    expect(regions.map(getRegion)).toEqual([null, null, null, "eu", "us", "fedramp", "fedramp-high", null])
  })
})

/** Returns whether a name can be a path segment. Dot segments can't, because every URL parser resolves them. */
function isSegment(name: string): boolean {
  const escaped = toUrlText(name)
  return escaped !== null && !/^(?:|\.{1,2}|%2e%2e)$/i.test(escaped)
}

/** URL-encodes text. Returns null if it can't be encoded. */
function toUrlText(name: string): string | null {
  try {
    return encodeURIComponent(name)
  } catch {
    return null
  }
}
