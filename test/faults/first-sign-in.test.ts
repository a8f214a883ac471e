/** first-sign-in.test.ts: kills a real server while a user signs in for the first time. */

import { startCuecard } from "../support/checked-cuecard.ts"
import { afterAll, expect, test } from "vitest"
import { CLIENT_ID, CLIENT_SECRET, startOidcProvider } from "../support/oidc-provider.ts"
import { CookieJar, signInAtProvider } from "../support/oidc-client.ts"
import { mkdtemp, rm } from "node:fs/promises"
import { tmpdir } from "node:os"
import { join } from "node:path"

const TENANT = "acme"
/** Times of the kills, in milliseconds after the callback request; null means no kill. */
const KILLS = [0, 2, 5, 12, 25, null] as const

const folders: string[] = []
afterAll(async () => {
  for (const folder of folders) await rm(folder, { recursive: true, force: true })
})

/** Requests a URL of the server with the page's cookies, as the page does. */
async function requestUrl(url: string, jar: CookieJar, init: RequestInit = {}): Promise<Response> {
  const response = await fetch(url, { redirect: "manual", ...init, headers: { ...init.headers, cookie: jar.header } })
  jar.read(response)
  return response
}

async function requestToken(url: string, jar: CookieJar): Promise<Response> {
  const headers = { origin: url, "content-type": "application/json" }
  return await requestUrl(`${url}/auth/token`, jar, { method: "POST", headers, body: "{}" })
}

test("[SI2] [SI1] after a kill at any moment of a first sign-in, either nobody is signed in or everything works", async () => {
  const persist = await mkdtemp(join(tmpdir(), "cuecard-sign-in-"))
  folders.push(persist)
  const vars = { AUTH: "jwt", PAGE_TENANT: TENANT }
  let cuecard = await startCuecard({ persist, vars })
  const port = Number(new URL(cuecard.url).port)
  const provider = await startOidcProvider({ redirectUris: [`${cuecard.url}/auth/callback/idp`] })
  const { url } = cuecard
  const token = await cuecard.tokenFor({ tenant: TENANT, user: "root", role: "owner" })
  const body = JSON.stringify({
    issuer: provider.issuer,
    audience: "api",
    client_id: CLIENT_ID,
    client_secret: CLIENT_SECRET,
  })
  const headers = { authorization: `Bearer ${token}`, "content-type": "application/json" }
  const put = await fetch(`${url}/v1/issuers/idp`, { method: "PUT", headers, body })
  expect(put.status).toBe(200)
  for (const [i, killMs] of KILLS.entries()) {
    const jar = new CookieJar()
    const begun = await requestUrl(`${url}/auth/login`, jar)
    const callback = await signInAtProvider(begun.headers.get("location") ?? "", `user${i}`)
    const answer = requestUrl(callback, jar).catch(() => null)
    if (killMs !== null) {
      await new Promise((resolve) => setTimeout(resolve, killMs))
      await cuecard.kill()
      await answer
      cuecard = await startCuecard({ persist, vars, port })
    }
    await answer
    // With the cookie, the user is signed in. Without the cookie, the user signs in again.
    if (jar.get("__Host-cuecard") === undefined) {
      const again = await requestUrl(`${url}/auth/login`, jar)
      const next = await signInAtProvider(again.headers.get("location") ?? "", `user${i}`)
      expect((await requestUrl(next, jar)).headers.get("location")).toBe("/")
    }
    const issued = await requestToken(url, jar)
    expect(issued.status, `killed after ${killMs} ms`).toBe(200)
    const page = (await issued.json()) as { token: string; user: { name: string } }
    expect(page.user.name).toBe(`User${i} Example`)
    const listed = await fetch(`${url}/v1/sessions`, { headers: { authorization: `Bearer ${page.token}` } })
    expect(listed.status).toBe(200)
  }
  // Check that no user is listed twice.
  const users = (await (await fetch(`${url}/v1/users`, { headers })).json()) as { users: { name: string }[] }
  const names = users.users.map(({ name }) => name).filter((name) => name?.startsWith("User"))
  expect(names.sort()).toEqual(KILLS.map((_ms, i) => `User${i} Example`).sort())
  await provider.close()
  await cuecard.close()
})
