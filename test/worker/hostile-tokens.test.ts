/** hostile-tokens.test.ts: tests that forged tokens are refused without calling objects or fetching anything. */

import { afterEach, beforeAll, describe, expect, test, vi } from "vitest"
import { signLink } from "../../worker/auth/link-signing.ts"
import { verifyToken } from "../../worker/auth/verify-token.ts"
import { call, nowSeconds, refusal, SECRET, socketHeaders } from "./http.ts"
import { forgeToken, type Loot, UNVERIFIED_TOKENS } from "./hostile-tokens.ts"
import { createTenant, tokenWith } from "./tenant-access.ts"

/** Returns the bytes of a tenant's token key, derived as the server derives it. */
async function deriveBytes(tenant: string): Promise<Uint8Array<ArrayBuffer>> {
  const hmac = { name: "HMAC", hash: "SHA-256" }
  const master = await crypto.subtle.importKey("raw", new TextEncoder().encode(SECRET), hmac, false, ["sign"])
  const data = new TextEncoder().encode(`cuecard token ${tenant} 1`)
  return new Uint8Array(await crypto.subtle.sign("HMAC", master, data))
}

let loot: Loot
beforeAll(async () => {
  const apiKey = await createTenant("evil")
  const now = nowSeconds()
  const claims = { tenant: "evil", session: "s1", what: "a1", expires: now + 600 }
  loot = {
    key: await deriveBytes("evil"),
    token: await tokenWith(apiKey, "eve"),
    link: await signLink(SECRET, "media", claims),
    apiKey,
    now,
  }
})
afterEach(() => void vi.restoreAllMocks())

/** Returns bindings that record which objects and bucket keys are requested. */
function watchBindings() {
  const asked: string[] = []
  const createRecorder = (binding: string) =>
    new Proxy(
      {},
      {
        get:
          (_target, method) =>
          (...args: unknown[]) =>
            void asked.push(`${binding}.${String(method)} ${args[0]}`),
      },
    )
  const bindings = ["SESSION", "DIRECTORY", "TENANT", "REGISTRY", "MEDIA"] as const
  return { asked, env: Object.fromEntries(bindings.map((binding) => [binding, createRecorder(binding)])) }
}

/** Encodes text for a header value. Each character of the result stands for one byte of the text in UTF-8. */
const toHeader = (text: string): string =>
  Array.from(new TextEncoder().encode(text), (byte) => String.fromCharCode(byte)).join("")

describe("forged tokens", () => {
  test("[TK7] have valid signatures: a token that is made in the same way for evil itself is accepted", async () => {
    const token = await forgeToken(
      loot,
      { alg: "HS256", kid: "cuecard:evil:1" },
      { tenant: "evil", sub: "eve", exp: 4e9 },
    )
    expect(await verifyToken(token, SECRET, Date.now())).toMatchObject({ ok: true })
    expect(UNVERIFIED_TOKENS.length).toBeGreaterThanOrEqual(100)
  })

  test.each(UNVERIFIED_TOKENS)("[TK7] are refused: %s", async (_what, make) => {
    const token = toHeader(await make(loot))
    const watched = watchBindings()
    const fetched = vi.spyOn(globalThis, "fetch")
    const paths: [method: string, path: string][] = [
      ["GET", "/v1/sessions"],
      ["GET", "/v1/keys"],
      ["POST", "/v1/tokens"],
      ["POST", "/v1/tokens/revoke"],
      ["PUT", "/v1/settings"],
      ["GET", "/v1/tenants"],
      ["POST", "/external/sessions/s1/events"],
    ]
    for (const [method, path] of paths) {
      const refused = await call(path, { method, token, env: watched.env })
      expect(refused.status, path).toBe(401)
      expect(refused.json.code).toMatch(/^token_(?:invalid|expired)$/)
    }
    if (!/[\s,]/.test(token)) {
      const refused = await call("/v1/sessions/s1/socket", { headers: socketHeaders(token), env: watched.env })
      expect(refused.status).toBe(401)
    }
    expect(watched.asked).toEqual([])
    expect(fetched).not.toHaveBeenCalled()
  })

  test("[TK7] are refused if they are longer than 8 KB, even if they are signed correctly", async () => {
    const header = { alg: "HS256", kid: "cuecard:evil:1" }
    const forgeSized = (extra: number) =>
      forgeToken(loot, header, { tenant: "evil", sub: "eve", exp: 4e9, more: "x".repeat(extra) })
    expect((await call("/v1/sessions", { token: await forgeSized(5_000) })).status).toBe(200)
    expect(await call("/v1/sessions", { token: await forgeSized(8_000) })).toEqual(refusal(401, "token_invalid"))
  })
})

describe("with warm caches", () => {
  test("[TK9] a token and an API key are checked without a call to another object", async () => {
    const first = await createTenant("tk9")
    const token = await tokenWith(first, "root", { role: "owner" })
    const asked: string[] = []
    const watchBinding = (binding: "DIRECTORY" | "TENANT", answers: object) => ({
      getByName(name: string) {
        asked.push(`${binding} ${name}`)
        return answers
      },
    })
    for (const each of [token, first]) await call("/v1/agents", { token: each })
    const warm = {
      TENANT: watchBinding("TENANT", { listAgents: () => [], listWebhookTools: () => [] }),
      DIRECTORY: watchBinding("DIRECTORY", {}),
    }
    for (const each of [token, first]) expect((await call("/v1/agents", { token: each, env: warm })).status).toBe(200)
    // Only the route itself calls the tenant, to get the agents.
    expect(asked).toEqual(["TENANT tk9", "TENANT tk9"])
  })
})
