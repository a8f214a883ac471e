/**
 * sign-in-flow.ts: begins and completes a sign-in with a provider of the tenant.
 */

import { fail } from "../../shared/fault.ts"
import { SIGN_IN_MS } from "../../shared/limits.ts"
import type { SignInError } from "../../shared/protocol/sign-in.ts"
import { type ForeignIdentity, verifyIdToken } from "../auth/issuer/foreign-token.ts"
import { parseToken } from "../auth/issuer/token-parts.ts"
import { CLOCK_TOLERANCE_SECONDS } from "../auth/verify-token.ts"
import type { Env } from "../env.ts"
import { describeError, log } from "../platform/log.ts"
import { directoryStub, tenantStub } from "../platform/rpc/object-stubs.ts"
import type { SignInClient } from "../settings/issuer-config.ts"
import { createLoginId, createLoginSecret, hashLoginSecret } from "./login-secret.ts"
import { createAuthorizationUrl, createTransactionSecrets, fetchIdToken, toSignInError } from "./oauth-client.ts"
import { findClient, findKeys } from "./sign-in-client.ts"
import type { LoginCookie, SignInTransaction } from "./sign-in-cookies.ts"

/** Maximum length of `to`, in characters: enough for a path of the page with an id. */
const MAX_TO_CHARS = 512

/** The result of one step: its value, or the reason why the sign-in failed. */
export type Step<T> = { readonly ok: true; readonly value: T } | { readonly ok: false; readonly error: SignInError }

function failStep(error: SignInError): { readonly ok: false; readonly error: SignInError } {
  return { ok: false, error }
}

/**
 * Returns the URL to which a provider redirects the browser. The URL must be registered with the provider. Each
 * provider has its own URL, so that one provider's response is never mistaken for another's (RFC 9700, 4.4).
 */
function getRedirectUri(origin: string, provider: string): string {
  return `${origin}/auth/callback/${provider}`
}

/**
 * Returns a path of this origin, with its query and fragment; `/` for anything else, so that a link cannot lead to
 * another site after the sign-in.
 */
export function toLocalPath(to: string, origin: string): string {
  const isPath = /^\/(?![/\\])[\x21-\x7e]*$/.test(to) && to.length <= MAX_TO_CHARS && URL.canParse(to, origin)
  if (!isPath) return "/"
  const { origin: target, pathname, search, hash } = new URL(to, origin)
  const path = `${pathname}${search}${hash}`
  return target !== origin || path.startsWith("//") || pathname.startsWith("/auth/") ? "/" : path
}

/** Begins a sign-in. Errors: `provider_unknown`; `internal` if the client's secret cannot be decrypted. */
export async function beginSignIn(
  env: Env,
  tenant: string,
  provider: string,
  to: string,
  origin: string,
): Promise<Step<{ readonly location: string; readonly transaction: SignInTransaction }>> {
  const client = await findClient(env, tenant, provider)
  if (client === "secret_unreadable") return failStep("internal")
  if (client === null) return failStep("provider_unknown")
  const secrets = createTransactionSecrets()
  const location = await createAuthorizationUrl(client, secrets, getRedirectUri(origin, provider))
  const { generation } = client
  const expires = Date.now() + SIGN_IN_MS
  const transaction = { tenant, provider, generation, ...secrets, to: toLocalPath(to, origin), expires }
  return { ok: true, value: { location, transaction } }
}

/**
 * Verifies the user who returned from the provider, registers the user, and adds the sign-in to the user's directory.
 * Each step can be repeated, so a sign-in that was interrupted leaves nothing that blocks the next one.
 */
export async function completeSignIn(
  env: Env,
  callback: URL,
  transaction: SignInTransaction,
): Promise<Step<LoginCookie>> {
  try {
    return await completeCallback(env, callback, transaction)
  } catch (error) {
    // The browser came here by a navigation, so the page must show what happened.
    log("sign_in_crashed", { tenant: transaction.tenant, provider: transaction.provider, error: describeError(error) })
    return failStep("internal")
  }
}

async function completeCallback(env: Env, callback: URL, transaction: SignInTransaction): Promise<Step<LoginCookie>> {
  const { tenant, provider, state } = transaction
  if (callback.searchParams.get("state") !== state) return failStep("state_invalid")
  const client = await findClient(env, tenant, provider)
  if (client === "secret_unreadable") return failStep("internal")
  if (client === null || client.generation !== transaction.generation) return failStep("provider_unknown")
  const identity = await identifyUser(env, client, callback, transaction)
  return identity.ok ? await addLogin(env, transaction, identity.value) : identity
}

async function identifyUser(
  env: Env,
  client: SignInClient,
  callback: URL,
  transaction: SignInTransaction,
): Promise<Step<ForeignIdentity>> {
  let idToken: string
  try {
    idToken = await fetchIdToken(env, client, transaction, callback, getRedirectUri(callback.origin, client.name))
  } catch (error) {
    log("sign_in_failed", { tenant: transaction.tenant, provider: client.name, error: describeError(error) })
    return failStep(toSignInError(error))
  }
  return await verifyIdentity(env, client, transaction.tenant, idToken)
}

/**
 * Verifies the identity. The signature is verified even though the token came directly from the provider, so that the
 * connection is not the only proof.
 */
async function verifyIdentity(
  env: Env,
  { name, config }: SignInClient,
  tenant: string,
  idToken: string,
): Promise<Step<ForeignIdentity>> {
  const now = Date.now()
  const parts = parseToken(idToken)
  if (parts === null) return failStep("identity_invalid")
  if (parts.payload.iat > now / 1000 + CLOCK_TOLERANCE_SECONDS) return failStep("clock_skewed")
  const keys = await findKeys(env, tenant, name, parts.header.kid ?? null)
  if (keys === null) return failStep("provider_unknown")
  const identity = await verifyIdToken(idToken, tenant, keys, config.client_id, now)
  if (identity.ok) return { ok: true, value: identity.value }
  if (identity.fault.reason === "token_expired") return failStep("clock_skewed")
  return failStep(identity.fault.reason === "issuer_unreachable" ? "provider_unreachable" : "identity_invalid")
}

async function addLogin(
  env: Env,
  { tenant, provider, generation, state }: SignInTransaction,
  { user, name, role }: ForeignIdentity,
): Promise<Step<LoginCookie>> {
  const signedIn = { issuer: provider, generation, role }
  const [login, secret] = [await createLoginId(state), createLoginSecret()]
  const newLogin = { id: login, hash: await hashLoginSecret(secret), ...signedIn }
  const directory = directoryStub(env, { tenant, user })
  // A directory of an earlier version does not have the method.
  let added = await directory.addKnownLogin(newLogin).catch(() => fail({ reason: "user_unknown" }))
  if (!added.ok && added.fault.reason === "user_suspended") return failStep("user_suspended")
  if (!added.ok && added.fault.reason === "user_unknown") {
    const admitted = await tenantStub(env, tenant).admitSignIn({ id: user, name, ...signedIn })
    if (admitted === null) return failStep("provider_unknown")
    if (admitted.status === "erasing") return failStep("user_erased")
    if (admitted.status !== "active") return failStep("user_suspended")
    added = await directory.addLogin(newLogin)
  }
  if (added.ok) return { ok: true, value: { tenant, user, login, secret, provider } }
  if (added.fault.reason === "sign_in_required") return failStep("state_invalid")
  log("sign_in_failed", { tenant, provider, message: added.fault.reason })
  return failStep("internal")
}
