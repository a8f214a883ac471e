/** hostile-foreign-tokens.test.ts: tests that forged, malformed and expired tokens of other issuers are refused. */

import { env } from "cloudflare:test"
import { CompactSign, exportSPKI, importJWK, type JWK, SignJWT, generateKeyPair, exportJWK, UnsecuredJWT } from "jose"
import { beforeAll, describe, expect, test } from "vitest"
import { verifyForeignToken } from "../../worker/auth/issuer/foreign-token.ts"
import type { Env } from "../../worker/env.ts"
import type { RemoteProvider } from "../support/oidc-client.ts"
import { call, nowSeconds, refusal, SECRET, tokenOf } from "./http.ts"
import { AUDIENCE, foreignClaims, putIssuer, registerIssuer, startProvider, tokenOfRole } from "./oidc.ts"

const TENANT = "ht-acme"

let provider: RemoteProvider
/** A provider that another tenant registered. */
let other: RemoteProvider
/** A provider that nobody registered. */
let unregistered: RemoteProvider
let publicKey: JWK

beforeAll(async () => {
  ;[provider, other, unregistered] = await Promise.all([startProvider(), startProvider(), startProvider()])
  await registerIssuer(TENANT, provider, { role_claim: "role", authorized_parties: ["web"] })
  await registerIssuer("ht-other", other)
  const { keys } = (await (await fetch(`${provider.issuer}/jwks`)).json()) as { keys: JWK[] }
  publicKey = keys.find(({ kty }) => kty === "RSA") ?? {}
})

const listSessions = (token: string) => call("/v1/sessions", { token })
const whoIs = async (token: string) => await verifyForeignToken(env as Env, token, Date.now())

function encodePart(value: unknown): string {
  const text = typeof value === "string" ? value : JSON.stringify(value)
  return btoa(unescape(encodeURIComponent(text)))
    .replaceAll("+", "-")
    .replaceAll("/", "_")
    .replaceAll("=", "")
}

const signToken = (change: Record<string, unknown> = {}, header: Record<string, unknown> = {}) =>
  provider.sign({ header, payload: foreignClaims(provider, change) })

/** Returns a valid token whose header was replaced after signing. */
async function withHeader(header: unknown): Promise<string> {
  const [, payload, signature] = (await signToken()).split(".")
  return `${encodePart(header)}.${payload}.${signature}`
}

async function hmacToken(secret: string | Uint8Array, header: Record<string, unknown> = {}): Promise<string> {
  const bytes = typeof secret === "string" ? new TextEncoder().encode(secret) : secret
  const own = { tenant: TENANT, user: "root", scope: "admin", role: "owner" }
  return await new SignJWT({ ...foreignClaims(provider), ...own })
    .setProtectedHeader({ alg: "HS256", ...header })
    .sign(bytes)
}

/** Returns a token that an attacker signed with their own key. */
async function selfSigned(createHeader: (key: JWK) => Record<string, unknown>): Promise<string> {
  const { privateKey, publicKey: own } = await generateKeyPair("RS256", { extractable: true })
  const payload = new TextEncoder().encode(JSON.stringify(foreignClaims(provider)))
  const header = { alg: "RS256", kid: publicKey.kid ?? "", ...createHeader(await exportJWK(own)) }
  return await new CompactSign(payload).setProtectedHeader(header).sign(privateKey)
}

async function publicKeyPem(): Promise<string> {
  return await exportSPKI((await importJWK(publicKey, "RS256", { extractable: true })) as CryptoKey)
}

/**
 * Tokens that must be refused. Unless its name says otherwise, a token is signed with the registered provider's key.
 */
const HOSTILE: readonly (readonly [string, () => Promise<string>])[] = [
  // The signature.
  ["alg none", async () => new UnsecuredJWT(foreignClaims(provider)).encode()],
  ["alg None", () => withHeader({ alg: "None" })],
  ["alg missing", () => withHeader({ typ: "JWT" })],
  ["an alg that is not a string", () => withHeader({ alg: ["RS256"] })],
  ["an alg in lower case", () => withHeader({ alg: "rs256", kid: publicKey.kid })],
  ["an unknown alg", () => withHeader({ alg: "RS1", kid: publicKey.kid })],
  ["an encrypted token's header", () => withHeader({ alg: "RSA-OAEP", enc: "A256GCM" })],
  ["no signature", async () => `${(await signToken()).split(".").slice(0, 2).join(".")}.`],
  ["two parts", async () => (await signToken()).split(".").slice(0, 2).join(".")],
  ["four parts", async () => `${await signToken()}.${encodePart("{}")}`],
  ["a changed signature", async () => (await signToken()).replace(/.{6}$/, "AAAAAA")],
  [
    "a signature of another token",
    async () =>
      `${(await signToken({ sub: "eve" })).split(".").slice(0, 2).join(".")}.${(await signToken()).split(".")[2]}`,
  ],
  ["an algorithm that the issuer does not use", () => signToken({}, { alg: "RS512" })],
  ["PS256 stated for an RS256 signature", () => withHeader({ alg: "PS256", kid: publicKey.kid })],
  ["HS256 signed with the public key as PEM", async () => await hmacToken(await publicKeyPem())],
  ["HS256 signed with the public key as trimmed PEM", async () => await hmacToken((await publicKeyPem()).trim())],
  ["HS256 signed with the public key as JWK", async () => await hmacToken(JSON.stringify(publicKey))],
  ["HS256 signed with the modulus", async () => await hmacToken(publicKey.n ?? "")],
  ["HS256 signed with a secret of NUL bytes", async () => await hmacToken("\0".repeat(32))],
  ["HS512 signed with the public key", async () => await hmacToken(await publicKeyPem(), { alg: "HS512" })],
  ["HS256 with the provider's kid", async () => await hmacToken(await publicKeyPem(), { kid: publicKey.kid })],
  // Keys inside the token.
  ["a jwk header", () => selfSigned((jwk) => ({ jwk }))],
  ["a jwk header without kid", () => selfSigned((jwk) => ({ jwk, kid: undefined }))],
  ["a jku header", () => selfSigned(() => ({ jku: `${unregistered.issuer}/jwks` }))],
  ["a jku header at the issuer's host", () => selfSigned(() => ({ jku: `${provider.issuer}/evil` }))],
  ["an x5u header", () => selfSigned(() => ({ x5u: `${unregistered.issuer}/cert` }))],
  ["an x5c header", () => selfSigned(() => ({ x5c: [btoa("not a certificate")] }))],
  ["an x5t header", () => selfSigned(() => ({ x5t: "AAAA" }))],
  ["an attacker's key under the provider's kid", () => selfSigned(() => ({}))],
  // The key's name (`kid`).
  ["an unknown kid", () => signToken({}, { kid: "unknown" })],
  ["a kid that is a path", () => signToken({}, { kid: "../../../../dev/null" })],
  ["a kid that is a URL", () => signToken({}, { kid: `${unregistered.issuer}/jwks` })],
  ["a kid that is SQL", () => signToken({}, { kid: "' OR 1=1 --" })],
  ["a kid of a tenant's key", () => signToken({}, { kid: `cuecard:${TENANT}:1` })],
  ["a kid that is a number", () => signToken({}, { kid: 7 })],
  ["a kid that is an object", () => signToken({}, { kid: { toString: 1 } })],
  ["a huge kid", () => signToken({}, { kid: "k".repeat(4_000) })],
  ["a kid that names a prototype", () => signToken({}, { kid: "__proto__" })],
  ["the kid of a key of another kind", () => signToken({}, { alg: "ES256", kid: publicKey.kid })],
  // Other headers.
  ["an unknown critical header", () => signToken({}, { crit: ["x"], x: 1 })],
  ["an unencoded payload", () => withHeader({ alg: "RS256", kid: publicKey.kid, b64: false, crit: ["b64"] })],
  ["a compressed payload", () => withHeader({ alg: "RS256", kid: publicKey.kid, zip: "DEF" })],
  ["the type of a logout token", () => signToken({}, { typ: "logout+jwt" })],
  ["the type of a proof", () => signToken({}, { typ: "dpop+jwt" })],
  ["the type of a security event", () => signToken({}, { typ: "secevent+jwt" })],
  ["the type of an introspection", () => signToken({}, { typ: "token-introspection+jwt" })],
  ["a type that is not a string", () => signToken({}, { typ: 1 })],
  ["a header that is a list", () => withHeader([])],
  ["a header that is not JSON", () => withHeader("alg=RS256")],
  ["alg twice", () => withHeader('{"alg":"RS256","alg":"none"}')],
  // Issuer and audience.
  ["another issuer", () => signToken({ iss: "https://evil.example.com" })],
  ["the issuer with a slash", () => signToken({ iss: `${provider.issuer}/` })],
  ["the issuer in upper case", () => signToken({ iss: provider.issuer.toUpperCase() })],
  ["no issuer", () => signToken({ iss: undefined })],
  ["an issuer that is a list", () => signToken({ iss: [provider.issuer] })],
  ["the issuer of another tenant, signed by ours", () => signToken({ iss: other.issuer })],
  ["our issuer, signed by another tenant's", () => other.sign({ payload: foreignClaims(provider) })],
  ["our issuer, signed by an unregistered provider", () => unregistered.sign({ payload: foreignClaims(provider) })],
  ["an issuer that nobody registered", () => unregistered.sign({ payload: foreignClaims(unregistered) })],
  ["another audience", () => signToken({ aud: "another" })],
  ["the client as audience", () => signToken({ aud: "cuecard" })],
  ["no audience", () => signToken({ aud: undefined })],
  ["an empty list of audiences", () => signToken({ aud: [] })],
  ["too many audiences", () => signToken({ aud: [AUDIENCE, "a", "b"] })],
  ["an audience that is an object", () => signToken({ aud: { 0: AUDIENCE } })],
  ["a part of the audience", () => signToken({ aud: AUDIENCE.slice(0, -1) })],
  ["another authorized party", () => signToken({ azp: "another" })],
  ["an authorized party that is a list", () => signToken({ azp: ["cuecard"] })],
  // Times.
  ["no expiry", () => signToken({ exp: undefined })],
  ["an expiry that is text", () => signToken({ exp: "4000000000" })],
  [
    "an infinite expiry",
    () =>
      provider.sign({ payload: {}, text: JSON.stringify(foreignClaims(provider)).replace(/"exp":\d+/, '"exp":1e999') }),
  ],
  ["a start in the future", () => signToken({ nbf: nowSeconds() + 60 })],
  ["a start that is text", () => signToken({ nbf: "0" })],
  ["a time of issue in the future", () => signToken({ iat: nowSeconds() + 60 })],
  ["no time of issue", () => signToken({ iat: undefined })],
  // The user.
  ["no subject", () => signToken({ sub: undefined })],
  ["an empty subject", () => signToken({ sub: "" })],
  ["a subject that is a number", () => signToken({ sub: 7 })],
  ["a huge subject", () => signToken({ sub: "s".repeat(2_000) })],
  // Text that parsers interpret differently.
  [
    "a duplicate claim",
    () => provider.sign({ payload: {}, text: JSON.stringify(foreignClaims(provider)).replace("{", '{"sub":"eve",') }),
  ],
  [
    "a duplicate claim, once escaped",
    () =>
      provider.sign({ payload: {}, text: JSON.stringify(foreignClaims(provider)).replace("{", '{"\\u0073ub":"eve",') }),
  ],
  [
    "a duplicate nested name",
    () =>
      signToken({}).then(() =>
        provider.sign({
          payload: {},
          text: JSON.stringify(foreignClaims(provider)).replace("{", '{"x":{"a":1,"a":2},'),
        }),
      ),
  ],
  ["a payload that is a list", () => provider.sign({ payload: {}, text: "[]" })],
  ["a payload that is not JSON", () => provider.sign({ payload: {}, text: "hello" })],
  [
    "a payload that is too deep",
    () =>
      provider.sign({
        payload: {},
        text: JSON.stringify(foreignClaims(provider)).replace("{", `{"x":${"[".repeat(40)}${"]".repeat(40)},`),
      }),
  ],
  ["an oversized payload", () => signToken({ x: "x".repeat(20_000) })],
  ["padding", async () => (await signToken()).replace(".", "=.")],
  ["standard base64", async () => (await signToken({ x: "???>>>" })).replaceAll("_", "/").replaceAll("-", "+")],
  ["a line break", async () => (await signToken()).replace(".", "\n.")],
]

describe("a hostile token", () => {
  test.each(HOSTILE)("[OI5] is refused: %s", async (_name, create) => {
    const token = await create()
    const answer = await whoIs(token)
    expect(answer, token.slice(0, 300)).toEqual({ ok: false, fault: { reason: "token_invalid" } })
    if (/^[\x21-\x7e]+$/.test(token) && token.length < 8_000)
      expect(await listSessions(token)).toEqual(refusal(401, "token_invalid"))
  })

  test("[OI5] is refused if it has expired", async () => {
    expect(await listSessions(await signToken({ exp: nowSeconds() - 60 }))).toEqual(refusal(401, "token_expired"))
  })

  test("[OI5] at least 80 kinds of tokens are tried, and only the registered provider's URLs are fetched", async () => {
    expect(HOSTILE.length).toBeGreaterThanOrEqual(80)
    const own = new Set(await provider.listRequests())
    expect([...own].sort()).toEqual(["GET /.well-known/openid-configuration", "GET /jwks"])
    expect(await unregistered.listRequests()).toEqual([])
  })

  test("[OI5] the deployment's own tokens, and tokens signed with part of its secret, aren't accepted as foreign tokens", async () => {
    expect(await whoIs(await tokenOf(TENANT, "ada"))).toMatchObject({ ok: false })
    const forged = await hmacToken(SECRET.slice(0, -1))
    expect(await listSessions(forged)).toEqual(refusal(401, "token_invalid"))
  })

  test("[OI5] [OI17] each of two tenants that share a provider accepts only its own audience", async () => {
    expect((await putIssuer("ht-shared", { issuer: provider.issuer, audience: "shared" })).status).toBe(200)
    expect(await whoIs(await signToken({ aud: "shared" }))).toMatchObject({ value: { tenant: "ht-shared" } })
    expect(await whoIs(await signToken())).toMatchObject({ value: { tenant: TENANT } })
    // A token for both audiences would belong to both tenants.
    expect(await whoIs(await signToken({ aud: ["shared", AUDIENCE] }))).toMatchObject({
      fault: { reason: "token_invalid" },
    })
    const token = await tokenOfRole("ht-shared", "owner")
    await call("/v1/issuers/idp", { method: "DELETE", token })
    expect(await whoIs(await signToken({ aud: "shared" }))).toMatchObject({ fault: { reason: "token_invalid" } })
  })
})
