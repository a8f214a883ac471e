/** connect-server.ts: connects a user's own account to an MCP server, without a page. */

import type { Cuecard } from "cuecard/testing"
import { expect } from "vitest"
import { CookieJar, signInAtProvider } from "../support/oidc-client.ts"

/** Connects the token's user, who signs in to the test's provider under the given name. */
export async function connectServer(cuecard: Cuecard, token: string, server: string, user: string): Promise<void> {
  const jar = new CookieJar()
  const headers = { authorization: `Bearer ${token}` }
  const started = await fetch(`${cuecard.url}/v1/connections/${server}`, { method: "POST", headers })
  jar.read(started)
  const { url } = JSON.parse(await started.text())
  const callback = await signInAtProvider(url, user)
  expect((await fetch(callback, { headers: { cookie: jar.header } })).status).toBe(200)
}
