/**
 * sign-in.ts: the types that the page and the routes under `/auth` exchange. Pure.
 */

/**
 * The reasons why a sign-in can fail. `/auth/callback` and `/auth/login` redirect to `/#/signin-error/<code>`, and the
 * page shows a message for the code.
 *
 * - `consent_denied`: the user declined at the provider.
 * - `state_invalid`: the sign-in was not begun in this browser, took too long, or was already completed.
 * - `provider_unknown`: the tenant has no such provider.
 * - `provider_unreachable`: the provider could not be reached, or did not respond in time.
 * - `provider_failed`: the provider refused the request or responded with an error.
 * - `identity_invalid`: the identity that the provider returned could not be verified.
 * - `clock_skewed`: the clocks of provider and server differ too much.
 * - `user_suspended`: the user is suspended.
 * - `user_erased`: the user's account and data were deleted.
 * - `attempts_limited`: too many sign-ins from this IP address have failed.
 * - `internal`: this server failed.
 */
export const SIGN_IN_ERRORS = [
  "consent_denied",
  "state_invalid",
  "provider_unknown",
  "provider_unreachable",
  "provider_failed",
  "identity_invalid",
  "clock_skewed",
  "user_suspended",
  "user_erased",
  "attempts_limited",
  "internal",
] as const

export type SignInError = (typeof SIGN_IN_ERRORS)[number]

/** The start of the URL at which the page shows a sign-in error. */
export const SIGN_IN_ERROR_PATH = "/#/signin-error/"

/** The response to `POST /auth/logout` if the user should also sign out at the provider. */
export interface SignedOut {
  /** The https URL at the provider where the user signs out. */
  readonly location: string
}

/** The response to `GET /auth/providers`. */
export interface SignInProviders {
  /** The tenant of this host; null if the host has none. */
  readonly tenant: string | null
  readonly providers: readonly SignInProvider[]
}

export interface SignInProvider {
  /** The value of `provider` in `/auth/login?provider=`. */
  readonly name: string
  /** The text of the sign-in button. */
  readonly label: string
}

/** The response to `POST /auth/token`: a token with the scope `user`. */
export interface PageToken {
  readonly token: string
  /** When the token expires, in seconds since 1970. */
  readonly expires: number
  readonly tenant: string
  readonly user: { readonly id: string; readonly name: string | null; readonly role: string }
}
