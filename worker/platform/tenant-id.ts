/**
 * tenant-id.ts: the ids of tenants. An id can name the region in which all of the tenant's data is stored: `eu.acme`.
 *
 * The region is part of the id, because it must be known before any object is called: in each jurisdiction, the same
 * name means a different object. The region can never change.
 */

import * as v from "valibot"
import { MAX_ID_CHARS } from "../../shared/limits.ts"

/** The platform's jurisdictions. */
export const REGIONS = ["eu", "us", "fedramp", "fedramp-high"] as const

export type Region = (typeof REGIONS)[number]

const ID_PATTERN = new RegExp(`^(?:(?:${REGIONS.join("|")})\\.)?[A-Za-z0-9_-]{1,${MAX_ID_CHARS}}$`)

/** The tenant in a token: any id that version 0.1.0 allowed, or an id with a region. */
export const tenantIdSchema = v.pipe(v.string(), v.regex(ID_PATTERN))

/**
 * The id of a new tenant: lower case, as in a host name, so that no two ids differ only in case. The name after
 * the region has 1 to 40 characters.
 */
export const newTenantIdSchema = v.pipe(
  v.string(),
  v.regex(new RegExp(`^(?:(?:${REGIONS.join("|")})\\.)?[a-z0-9](?:[a-z0-9-]{0,38}[a-z0-9])?$`)),
)

/** Returns the region of a tenant; null if it has none, in which case the platform chooses where its objects are. */
export function getRegion(tenant: string): Region | null {
  const [prefix, name] = tenant.split(".", 2)
  return name === undefined ? null : (REGIONS.find((region) => region === prefix) ?? null)
}
