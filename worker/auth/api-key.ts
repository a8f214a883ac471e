/**
 * api-key.ts: creates and parses API keys: `ck_<tenant>_<id>_<secret>_<checksum>`.
 *
 * The tenant determines the object to call, and the id identifies the row in that object. Because of the checksum, the
 * server and secret scanners can reject strings that are not API keys without a request. Only the SHA-256 of the secret
 * is stored. `TenantKeys.useKey` checks keys; routes call it through `tenant-access-cache.ts`.
 */

import * as v from "valibot"
import { createRandomBase62, intToBase62 } from "../platform/crypto/base62.ts"
import { crc32 } from "../../shared/crc32.ts"
import { computeHash } from "../platform/crypto/sha256-hex.ts"
import { tenantIdSchema } from "../platform/tenant-id.ts"
import type { StoredKey } from "../settings/tenant-access.ts"

/**
 * Lengths in base62 characters. An id has 59 bits, so two ids of a tenant practically never collide. A secret has 238 bits, so
 * that it cannot be guessed. A checksum has 32 bits.
 */
const ID_CHARS = 10
const SECRET_CHARS = 40
const CHECKSUM_CHARS = 6

export const API_KEY_PREFIX = "ck_"

/** Maximum length of a string that is parsed, in characters. A key with the longest tenant id has 139. */
const MAX_KEY_CHARS = 160

/** A tenant's id may contain underscores, so the parts after it are recognised by their lengths. */
const KEY_PATTERN = new RegExp(
  `^(ck_(.+)_([0-9A-Za-z]{${ID_CHARS}})_([0-9A-Za-z]{${SECRET_CHARS}}))_([0-9A-Za-z]{${CHECKSUM_CHARS}})$`,
)

export const apiKeyIdSchema = v.pipe(v.string(), v.regex(new RegExp(`^[0-9A-Za-z]{${ID_CHARS}}$`)))

export interface ApiKey {
  readonly tenant: string
  readonly id: string
  readonly secret: string
}

/** Creates an API key for a tenant: the key itself, which is shown only once, and the fields to store. */
export async function createApiKey(tenant: string): Promise<{ readonly text: string; readonly stored: StoredKey }> {
  const key = { tenant, id: createRandomBase62(ID_CHARS), secret: createRandomBase62(SECRET_CHARS) }
  return { text: formatApiKey(key), stored: { id: key.id, hash: await hashApiKeySecret(key.secret) } }
}

export function formatApiKey({ tenant, id, secret }: ApiKey): string {
  const body = `${API_KEY_PREFIX}${tenant}_${id}_${secret}`
  return `${body}_${computeChecksum(body)}`
}

/**
 * Parses a key; null if the string cannot be a valid key. Makes no request. Cost: linear time, for at most
 * MAX_KEY_CHARS.
 */
export function parseApiKey(text: string): ApiKey | null {
  if (text.length > MAX_KEY_CHARS) return null
  const [, body = "", tenant = "", id = "", secret = "", checksum] = KEY_PATTERN.exec(text) ?? []
  return v.is(tenantIdSchema, tenant) && checksum === computeChecksum(body) ? { tenant, id, secret } : null
}

export async function hashApiKeySecret(secret: string): Promise<string> {
  return await computeHash(secret)
}

function computeChecksum(body: string): string {
  return intToBase62(crc32(new TextEncoder().encode(body)), CHECKSUM_CHARS)
}
