/** open-link.ts: verifies the signed links of files, documents and remote media, which need no token. */

import { fail, type Result } from "../../../shared/fault.ts"
import { type LinkAudience, type LinkClaims, verifyLink } from "../../auth/link-signing.ts"
import type { Env } from "../../env.ts"
import { checkRate } from "../../limits/rate-limits.ts"
import { checkRegion } from "../../platform/media-bucket.ts"
import { sessionStub } from "../../platform/rpc/object-stubs.ts"
import { isSuspended } from "./authorize.ts"
import { findSessionKey } from "./require-session.ts"

/**
 * Verifies a link. One that was signed for a viewer is valid only as long as the session is shared with them, so that costs
 * a request to the session's object. One that was signed for a user who is suspended is refused; that is cached.
 *
 * Errors: `link_expired`, `link_invalid`, `rate_limited`, `user_suspended`, `region_unavailable`.
 */
export async function openLink(env: Env, audience: LinkAudience, token: string): Promise<Result<LinkClaims>> {
  const link = await verifyLink(env.JWT_SECRET ?? "", audience, token, Date.now())
  if (!link.ok) return link
  const { tenant, session, user, viewer } = link.value
  const served = checkRegion(env, tenant)
  if (!served.ok) return served
  const reader = viewer ?? user
  const admitted = await checkRate(env, "read", { tenant, user: reader ?? session })
  if (!admitted.ok) return admitted
  // Links of version 0.1.0 name no user.
  if (reader !== undefined && (await isSuspended(env, { tenant, user: reader })))
    return fail({ reason: "user_suspended" })
  if (viewer === undefined) return link
  if (user === undefined) return fail({ reason: "link_invalid" })
  const key = await findSessionKey(env, { tenant, user }, session)
  const shared = await sessionStub(env, tenant, key).checkReader({ tenant, user: viewer, sharedBy: user })
  return shared.ok ? link : fail({ reason: "link_invalid" })
}
