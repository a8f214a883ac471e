/**
 * token-parts.ts: reads the header and the payload of a provider's token before anything is verified or looked up.
 * Pure.
 *
 * A token that different parsers could read differently is refused: one with duplicate names, extensions or unexpected
 * types.
 */

import { base64url } from "jose"
import * as v from "valibot"
import { isJsonObject, parseJson } from "../../../shared/json.ts"
import { MAX_FOREIGN_TOKEN_CHARS } from "../../../shared/limits.ts"
import { ISSUER_ALGORITHMS } from "../../settings/issuer-config.ts"

/** Maximum nesting of a header or payload. Real ones have three or four levels. */
const MAX_TOKEN_DEPTH = 8

/**
 * Maximum number of audiences in a token. Each causes a look-up, even if the token is forged. Two are enough for
 * providers that list their own URL in addition to the API's.
 */
const MAX_AUDIENCES = 2
const MAX_CLAIM_CHARS = 2_048

const text = v.pipe(v.string(), v.minLength(1), v.maxLength(MAX_CLAIM_CHARS))

/**
 * `jwk`, `jku`, `x5c` and `x5u` may be present but are never used, because the token's creator chose them. The `typ` of
 * other kinds of JWTs, such as logout tokens and proofs, is refused.
 */
const headerSchema = v.object({
  alg: v.picklist(ISSUER_ALGORITHMS),
  kid: v.optional(v.pipe(v.string(), v.maxLength(256))),
  typ: v.optional(v.pipe(v.string(), v.regex(/^(?:application\/)?(?:at\+)?jwt$/i))),
  crit: v.optional(v.never()),
  b64: v.optional(v.never()),
  zip: v.optional(v.never()),
})

const payloadSchema = v.looseObject({
  iss: text,
  aud: v.union([text, v.pipe(v.array(text), v.minLength(1), v.maxLength(MAX_AUDIENCES))]),
  exp: v.pipe(v.number(), v.finite()),
  iat: v.pipe(v.number(), v.finite()),
  nbf: v.optional(v.pipe(v.number(), v.finite())),
  azp: v.optional(text),
})

export type ForeignHeader = v.InferOutput<typeof headerSchema>
export type ForeignPayload = v.InferOutput<typeof payloadSchema>

export interface TokenParts {
  readonly header: ForeignHeader
  readonly payload: ForeignPayload
  readonly audiences: readonly string[]
}

/** Returns the unverified parts of a token; null if it does not have exactly the form of a signed JWT. */
export function parseToken(token: string): TokenParts | null {
  if (token.length > MAX_FOREIGN_TOKEN_CHARS) return null
  const parts = token.split(".")
  if (parts.length !== 3) return null
  const header = v.safeParse(headerSchema, decodePart(parts[0] ?? ""))
  const payload = v.safeParse(payloadSchema, decodePart(parts[1] ?? ""))
  if (!header.success || !payload.success) return null
  const { aud } = payload.output
  return { header: header.output, payload: payload.output, audiences: typeof aud === "string" ? [aud] : aud }
}

function decodePart(part: string): { readonly [key: string]: unknown } | null {
  const json = decodeBase64url(part)
  if (json === null || hasDuplicateNames(json)) return null
  const value = parseJson(json, MAX_TOKEN_DEPTH)
  return isJsonObject(value) ? value : null
}

function decodeBase64url(part: string): string | null {
  if (!/^[A-Za-z0-9_-]+$/.test(part)) return null
  try {
    return new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(base64url.decode(part))
  } catch {
    return null
  }
}

const STRING = /"(?:[^"\\]|\\.)*"/y

/**
 * Whether any object in the JSON text has a duplicate name. `JSON.parse` keeps the last one, while other parsers keep
 * the first. Also true if a string in the text is malformed.
 */
export function hasDuplicateNames(json: string): boolean {
  /** The names found so far in each open object; null for an open array. */
  const open: (Set<string> | null)[] = []
  for (let at = 0; at < json.length; at++) {
    const char = json[at]
    if (char === "{") open.push(new Set())
    else if (char === "[") open.push(null)
    else if (char === "}" || char === "]") open.pop()
    else if (char === '"') {
      STRING.lastIndex = at
      const literal = STRING.exec(json)?.[0]
      const name = literal === undefined ? undefined : parseJson(literal)
      if (literal === undefined || typeof name !== "string") return true
      at += literal.length - 1
      const names = open.at(-1)
      if (names === undefined || names === null || !isName(json, at + 1)) continue
      if (names.has(name)) return true
      names.add(name)
    }
  }
  return false
}

/** Whether the string that ends before `at` is a name, because a colon follows it. */
function isName(json: string, at: number): boolean {
  let next = at
  while (/\s/.test(json[next] ?? "")) next++
  return json[next] === ":"
}
