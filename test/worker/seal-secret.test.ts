/** seal-secret.test.ts: tests sealed secrets: opening them, rotation, and changed or moved values. */

import { describe, expect, test } from "vitest"
import { findDeploymentFault, LOCAL_SECRET } from "../../worker/env.ts"
import { MAX_SECRET_CHARS, openSecret, sealSecret } from "../../worker/platform/crypto/seal-secret.ts"

const OLD = "old-".repeat(10)
const NEW = "new-".repeat(10)
const ENV = { JWT_SECRET: OLD }
const PLACE = { tenant: "acme", purpose: "model key", name: "gpt" }
const TEXT = "key-4711-äöü-🦊"

describe("a sealed secret", () => {
  test("[SL1] opens in the place for which it was sealed, doesn't contain its text, and differs each time", async () => {
    const sealed = await sealSecret(ENV, PLACE, TEXT)
    expect(sealed).toMatch(/^s1\.[0-9a-f]{16}\.[\w-]+$/)
    expect(sealed).not.toContain("4711")
    expect(await openSecret(ENV, PLACE, sealed)).toEqual({ text: TEXT, isCurrent: true })
    expect(await sealSecret(ENV, PLACE, TEXT)).not.toBe(sealed)
    expect(await openSecret(ENV, PLACE, await sealSecret(ENV, PLACE, ""))).toEqual({ text: "", isCurrent: true })
  })

  test.each([
    { ...PLACE, tenant: "eu.acme" },
    { ...PLACE, purpose: "webhook secret" },
    { ...PLACE, name: "gpt2" },
    { tenant: 'acme","model key', purpose: "", name: "gpt" },
  ])("[SL1] does not open in another place: %j", async (place) => {
    expect(await openSecret(ENV, place, await sealSecret(ENV, PLACE, TEXT))).toBeNull()
  })

  test("[SL1] does not open after any change, and never causes an error", async () => {
    const sealed = await sealSecret(ENV, PLACE, "key")
    for (let i = 0; i < sealed.length; i++) {
      const changed = sealed.slice(0, i) + (sealed[i] === "A" ? "B" : "A") + sealed.slice(i + 1)
      // Decoders ignore the unused bits of the last character.
      if (i < sealed.length - 1) expect(await openSecret(ENV, PLACE, changed)).toBeNull()
    }
    const [version, keyId] = sealed.split(".")
    const others = [
      "",
      "s1",
      "s1..",
      `${version}.${keyId}.`,
      `${version}.${keyId}.!`,
      `${sealed}.x`,
      "x".repeat(100_000),
    ]
    for (const other of others) expect(await openSecret(ENV, PLACE, other)).toBeNull()
  })

  test("[SL1] has a bounded length", async () => {
    const longest = "x".repeat(MAX_SECRET_CHARS)
    expect(await openSecret(ENV, PLACE, await sealSecret(ENV, PLACE, longest))).toMatchObject({ text: longest })
    await expect(sealSecret(ENV, PLACE, `${longest}x`)).rejects.toThrow(RangeError)
  })
})

describe("rotation", () => {
  test("[SL2] a value that was sealed with an older secret opens, and the newest secret seals it next time", async () => {
    const old = await sealSecret(ENV, PLACE, TEXT)
    const rotated = { JWT_SECRET: OLD, SEALING_SECRETS: NEW }
    expect(await openSecret(rotated, PLACE, old)).toEqual({ text: TEXT, isCurrent: false })
    const again = await sealSecret(rotated, PLACE, TEXT)
    expect(again.split(".")[1]).not.toBe(old.split(".")[1])
    expect(await openSecret(rotated, PLACE, again)).toEqual({ text: TEXT, isCurrent: true })
    // Once everything has been sealed again, the old secret can be removed, and JWT_SECRET can change independently.
    expect(await openSecret({ JWT_SECRET: "other".repeat(8), SEALING_SECRETS: NEW }, PLACE, again)).not.toBeNull()
    expect(await openSecret({ JWT_SECRET: "other".repeat(8), SEALING_SECRETS: NEW }, PLACE, old)).toBeNull()
    const third = { JWT_SECRET: "other".repeat(8), SEALING_SECRETS: `${"third".repeat(8)}, ${NEW}` }
    expect(await openSecret(third, PLACE, again)).toEqual({ text: TEXT, isCurrent: false })
  })
})

describe("a deployment", () => {
  const PRODUCTION = { ENVIRONMENT: "production", AUTH: "jwt", JWT_SECRET: "x".repeat(32) }
  const at = new URL("https://chat.example.com")

  test.each([
    ["short", "SEALING_SECRETS is shorter than 32 bytes"],
    [`${"y".repeat(32)},short`, "SEALING_SECRETS is shorter than 32 bytes"],
    [LOCAL_SECRET, "SEALING_SECRETS is the local development secret"],
    [",", "SEALING_SECRETS is empty"],
  ])("[SL3] with SEALING_SECRETS %j refuses to serve", (SEALING_SECRETS, fault) => {
    expect(findDeploymentFault({ ...PRODUCTION, SEALING_SECRETS }, at)).toBe(fault)
  })

  test("[SL3] with long secrets serves", () => {
    expect(
      findDeploymentFault({ ...PRODUCTION, SEALING_SECRETS: `${"y".repeat(32)},${"z".repeat(32)}` }, at),
    ).toBeNull()
  })
})
