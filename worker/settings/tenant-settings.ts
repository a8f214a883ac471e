/**
 * tenant-settings.ts: parses and merges the origins and media hosts that a tenant or the deployment allows. Pure.
 *
 * Only public host names are accepted, and only in a form that a content security policy can contain.
 */

import { fail, type Result, succeed } from "../../shared/fault.ts"
import { MAX_HOST_CHARS } from "../../shared/limits.ts"
import { checkPublicUrl, type PublicUrl } from "../../shared/text/public-url.ts"
import { splitCommaList } from "../platform/comma-list.ts"
import type { TenantSettings } from "./agent-config.ts"

/**
 * WHATWG URLs allow `;` and `*` in a host name, but these characters have a meaning in the page's content security
 * policy.
 */
const PLAIN_HOST = /^[a-z0-9-]+(?:\.[a-z0-9-]+)+$/

/** Parses an origin without a path, and normalises it. Errors: `url_refused`. */
export function parseOrigin(text: string): Result<string> {
  const checked = checkPublicUrl(text)
  if (!checked.ok) return checked
  return isBareOrigin(checked.value)
    ? succeed(checked.value.origin)
    : fail({ reason: "url_refused", because: "malformed" })
}

/** Parses a host name, and converts it to lower-case ASCII. Errors: `url_refused`. */
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

/** Comma-separated lists that apply to all tenants of a deployment. */
export interface DeploymentSettingsEnv {
  readonly EMBED_ORIGINS?: string | undefined
  readonly MEDIA_HOSTS?: string | undefined
}

/** Parses the deployment's lists. Skips invalid entries, which `findAllowListFaults` reports. */
export function readDeploymentSettings({ EMBED_ORIGINS, MEDIA_HOSTS }: DeploymentSettingsEnv): TenantSettings {
  return {
    embed_origins: parseValidEntries(EMBED_ORIGINS, parseOrigin),
    media_hosts: parseValidEntries(MEDIA_HOSTS, parseHostName),
  }
}

function parseValidEntries(list: string | undefined, parseEntry: (text: string) => Result<string>): readonly string[] {
  return splitCommaList(list).flatMap((entry) => {
    const checked = parseEntry(entry)
    return checked.ok ? checked.value : []
  })
}

/** Returns the faults in the deployment's lists. */
export function findAllowListFaults({ EMBED_ORIGINS, MEDIA_HOSTS }: DeploymentSettingsEnv): string[] {
  const isOrigin = (entry: string): boolean => parseOrigin(entry).ok
  const isHost = (entry: string): boolean => parseHostName(entry).ok
  return [
    ...(splitCommaList(EMBED_ORIGINS).every(isOrigin)
      ? []
      : ["EMBED_ORIGINS has an entry that is not a public https origin"]),
    ...(splitCommaList(MEDIA_HOSTS).every(isHost) ? [] : ["MEDIA_HOSTS has an entry that is not a public host name"]),
  ]
}

/**
 * Merges two sets of settings: combines the lists of origins and media hosts, and enables every feature that either set
 * enables. If both sets specify `titles` or `embed_hosts`, the first one takes precedence.
 */
export function mergeSettings(one: TenantSettings, other: TenantSettings): TenantSettings {
  const titles = one.titles ?? other.titles
  const embed_hosts = one.embed_hosts ?? other.embed_hosts
  return {
    embed_origins: [...new Set([...one.embed_origins, ...other.embed_origins])],
    media_hosts: [...new Set([...one.media_hosts, ...other.media_hosts])],
    ...(titles === undefined ? {} : { titles }),
    ...(embed_hosts === undefined ? {} : { embed_hosts }),
    ...(one.follow_ups === true || other.follow_ups === true ? { follow_ups: true } : {}),
    ...(one.show_cost === true || other.show_cost === true ? { show_cost: true } : {}),
  }
}

/** Whether a session has no use for these settings. Only routes use `embed_hosts` and `show_cost`. */
export function isEmptySettings({ embed_origins, media_hosts, titles, follow_ups }: TenantSettings): boolean {
  return embed_origins.length === 0 && media_hosts.length === 0 && titles === undefined && follow_ups === undefined
}
