/** tenant-pairs.test.ts: tests for many pairs of tenants that no credential of one tenant is valid for the other. */

import fc from "fast-check"
import { describe, expect, test } from "vitest"
import { createApiKey, formatApiKey, hashApiKeySecret, parseApiKey } from "../../worker/auth/api-key.ts"
import { type LinkAudience, signLink, verifyLink } from "../../worker/auth/link-signing.ts"
import { deriveExportKey, deriveTokenKey, formatKid, issueToken, verifyToken } from "../../worker/auth/verify-token.ts"
import { createSeal } from "../../worker/transfer/export-seal.ts"
import { SignJWT } from "jose"

const SECRET = "a secret of more than thirty-two bytes"
const PAIRS = 1_000
const NOW = 1_800_000_000_000
const EXPIRES = NOW / 1000 + 600

/**
 * Parts of tenant names that are easily confused: prefixes and extensions of each other, regions, key separators and
 * key names.
 */
const parts = fc.constantFrom("a", "b", "eu", "us", "1", "-", "_", "ck", "key", "acme", "token", "export", "cuecard")
const names = fc.array(parts, { minLength: 1, maxLength: 4 }).map((list) => list.join(""))
const tenants = fc.tuple(fc.constantFrom("", "eu.", "us.", "fedramp."), names).map(([region, name]) => region + name)
const pairs = fc.tuple(tenants, tenants, fc.integer({ min: 1, max: 20 })).filter(([mine, theirs]) => mine !== theirs)

const checkProperty = (property: (mine: string, theirs: string, generation: number) => Promise<void>): Promise<void> =>
  fc.assert(
    fc.asyncProperty(pairs, ([mine, theirs, generation]) => property(mine, theirs, generation)),
    { seed: 13, numRuns: PAIRS },
  )

describe("for each of 1,000 pairs of tenants", () => {
  test("[TK8] a token is valid only for its own tenant, whatever its header and claims say", async () => {
    await checkProperty(async (mine, theirs, generation) => {
      const claims = { tenant: mine, user: "ada", expires: EXPIRES, token: "t", issued: NOW / 1000, generation }
      const token = await issueToken(claims, SECRET)
      expect(await verifyToken(token, SECRET, NOW)).toEqual({ ok: true, value: claims })
      const key = await deriveTokenKey(SECRET, { tenant: mine, generation })
      const kids = [
        { tenant: mine, generation },
        { tenant: theirs, generation },
      ].map(formatKid)
      for (const kid of [...kids, undefined]) {
        const forged = await new SignJWT({ tenant: theirs, sub: "ada", exp: EXPIRES })
          .setProtectedHeader(kid === undefined ? { alg: "HS256" } : { alg: "HS256", kid })
          .sign(key)
        expect(await verifyToken(forged, SECRET, NOW)).toMatchObject({ fault: { reason: "token_invalid" } })
      }
    })
  })

  test("[TK8] an API key names only its own tenant, and its hash is valid for no other", async () => {
    await checkProperty(async (mine, theirs) => {
      const { text, stored } = await createApiKey(mine)
      const parsed = parseApiKey(text)
      expect(parsed).toMatchObject({ tenant: mine, id: stored.id })
      // With the other tenant's name, the checksum is no longer correct.
      expect(parseApiKey(text.replace(`ck_${mine}_`, `ck_${theirs}_`))).toBeNull()
      const other = await createApiKey(theirs)
      const moved = parseApiKey(formatApiKey({ tenant: theirs, id: other.stored.id, secret: parsed?.secret ?? "" }))
      expect(await hashApiKeySecret(moved?.secret ?? "")).not.toBe(other.stored.hash)
    })
  })

  test("[TK8] a seal is valid only for the tenant that exported", async () => {
    await checkProperty(async (mine, theirs) => {
      const sealOf = () => {
        const seal = createSeal()
        seal.add(['{"type":"user"}'])
        return seal
      }
      const value = await sealOf().sign(await deriveExportKey(SECRET, mine))
      expect(await sealOf().verify(await deriveExportKey(SECRET, mine), value)).toBe(true)
      expect(await sealOf().verify(await deriveExportKey(SECRET, theirs), value)).toBe(false)
    })
  })

  test("[TK8] a signed link names its own tenant, and can't be forged with a token key", async () => {
    const audiences: readonly LinkAudience[] = ["media", "canvas", "remote"]
    await checkProperty(async (mine, theirs, generation) => {
      const audience = audiences[generation % audiences.length] ?? "media"
      const claims = { tenant: mine, session: "s1", user: "ada", what: "a1", expires: EXPIRES }
      const link = await signLink(SECRET, audience, claims)
      expect(await verifyLink(SECRET, audience, link, NOW)).toEqual({ ok: true, value: claims })
      expect(await verifyToken(link, SECRET, NOW)).toMatchObject({ ok: false })
      const forged = await new SignJWT({ tenant: theirs, session: "s1", user: "ada" })
        .setProtectedHeader({ alg: "HS256" })
        .setAudience(audience)
        .setSubject("a1")
        .setExpirationTime(EXPIRES)
        .sign(await deriveTokenKey(SECRET, { tenant: mine, generation }))
      expect(await verifyLink(SECRET, audience, forged, NOW)).toMatchObject({ fault: { reason: "link_invalid" } })
    })
  })
})
