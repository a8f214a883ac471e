/**
 * token-source.ts: requests, caches and renews the page's access token.
 *
 * embedding product | sign-in | development → TOKEN → requests, socket
 * A token is renewed before it expires, shared by concurrent requests, and discarded when the server refuses it.
 * Source: SPEC SO1, SP1, SP2.
 */

import { parseJson } from "../../shared/json.ts"
import { parseTokenResponse } from "../../shared/protocol/responses.ts"
import { errorText } from "../words/page-text.ts"
import { RequestHold } from "./request-hold.ts"
import { createJsonRequest, parseBody, RequestError } from "./http-request.ts"

export interface AccessToken {
  readonly token: string
  /** When to request the next token, in milliseconds since 1970. */
  readonly renewAt: number
}

/** The fields of a token response that the page reads. A sign-in adds the user's name and role. */
export interface TokenResponse {
  readonly token: string
  readonly [field: string]: unknown
}

export interface TokenSourceDeps {
  /** Sends a request, which is aborted after `timeoutMs` or, if that is absent, after a default time. */
  fetch(url: string, init: RequestInit, timeoutMs?: number): Promise<Response>
  now(): number
  /** The hold that `fetch` respects. */
  readonly hold?: RequestHold
  /**
   * The routes that issue tokens to the page, in the order in which they are tried. A 404 means that a route doesn't
   * exist.
   */
  readonly tokenRoutes: readonly string[]
  /** Returns a new token from the product that embeds the page. Used instead of `tokenRoutes`. */
  readonly getEmbeddedToken?: (() => Promise<string>) | undefined
  /** Called with every new token before it is used. */
  onToken?(response: TokenResponse): Promise<void> | void
  /**
   * Called when nobody is signed in, or the user isn't allowed to use the page. After that, the page stops requesting
   * tokens.
   */
  onSignedOut?(refusal: RequestError): void
}

/**
 * A token is renewed this long before it expires, in milliseconds. A short-lived token is renewed after half its
 * lifetime.
 */
const TOKEN_RENEW_MARGIN_MS = 60_000
/** Assumed lifetime of a token without `iat` and `exp`, in milliseconds. */
const DEFAULT_TOKEN_LIFETIME_MS = 120_000

export class TokenSource {
  /** Holds back requests while a rate limit applies. */
  readonly hold: RequestHold
  readonly #deps: TokenSourceDeps
  #cachedToken: AccessToken | null = null
  #pendingToken: Promise<AccessToken> | null = null

  constructor(deps: TokenSourceDeps) {
    this.#deps = deps
    this.hold = deps.hold ?? new RequestHold()
  }

  /**
   * Returns a valid token. While the server is rate limiting the page, everything that needs a token waits for this
   * method.
   */
  getToken(): Promise<AccessToken> {
    if (this.hold.end !== null) return this.hold.end.then(() => this.getToken())
    if (this.#cachedToken !== null && this.#cachedToken.renewAt > this.#deps.now())
      return Promise.resolve(this.#cachedToken)
    this.#pendingToken ??= this.#renewToken().catch((error: unknown) => {
      // After a refusal, the rejected promise is kept, because signing in reloads the page.
      const isSignedOut = error instanceof RequestError && (error.status === 401 || error.status === 403)
      if (isSignedOut) this.#deps.onSignedOut?.(error)
      else this.#pendingToken = null
      throw error
    })
    return this.#pendingToken
  }

  /** Discards the token. Called when the server has refused the token or may have refused it. */
  forgetToken(): void {
    this.#cachedToken = null
  }

  /** Sends a request with the token. If the server refuses the token, sends the request once more with a new one. */
  async fetchAuthorized(path: string, init: RequestInit = {}, timeoutMs?: number): Promise<Response> {
    const fetchOnce = async (): Promise<Response> => {
      const headers = new Headers(init.headers)
      headers.set("authorization", `Bearer ${(await this.getToken()).token}`)
      return await this.#deps.fetch(path, { ...init, headers }, timeoutMs)
    }
    const response = await fetchOnce()
    if (response.status !== 401) return response
    this.forgetToken()
    return await fetchOnce()
  }

  async #renewToken(): Promise<AccessToken> {
    const response = await this.#requestToken()
    await this.#deps.onToken?.(response)
    const { token } = response
    const lifetimeMs = readLifetimeMs(token)
    const renewAt = this.#deps.now() + Math.max(lifetimeMs - TOKEN_RENEW_MARGIN_MS, lifetimeMs / 2)
    this.#pendingToken = null
    this.#cachedToken = { token, renewAt }
    return this.#cachedToken
  }

  async #requestToken(): Promise<TokenResponse> {
    const { getEmbeddedToken, tokenRoutes } = this.#deps
    if (getEmbeddedToken !== undefined) return { token: await getEmbeddedToken() }
    for (const route of tokenRoutes) {
      const response = await this.#deps.fetch(route, createJsonRequest("POST", {}))
      if (response.status !== 404) return await parseBody(response, parseTokenResponse)
    }
    throw new RequestError(401, errorText.signIn)
  }
}

/**
 * Returns the time from `iat` to `exp`. Both come from the server's clock, while the device's clock may be hours off.
 */
function readLifetimeMs(token: string): number {
  const { iat, exp } = readClaims(token)
  return typeof iat === "number" && typeof exp === "number" && exp > iat
    ? (exp - iat) * 1000
    : DEFAULT_TOKEN_LIFETIME_MS
}

/** Returns a key for the token's user that is unique among all tenants; null if the token doesn't name a user. */
export function readUser(token: string): string | null {
  const { tenant, sub } = readClaims(token)
  return typeof tenant === "string" && typeof sub === "string" ? `${tenant}/${sub}` : null
}

/** Returns the claims without verifying the token. `jose` would add several kilobytes to the initial load. */
export function readClaims(token: string): Readonly<Partial<Record<string, unknown>>> {
  const payload = token.split(".")[1] ?? ""
  try {
    return Object(parseJson(atob(payload.replaceAll("-", "+").replaceAll("_", "/"))))
  } catch {
    return {}
  }
}
