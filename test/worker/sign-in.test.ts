/** sign-in.test.ts: the page's sign-in at a real OpenID provider, without a browser: redirects, cookies, tokens, sign-out. */

import { expect, test } from "vitest"
import { call } from "./http.ts"
import { registerIssuer, startProvider, TestBrowser } from "./oidc.ts"

test("[SI1] a person signs in at the provider and gets a token of the tenant", async () => {
  const provider = await startProvider()
  await registerIssuer("si-first", provider)
  const browser = new TestBrowser("si-first")
  expect((await browser.get("/auth/providers")).json).toEqual({
    tenant: "si-first",
    providers: [{ name: "idp", label: "idp" }],
  })
  expect(await browser.signIn("ada", { to: "/#/s/abc" })).toBe("/#/s/abc")
  const issued = await browser.post("/auth/token")
  expect(issued).toMatchObject({
    status: 200,
    json: { tenant: "si-first", user: { id: expect.stringMatching(/^o_/), name: "Ada Example", role: "member" } },
  })
  const { token } = issued.json
  expect((await call("/v1/sessions", { token })).status).toBe(200)
})
