/**
 * page-token.ts: what the cookie of a sign-in gives: tokens for the page, and the end of the sign-in.
 */

import { fail, type Result, succeed } from "../../shared/fault.ts"
import { PAGE_TOKEN_SECONDS } from "../../shared/limits.ts"
import type { PageToken } from "../../shared/protocol/sign-in.ts"
import { issueNewToken } from "../auth/new-token.ts"
import { recordFailure } from "../auth/record-failure.ts"
import type { Env } from "../env.ts"
import type { Actor } from "../platform/rpc/actor.ts"
import { directoryStub, tenantStub } from "../platform/rpc/object-stubs.ts"
import { deriveNextSecret, hashLoginSecret } from "./login-secret.ts"
import type { LoginCookie } from "./sign-in-cookies.ts"

/**
 * Issues a token and replaces the cookie's secret. The user's role and state are read each time.
 *
 * Errors: `sign_in_required` if the sign-in has ended, was copied, or its issuer was removed;
 * `user_suspended`.
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
  const admitted = await tenantStub(env, tenant).admitSignIn({ id: user, name: null, ...used.value })
  if (admitted?.status === "suspended") return fail({ reason: "user_suspended" })
  if (admitted?.status !== "active") return fail({ reason: "sign_in_required" })
  const claims = { tenant, user, role: admitted.role, login }
  const issued = await issueNewToken(env, claims, PAGE_TOKEN_SECONDS, asOf)
  const body = { ...issued, tenant, user: { id: user, name: admitted.name, role: admitted.role } }
  return succeed({ body, cookie: { ...cookie, secret: nextSecret } })
}

/** Records that a copy of a cookie was used, by its owner or by somebody else. The sign-in has ended. */
async function recordCopy(env: Env, { tenant, user }: LoginCookie, actor: Actor): Promise<void> {
  await recordFailure(env, tenant, actor, { action: "sign_in.copied", target: user })
}

/**
 * Ends a sign-in, or all of the user's. Repeating it has no effect. Errors, only with `everywhere`: `sign_in_required` if this
 * sign-in has ended, or the cookie is an old copy.
 */
export async function signOut(env: Env, cookie: LoginCookie, everywhere: boolean, actor: Actor): Promise<Result<null>> {
  const hash = await hashLoginSecret(cookie.secret)
  const ended = await directoryStub(env, cookie).endLogin(cookie.login, hash, everywhere)
  if (ended === "copied") await recordCopy(env, cookie, actor)
  // Whoever asked to end the other sign-ins must not believe that they have ended.
  return everywhere && ended !== "current" ? fail({ reason: "sign_in_required" }) : succeed(null)
}
