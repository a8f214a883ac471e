/**
 * page-token.ts: issues tokens for the page from the cookie of a sign-in, and ends sign-ins.
 */

import { fail, type Result, succeed } from "../../shared/fault.ts"
import { PAGE_TOKEN_SECONDS } from "../../shared/limits.ts"
import type { PageToken } from "../../shared/protocol/sign-in.ts"
import { issueNewToken } from "../auth/new-token.ts"
import { getTenantAccess } from "../auth/tenant-access-cache.ts"
import { recordFailure } from "../auth/record-failure.ts"
import type { Env } from "../env.ts"
import { describeError, logError } from "../platform/log.ts"
import type { Actor } from "../platform/rpc/actor.ts"
import type { UsedLogin } from "../platform/rpc/directory-rpc.ts"
import { directoryStub, tenantStub } from "../platform/rpc/object-stubs.ts"
import { deriveNextSecret, hashLoginSecret } from "./login-secret.ts"
import { createLogoutUrl, findClient } from "./sign-in-client.ts"
import type { Admission, LoginCookie } from "./sign-in-cookies.ts"

/**
 * How long tokens can reuse the name and role of an earlier token if no change is known, in milliseconds. This covers a
 * working day, so that not every visit calls the tenant's object. The directory is notified of changes, so this limit
 * only matters if a notice was lost. SPEC CM5.
 */
const ADMISSION_MS = 12 * 60 * 60_000

/**
 * Stands for the version of a directory from an earlier release. It matches no other version, so the tenant's object is
 * called each time.
 */
const NO_VERSION = -1

/**
 * Issues a token and replaces the cookie's secret. The user's state is read each time, and the name and role at least
 * once in ADMISSION_MS (SPEC CM5).
 *
 * Errors: `sign_in_required` if the sign-in has ended or was copied, or if its issuer was removed; `user_suspended`,
 * `user_erased`.
 */
export async function issuePageToken(
  env: Env,
  cookie: LoginCookie,
  actor: Actor,
): Promise<Result<{ readonly body: PageToken; readonly cookie: LoginCookie }>> {
  const { tenant, user, login } = cookie
  const asOf = Date.now()
  const { nextSecret, ...secrets } = await deriveNextSecret(env.JWT_SECRET ?? "", cookie)
  const used = await directoryStub(env, cookie).useLogin(login, secrets)
  if (!used.ok) return used
  if (used.value === "copied") {
    await recordCopy(env, cookie, actor)
    return fail({ reason: "sign_in_required" })
  }
  const known = await findAdmission(env, cookie, used.value, asOf)
  const admitted = known === null ? await requestAdmission(env, cookie, used.value, asOf) : succeed(known)
  if (!admitted.ok) return admitted
  const { name, role } = admitted.value
  const issued = await issueNewToken(env, { tenant, user, role, login }, PAGE_TOKEN_SECONDS, asOf)
  const body = { ...issued, tenant, user: { id: user, name, role } }
  return succeed({ body, cookie: { ...cookie, secret: nextSecret, admission: admitted.value } })
}

/**
 * Returns the admission of an earlier token if nothing has changed since; otherwise null, and the tenant's object must
 * be called. The directory is notified of every change to the user, and this isolate caches the provider.
 */
async function findAdmission(
  env: Env,
  { tenant, admission }: LoginCookie,
  { issuer, generation, version }: UsedLogin,
  now: number,
): Promise<Admission | null> {
  if (admission === undefined || admission.version !== version) return null
  if (admission.at > now || now - admission.at >= ADMISSION_MS) return null
  // With this check, an isolate learns of a removed provider within TOKEN_TRUST_MS, even though it caches providers for
  // longer.
  const { issuersChanged = 0 } = await getTenantAccess(env, tenant)
  if (admission.at < issuersChanged) return null
  const client = await findClient(env, tenant, issuer)
  return client !== null && client !== "secret_unreadable" && client.generation === generation ? admission : null
}

/**
 * Calls the tenant's object. The version was read before this call, so a change made in the meantime is detected with
 * the next token.
 */
async function requestAdmission(
  env: Env,
  { tenant, user, admission }: LoginCookie,
  { version = NO_VERSION, ...login }: UsedLogin,
  at: number,
): Promise<Result<Admission>> {
  const isNew = admission === undefined
  const admitted = await tenantStub(env, tenant).admitSignIn({ id: user, name: null, isNew, ...login })
  if (admitted?.status === "suspended") return fail({ reason: "user_suspended" })
  if (admitted?.status === "erasing") return fail({ reason: "user_erased" })
  if (admitted?.status !== "active") return fail({ reason: "sign_in_required" })
  return succeed({ name: admitted.name, role: admitted.role, version, at })
}

/** Records that a copied cookie was used, by its owner or by somebody else. The sign-in has already ended. */
async function recordCopy(env: Env, { tenant, user }: LoginCookie, actor: Actor): Promise<void> {
  await recordFailure(env, tenant, actor, { action: "sign_in.copied", target: user })
}

/**
 * Ends a sign-in, or all sign-ins of the user. Returns the URL at which the user also signs out at the provider, if
 * there is one. Repeating the call has no effect. Errors, only with `everywhere`: `sign_in_required` if this sign-in
 * has ended or the cookie is an old copy.
 */
export async function signOut(
  env: Env,
  cookie: LoginCookie,
  everywhere: boolean,
  actor: Actor,
  origin: string,
): Promise<Result<string | null>> {
  const hash = await hashLoginSecret(cookie.secret)
  const ended = await directoryStub(env, cookie).endLogin(cookie.login, hash, everywhere)
  if (ended === "copied") await recordCopy(env, cookie, actor)
  // The other sign-ins, which the user asked to end, still exist, so this must be an error.
  if (everywhere && ended !== "current") return fail({ reason: "sign_in_required" })
  return succeed(await findLogoutUrl(env, cookie, origin))
}

/**
 * Returns the provider's URL for signing out; null if there is none. Does not reject, because the user is already
 * signed out here.
 */
async function findLogoutUrl(env: Env, { tenant, provider }: LoginCookie, origin: string): Promise<string | null> {
  if (provider === undefined) return null
  try {
    const client = await findClient(env, tenant, provider)
    return client === null || client === "secret_unreadable" ? null : createLogoutUrl(client, `${origin}/`)
  } catch (error) {
    logError("logout_url_not_found", { tenant, provider, error: describeError(error) })
    return null
  }
}
