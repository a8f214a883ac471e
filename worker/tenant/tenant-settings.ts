/**
 * tenant-settings.ts: what a tenant allows its transcripts beside our own, and what the deployment allows all of them.
 *
 * PUT /v1/settings → SETTINGS → tenant → sessions, page
 * Only public names get in, written as a policy of the page can say them.
 * Pure.
 */

import * as v from "valibot"
import { fail, type Result, succeed } from "../../shared/fault.ts"
import { MAX_EMBED_ORIGINS, MAX_HOST_CHARS, MAX_MEDIA_HOSTS } from "../../shared/limits.ts"
import { checkPublicUrl, type PublicUrl } from "../../shared/text/public-url.ts"
import type { TenantSettings } from "./agent-config.ts"

/** A header of the page names these hosts. WHATWG lets `;` and `*` stand in a host, and a policy would obey them. */
const PLAIN_HOST = /^[a-z0-9-]+(?:\.[a-z0-9-]+)+$/

/** The origin that this text is, and nothing more, as the platform writes it. Errors: `url_refused`. */
export function parseOrigin(text: string): Result<string> {
  const checked = checkPublicUrl(text)
  if (!checked.ok) return checked
  return isBareOrigin(checked.value)
    ? succeed(checked.value.origin)
    : fail({ reason: "url_refused", because: "malformed" })
}

/** The host that this text names, in ASCII and small letters. Errors: `url_refused`. */
export function parseHostName(text: string): Result<string> {
  const checked = checkPublicUrl(`https://${text}/`)
  if (!checked.ok) return checked
  const { host, origin } = checked.value
  const isWhole = isBareOrigin(checked.value) && origin === `https://${host}`
  return isWhole ? succeed(host) : fail({ reason: "url_refused", because: "malformed" })
}

function isBareOrigin({ href, origin, host }: PublicUrl): boolean {
  return href === `${origin}/` && host.length <= MAX_HOST_CHARS && PLAIN_HOST.test(host)
}

function createListSchema(max: number, parseEntry: (text: string) => Result<string>) {
  const entry = v.pipe(
    v.string(),
    v.rawTransform(({ dataset, addIssue, NEVER }) => {
      const checked = parseEntry(dataset.value)
      if (checked.ok) return checked.value
      addIssue()
      return NEVER
    }),
  )
  return v.optional(
    v.pipe(
      v.array(entry),
      v.maxLength(max),
      v.transform((all) => [...new Set(all)]),
    ),
    [],
  )
}

/** All of them at once. Strict: who misspells a list must not believe that it is set, nor that the other one stays. */
export const tenantSettingsSchema = v.strictObject({
  embed_origins: createListSchema(MAX_EMBED_ORIGINS, parseOrigin),
  media_hosts: createListSchema(MAX_MEDIA_HOSTS, parseHostName),
})

/** What a deployment allows all its tenants: comma-separated. */
export interface DeploymentSettingsEnv {
  readonly EMBED_ORIGINS?: string | undefined
  readonly MEDIA_HOSTS?: string | undefined
}

/** Entries that are none are left out here; `settingsFaults` tells of them. */
export function readDeploymentSettings({ EMBED_ORIGINS, MEDIA_HOSTS }: DeploymentSettingsEnv): TenantSettings {
  return {
    embed_origins: parseValidEntries(EMBED_ORIGINS, parseOrigin),
    media_hosts: parseValidEntries(MEDIA_HOSTS, parseHostName),
  }
}

function parseValidEntries(
  listed: string | undefined,
  parseEntry: (text: string) => Result<string>,
): readonly string[] {
  return splitCommaList(listed).flatMap((entry) => {
    const checked = parseEntry(entry)
    return checked.ok ? checked.value : []
  })
}

/** What of the deployment's own lists cannot be used. */
export function findAllowListFaults({ EMBED_ORIGINS, MEDIA_HOSTS }: DeploymentSettingsEnv): string[] {
  const isOrigin = (entry: string): boolean => parseOrigin(entry).ok
  const isHost = (entry: string): boolean => parseHostName(entry).ok
  return [
    ...(splitCommaList(EMBED_ORIGINS).every(isOrigin) ? [] : ["EMBED_ORIGINS lists what is no public https origin"]),
    ...(splitCommaList(MEDIA_HOSTS).every(isHost) ? [] : ["MEDIA_HOSTS lists what is no public host name"]),
  ]
}

function splitCommaList(listed = ""): string[] {
  return listed
    .split(",")
    .map((entry) => entry.trim())
    .filter((entry) => entry !== "")
}

/** What both allow, each entry once. */
export function mergeSettings(one: TenantSettings, other: TenantSettings): TenantSettings {
  return {
    embed_origins: [...new Set([...one.embed_origins, ...other.embed_origins])],
    media_hosts: [...new Set([...one.media_hosts, ...other.media_hosts])],
  }
}

export function isEmptySettings({ embed_origins, media_hosts }: TenantSettings): boolean {
  return embed_origins.length === 0 && media_hosts.length === 0
}
