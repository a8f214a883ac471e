/** settings-schema.ts: the schema of a tenant's settings as a request sets them. Pure. Source: SPEC SE2, WG1. */

import * as v from "valibot"
import type { Result } from "../../shared/fault.ts"
import { MAX_EMBED_ORIGINS, MAX_MEDIA_HOSTS } from "../../shared/asset-limits.ts"
import { MAX_EMBED_HOSTS, parseEmbedHost } from "./embed-hosts.ts"
import { parseHostName, parseOrigin } from "./tenant-settings.ts"

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

/**
 * Creates the schema. All lists are replaced together. Strict: a misspelt field must be an error, because its list
 * would otherwise silently become empty. An empty list of embed_hosts is left out, as in the settings of older
 * versions.
 */
export function createSettingsSchema(allowsLoopback: boolean) {
  const parseHost = (text: string): Result<string> => parseEmbedHost(text, allowsLoopback)
  return v.pipe(
    v.strictObject({
      embed_origins: createListSchema(MAX_EMBED_ORIGINS, parseOrigin),
      media_hosts: createListSchema(MAX_MEDIA_HOSTS, parseHostName),
      titles: v.optional(v.boolean()),
      follow_ups: v.exactOptional(v.boolean()),
      show_cost: v.exactOptional(v.boolean()),
      embed_hosts: createListSchema(MAX_EMBED_HOSTS, parseHost),
    }),
    v.transform(({ embed_hosts, ...lists }) => (embed_hosts.length === 0 ? lists : { ...lists, embed_hosts })),
  )
}
