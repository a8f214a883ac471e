/** issuer-identity.test.ts: that nobody becomes another user of an issuer: by a claim, by another registration, or by a removed one. */

import { env } from "cloudflare:test"
import { describe, expect, test } from "vitest"
import { createForeignUserId, verifyForeignToken } from "../../worker/auth/issuer/foreign-token.ts"
import type { Env } from "../../worker/env.ts"
import { call, refusal } from "./http.ts"
import { foreignClaims, putIssuer, registerIssuer, startProvider, tokenOfRole } from "./oidc.ts"

const whoIs = async (token: string) => await verifyForeignToken(env as Env, token, Date.now())
const denied = refusal(403, "scope_denied")

describe("two registrations of one provider", () => {
  test("[OI10] the value of another claim identifies another user, and sub keeps its id", async () => {
    const provider = await startProvider()
    await registerIssuer("id-sub", provider)
    await registerIssuer("id-nick", provider, { audience: "nick", user_claim: "nickname" })
    const bySub = await whoIs(await provider.sign({ payload: foreignClaims(provider, { sub: "boss" }) }))
    const claims = { sub: "mallory", nickname: "boss", aud: "nick" }
    const byNickname = await whoIs(await provider.sign({ payload: foreignClaims(provider, claims) }))
    expect(bySub).toMatchObject({ value: { user: await createForeignUserId(provider.issuer, "sub", "boss") } })
    expect(byNickname).toMatchObject({
      value: { user: await createForeignUserId(provider.issuer, "nickname", "boss") },
    })
    const ids = ["sub", "nickname"].map((claim) => createForeignUserId(provider.issuer, claim, "boss"))
    expect(new Set(await Promise.all(ids)).size).toBe(2)
  })

  test("[OI10] of a tenant have the same user claim and the same address of the keys", async () => {
    const provider = await startProvider()
    const { issuer } = provider
    await registerIssuer("id-same", provider)
    for (const [field, change] of [
      ["user_claim", { user_claim: "nickname" }],
      ["jwks_uri", { jwks_uri: `${issuer}/jwks` }],
    ] as const) {
      const body = { issuer, audience: "mine", ...change }
      expect(await putIssuer("id-same", body, { name: "mine" })).toEqual(refusal(400, "field_invalid", field))
    }
    expect((await putIssuer("id-same", { issuer, audience: "mine" }, { name: "mine" })).status).toBe(200)
  })

  test("[OI10] an administrator can only add a provider that the tenant has never had", async () => {
    const provider = await startProvider()
    const own = { issuer: provider.issuer, jwks_uri: `${provider.issuer}/jwks` }
    await registerIssuer("id-admin", provider)
    const asAdmin = { role: "admin" } as const
    expect(await putIssuer("id-admin", { ...own, audience: "mine" }, { ...asAdmin, name: "mine" })).toEqual(denied)
    expect(await putIssuer("id-admin", { ...own, audience: "mine" }, asAdmin)).toEqual(denied)
    // Nor after removing it.
    const token = await tokenOfRole("id-admin", "admin")
    expect((await call("/v1/issuers/idp", { method: "DELETE", token })).status).toBe(204)
    expect(await putIssuer("id-admin", { ...own, audience: "mine" }, { ...asAdmin, name: "mine" })).toEqual(denied)
    const another = await startProvider()
    const added = await putIssuer("id-admin", { issuer: another.issuer, audience: "new" }, { ...asAdmin, name: "new" })
    expect(added.status).toBe(200)
  })

  test("[OI10] nor where users of unknown providers were imported", async () => {
    const { issuer } = await startProvider()
    await env.TENANT.getByName("id-import").registerUser({ id: "o_boss", role: "owner", issuer: "old" })
    const body = { issuer, audience: "mine" }
    expect(await putIssuer("id-import", body, { role: "admin" })).toEqual(denied)
    expect((await putIssuer("id-import", body)).status).toBe(200)
  })
})
