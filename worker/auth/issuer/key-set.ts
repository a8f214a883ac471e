/**
 * key-set.ts: the public keys of an OpenID provider (JWKS), reduced to those that can verify a signature.
 */

import type { JWK } from "jose"
import * as v from "valibot"
import { fail, type Result, succeed } from "../../../shared/fault.ts"

/** Maximum number of stored keys. Providers publish two to ten. */
const MAX_KEYS = 32

/** Range of RSA key lengths, in bits. Shorter keys can be broken, and longer keys make each verification slow. */
const MIN_RSA_BITS = 2_048
const MAX_RSA_BITS = 8_192

const base64urlSchema = (max: number) => v.pipe(v.string(), v.maxLength(max), v.regex(/^[A-Za-z0-9_-]+$/))
const base64urlChars = (bits: number): number => Math.ceil(bits / 6)

const common = {
  kid: v.optional(v.pipe(v.string(), v.maxLength(256))),
  alg: v.optional(v.pipe(v.string(), v.maxLength(20))),
  use: v.optional(v.literal("sig")),
  key_ops: v.optional(v.pipe(v.array(v.string()), v.includes("verify"))),
}

/** Drops the private parts, certificates and URLs of a key, because they are never used. */
const keySchema = v.variant("kty", [
  v.object({
    ...common,
    kty: v.literal("RSA"),
    n: v.pipe(base64urlSchema(base64urlChars(MAX_RSA_BITS)), v.minLength(base64urlChars(MIN_RSA_BITS))),
    // The exponent is usually 65537. A large one would make each verification slow.
    e: base64urlSchema(6),
  }),
  v.object({
    ...common,
    kty: v.literal("EC"),
    crv: v.picklist(["P-256", "P-384", "P-521"]),
    x: base64urlSchema(88),
    y: base64urlSchema(88),
  }),
  v.object({ ...common, kty: v.literal("OKP"), crv: v.literal("Ed25519"), x: base64urlSchema(43) }),
])

/** Returns the usable keys of a JWKS. Other keys are skipped. Errors: `issuer_refused` (`malformed`, `no_keys`). */
export function parseKeySet(value: { readonly [key: string]: unknown }): Result<readonly JWK[]> {
  const entries = value["keys"]
  if (!Array.isArray(entries)) return fail({ reason: "issuer_refused", because: "malformed" })
  const keys = entries.flatMap((entry) => {
    const parsed = v.safeParse(keySchema, entry)
    return parsed.success ? [parsed.output as JWK] : []
  })
  return keys.length === 0 ? fail({ reason: "issuer_refused", because: "no_keys" }) : succeed(keys.slice(0, MAX_KEYS))
}
