/**
 * archive-manifest.ts: the manifest of an archive: its contents, the hash of each file, and the seal.
 *
 * The key of the seal is derived from the deployment's secret and belongs to no tenant, so every tenant of the
 * deployment can import an archive of another tenant. The seal covers all other fields and, through the hashes, every
 * byte of the files.
 */

import { base64url } from "jose"
import * as v from "valibot"
import { fail, type Result, succeed } from "../../shared/fault.ts"
import { isJsonObject, parseJson } from "../../shared/json.ts"
import { deriveKey } from "../auth/verify-token.ts"
import { tenantIdSchema } from "../platform/tenant-id.ts"

export const ARCHIVE_FORMAT = "cuecard-tenant"
export const ARCHIVE_VERSION = 1

/** Maximum number of files in an archive. The list of files must fit in a request body. SPEC TX3. */
export const MAX_ARCHIVE_FILES = 4_000

/** Size at which a file of an archive is closed, in bytes. A file is in memory while it is being written. SPEC TX3. */
export const ARCHIVE_FILE_BYTES = 8 * 1024 * 1024

/**
 * Maximum size of an archive's file, in bytes. The last block can exceed the size at which a file is closed. SPEC TX3.
 */
export const MAX_ARCHIVE_FILE_BYTES = 2 * ARCHIVE_FILE_BYTES

/**
 * An export may start only if the tenant stores at most this many bytes. No archive can hold more than this (62.5 GiB).
 * Most archives hold less, because few files reach the maximum size. SPEC TX11.
 */
export const MAX_EXPORTED_BYTES = MAX_ARCHIVE_FILES * MAX_ARCHIVE_FILE_BYTES

const countSchema = v.pipe(v.number(), v.safeInteger(), v.minValue(0))

const fileSchema = v.strictObject({
  n: v.pipe(v.number(), v.integer(), v.minValue(1), v.maxValue(MAX_ARCHIVE_FILES)),
  bytes: v.pipe(countSchema, v.minValue(1), v.maxValue(MAX_ARCHIVE_FILE_BYTES)),
  sha256: v.pipe(v.string(), v.regex(/^[0-9a-f]{64}$/)),
})

const contentSchema = v.strictObject({
  format: v.literal(ARCHIVE_FORMAT),
  version: v.pipe(v.number(), v.integer()),
  tenant: tenantIdSchema,
  /** The export's id, and its time in milliseconds since 1970. */
  id: v.pipe(v.string(), v.regex(/^[A-Za-z0-9_-]{1,64}$/)),
  created: countSchema,
  tally: v.strictObject({
    users: countSchema,
    sessions: countSchema,
    agent_sessions: countSchema,
    files: countSchema,
    bytes: countSchema,
  }),
  files: v.pipe(v.array(fileSchema), v.minLength(1), v.maxLength(MAX_ARCHIVE_FILES)),
})

export type ManifestContent = v.InferOutput<typeof contentSchema>

/** Returns the text of a manifest with its seal. */
export async function writeManifest(secret: string, content: ManifestContent): Promise<string> {
  const text = JSON.stringify(content)
  const mac = await crypto.subtle.sign("HMAC", await deriveSealKey(secret), new TextEncoder().encode(text))
  return `${JSON.stringify({ ...content, seal: base64url.encode(new Uint8Array(mac)) })}\n`
}

/**
 * Reads a manifest. Errors: `archive_refused` with `shape`; with `version` if the version is not supported; with `seal`
 * if the manifest was changed or was written by another deployment.
 */
export async function readManifest(secret: string, text: string): Promise<Result<ManifestContent>> {
  const json = parseJson(text)
  if (!isJsonObject(json)) return fail({ reason: "archive_refused", because: "shape" })
  const { seal, ...rest } = json
  if (rest["format"] === ARCHIVE_FORMAT && rest["version"] !== ARCHIVE_VERSION)
    return fail({ reason: "archive_refused", because: "version" })
  const parsed = v.safeParse(contentSchema, rest)
  const isListed = parsed.success && parsed.output.files.every(({ n }, i) => n === i + 1)
  if (!isListed || typeof seal !== "string") return fail({ reason: "archive_refused", because: "shape" })
  const bytes = new TextEncoder().encode(JSON.stringify(rest))
  const isSealed = await crypto.subtle.verify("HMAC", await deriveSealKey(secret), decodeSeal(seal), bytes)
  return isSealed ? succeed(parsed.output) : fail({ reason: "archive_refused", because: "seal" })
}

async function deriveSealKey(secret: string): Promise<CryptoKey> {
  return await deriveKey(secret, "tenant archive")
}

/** Returns the bytes of a seal; none if the text is not base64url. */
function decodeSeal(text: string): Uint8Array<ArrayBuffer> {
  try {
    return new Uint8Array(base64url.decode(text))
  } catch {
    return new Uint8Array()
  }
}
