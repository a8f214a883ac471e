/** open-link.ts: verifies signed links to files, documents and remote media, which are loaded without a token. */

import { fail, type Result, succeed } from "../../../shared/fault.ts"
import { SIGNED_URL_SECONDS } from "../../../shared/asset-limits.ts"
import { type LinkAudience, type LinkClaims, verifyLink } from "../../auth/link-signing.ts"
import { getTenantAccess } from "../../auth/tenant-access-cache.ts"
import type { Env } from "../../env.ts"
import { checkRate } from "../../limits/rate-limits.ts"
import { checkRegion } from "../../platform/media-bucket.ts"
import { sessionStub } from "../../platform/rpc/object-stubs.ts"
import { findReaderFault } from "./authorize.ts"
import { openKnownShare } from "./open-share.ts"
import { findSessionKey } from "./require-session.ts"

/**
 * Verifies a link. A link that was signed for a viewer is valid only while the session is shared with that viewer, so
 * checking it costs a request to the session's object. A link is refused if its user is suspended or has been erased
 * since it was signed, or if its tenant has been erased. The states of the user and the tenant are cached.
 *
 * Errors: `link_expired`, `link_invalid`, `rate_limited`, `user_suspended`, `tenant_erased`, `region_unavailable`.
 */
export async function openLink(env: Env, audience: LinkAudience, token: string): Promise<Result<LinkClaims>> {
  const link = await verifyLink(env.JWT_SECRET ?? "", audience, token, Date.now())
  if (!link.ok) return link
  if (link.value.isShare === true) return await openShareLink(env, link.value)
  const { tenant, session, user, viewer } = link.value
  const served = checkRegion(env, tenant)
  if (!served.ok) return served
  const reader = viewer ?? user
  const admitted = await checkRate(env, "read", { tenant, user: reader ?? session })
  if (!admitted.ok) return admitted
  const signedAt = link.value.expires - SIGNED_URL_SECONDS
  const [access, fault] = await Promise.all([
    getTenantAccess(env, tenant),
    // Links from version 0.1.0 don't name a user.
    reader === undefined ? null : findReaderFault(env, { tenant, user: reader }, signedAt),
  ])
  if (access.status === "erased") return fail({ reason: "tenant_erased" })
  if (fault !== null) return fail(fault)
  if (viewer === undefined) return link
  if (user === undefined) return fail({ reason: "link_invalid" })
  const key = await findSessionKey(env, { tenant, user }, session)
  const shared = await sessionStub(env, tenant, key).checkReader({ tenant, user: viewer, sharedBy: user })
  return shared.ok ? link : fail({ reason: "link_invalid" })
}

/**
 * Checks a link to a file of a shared copy, which is valid while the copy exists. Returns the link with the key of the
 * copied session.
 */
async function openShareLink(env: Env, link: LinkClaims): Promise<Result<LinkClaims>> {
  const opened = await openKnownShare(env, link.tenant, link.session)
  if (!opened.ok) return opened.fault.reason === "rate_limited" ? opened : fail({ reason: "link_invalid" })
  const { session, assets } = opened.value.manifest
  return Object.hasOwn(assets, link.what) ? succeed({ ...link, session }) : fail({ reason: "link_invalid" })
}
