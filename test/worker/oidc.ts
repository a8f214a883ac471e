/** oidc.ts: registers real OpenID providers and signs in without a page, for tests in workerd. */

import { env } from "cloudflare:test"
import { nanoid } from "nanoid"
import { expect } from "vitest"
import type { Role } from "../../worker/platform/rpc/claims.ts"
import { issueToken } from "../../worker/auth/verify-token.ts"
import {
  type ConsentAnswer,
  CookieJar,
  type RemoteProvider,
  signInAtProvider,
  startRemoteProvider,
} from "../support/oidc-client.ts"
import { call, HOST, nowSeconds, SECRET } from "./http.ts"

export const CLIENT_ID = "cuecard"
export const CLIENT_SECRET = "a-secret-of-the-test-client-0123456789"
export const AUDIENCE = "https://api.cuecard.test"

/** Starts a separate provider, for a test that rotates keys or makes the provider fail. */
export function startProvider(): Promise<RemoteProvider> {
  return startRemoteProvider(String((env as unknown as Record<string, string>)["UPSTREAM_URL"]))
}

export function tokenOfRole(tenant: string, role: Role): Promise<string> {
  const [expires, issued] = [nowSeconds() + 600, Date.now() / 1000]
  return issueToken({ tenant, user: `the-${role}`, role, expires, issued, token: nanoid() }, SECRET)
}

export async function putIssuer(
  tenant: string,
  body: Record<string, unknown>,
  { name = "idp", role = "owner" as Role } = {},
) {
  const token = await tokenOfRole(tenant, role)
  return await call(`/v1/issuers/${name}`, { method: "PUT", token, body: JSON.stringify(body) })
}

/** Registers a provider for tokens and sign-in. */
export async function registerIssuer(tenant: string, { issuer }: RemoteProvider, change: Record<string, unknown> = {}) {
  const client = { client_id: CLIENT_ID, client_secret: CLIENT_SECRET }
  const put = await putIssuer(tenant, { issuer, audience: AUDIENCE, ...client, ...change })
  expect(put.status, put.text).toBe(200)
  return put.json
}

/**
 * Returns the claims of the provider's API token, which is valid for five minutes. In `change`, undefined removes a
 * claim.
 */
export function foreignClaims({ issuer }: RemoteProvider, change: Record<string, unknown> = {}) {
  const now = nowSeconds()
  return { iss: issuer, aud: AUDIENCE, sub: "ada", iat: now, exp: now + 300, ...change }
}

/** A browser that shows one tenant's page. */
export class TestBrowser {
  readonly jar = new CookieJar()
  readonly providerJar = new CookieJar()
  readonly #vars: Record<string, string>
  readonly #host: string

  constructor(tenant: string, vars: Record<string, string> = {}, host: string = HOST) {
    this.#vars = { AUTH: "jwt", PAGE_TENANT: tenant, ...vars }
    this.#host = host
  }

  async get(path: string, headers: Record<string, string> = {}) {
    return await this.#request(path, { headers })
  }

  async post(path: string, body: unknown = {}, headers: Record<string, string> = {}) {
    const own = { origin: this.#host, "sec-fetch-site": "same-origin" }
    return await this.#request(path, { method: "POST", body: JSON.stringify(body), headers: { ...own, ...headers } })
  }

  async #request(
    path: string,
    { headers, ...options }: Parameters<typeof call>[1] & { headers: Record<string, string> },
  ) {
    const url = new URL(path, this.#host).href
    const response = await call(url, { ...options, env: this.#vars, headers: { cookie: this.jar.header, ...headers } })
    this.jar.read(response)
    return response
  }

  /** Follows the sign-in from `/auth/login` up to the callback. Returns the callback's URL. */
  async beginSignIn(login = "ada", { consent = "allow" as ConsentAnswer, to = "/" } = {}): Promise<string> {
    const begun = await this.get(`/auth/login?provider=idp&to=${encodeURIComponent(to)}`)
    expect(begun.status, begun.text).toBe(302)
    return await signInAtProvider(begun.headers.get("location") ?? "", login, { consent, jar: this.providerJar })
  }

  /** Signs in, and returns the final URL. */
  async signIn(login = "ada", options: { consent?: ConsentAnswer; to?: string } = {}): Promise<string | null> {
    return (await this.get(await this.beginSignIn(login, options))).headers.get("location")
  }
}
