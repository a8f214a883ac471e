/** open-share.ts: finds the shared copy that a public URL names. Its readers need no token. */

import * as v from "valibot"
import { fail, type Result, succeed } from "../../../shared/fault.ts"
import { getTenantAccess } from "../../auth/tenant-access-cache.ts"
import type { Env } from "../../env.ts"
import { countUp, createRateFault } from "../../limits/rate-limits.ts"
import { checkRegion, mediaBucket } from "../../platform/media-bucket.ts"
import { tenantIdSchema } from "../../platform/tenant-id.ts"
import { type CopyManifest, readManifest } from "../../shared-copy/copy-objects.ts"
import { findReaderFault } from "./authorize.ts"

export interface OpenedShare {
  readonly tenant: string
  readonly id: string
  readonly manifest: CopyManifest
}

/** `<tenant>.<id>`: an id has 132 random bits, so it cannot be guessed. */
const REFERENCE = /^(.+)\.([\w-]{22})$/

/** Formats the name of a copy in public URLs. */
export function formatShareReference(tenant: string, id: string): string {
  return `${tenant}.${id}`
}

/**
 * Finds a copy that can be read. The fault does not reveal whether the copy was deleted, has expired or never existed,
 * or whether its user was suspended or erased. `address` is the reader's IP address as `groupAddress` returns it.
 *
 * Errors: `share_unknown`, `rate_limited`. Cost: one read from the bucket; the states of the tenant and the user are
 * cached.
 */
export async function openShare(env: Env, reference: string, address: string | null): Promise<Result<OpenedShare>> {
  const [, tenant = "", id = ""] = REFERENCE.exec(reference) ?? []
  if (!v.is(tenantIdSchema, tenant)) return fail({ reason: "share_unknown" })
  // Readers without tokens must not use up the rate limit of the tenant's users.
  if (!(await countUp(env.RATE_READ, `share:${address ?? reference}`))) return fail(createRateFault("read", "user"))
  return await openKnownShare(env, tenant, id)
}

/** Like `openShare`, for a reader who has already been counted. */
export async function openKnownShare(env: Env, tenant: string, id: string): Promise<Result<OpenedShare>> {
  if (!checkRegion(env, tenant).ok) return fail({ reason: "share_unknown" })
  if (!(await countUp(env.RATE_READ_TENANT, `share:${tenant}.${id}`))) return fail(createRateFault("read", "tenant"))
  const manifest = await readManifest(mediaBucket(env, tenant), tenant, id, Date.now())
  if (manifest === null) return fail({ reason: "share_unknown" })
  const { user, created } = manifest
  const [access, fault] = await Promise.all([
    getTenantAccess(env, tenant),
    findReaderFault(env, { tenant, user }, created / 1000),
  ])
  if (access.status === "erased" || fault !== null) return fail({ reason: "share_unknown" })
  return succeed({ tenant, id, manifest })
}
