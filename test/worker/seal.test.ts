/** seal.test.ts: tests valid and invalid seals of exports. */

import { expect, test } from "vitest"
import { deriveExportKey } from "../../worker/auth/verify-token.ts"
import { createSeal } from "../../worker/transfer/export-seal.ts"

async function sealOf(lines: readonly string[], tenant = "acme") {
  const key = await deriveExportKey("a secret of more than thirty-two bytes", tenant)
  const createUpdated = () => {
    const seal = createSeal()
    seal.add(lines)
    return seal
  }
  return { value: await createUpdated().sign(key), verify: (value: string) => createUpdated().verify(key, value) }
}

test("[RE4] a seal is valid only for the same records and with the same key", async () => {
  const { value, verify } = await sealOf(["a", "b"])
  expect(await verify(value)).toBe(true)
  expect(await verify((await sealOf(["a", "c"])).value)).toBe(false)
  expect(await verify((await sealOf(["a", "b"], "other")).value)).toBe(false)
})

test.each(["", "x", "§§§", "AAAA", "A".repeat(10_000)])(
  "[RE4] a seal of %.10s is invalid, but causes no error",
  async (value) => {
    expect(await (await sealOf(["a"])).verify(value)).toBe(false)
  },
)
