/**
 * mcp-connection.ts: connects a user's own account at an MCP server: redirects to the server's authorization server,
 * and handles the callback. Source: SPEC MP11, MP12.
 *
 * The page starts a connection with a request that contains the user's token, and gets a cookie. The callback has only
 * the cookie, so a link from another person can't connect that person's account.
 */

import { type Fault, fail, type McpFlaw, type Result, succeed } from "../../shared/fault.ts"
import type { Env } from "../env.ts"
import { createAuthorizationRequest, redeemCallback } from "../mcp/user-authorization.ts"
import { computeHash } from "../platform/crypto/sha256-hex.ts"
import { log } from "../platform/log.ts"
import { type Claims, getRole } from "../platform/rpc/claims.ts"
import { tenantStub } from "../platform/rpc/object-stubs.ts"
import { describeClient, type McpClient } from "../settings/mcp-config.ts"
import {
  formatConnectCookies,
  readConnectCookie,
  removeConnectCookie,
  type StartedConnection,
} from "./connect-cookie.ts"
import { createConnectedPage } from "./connected-page.ts"

/** Maximum length of a callback's query, in characters. Some servers' codes have 2,000 characters. */
const MAX_CALLBACK_CHARS = 8 * 1024

export interface ConnectRequest {
  readonly server: string
  /** The origin of the page. */
  readonly origin: string
  /** The request's `Cookie`. */
  readonly cookie: string | null
}

/** Returns the URL at which the user grants access, and the cookies. Errors: `mcp_server_unknown`, `mcp_refused`. */
export async function startConnection(
  env: Env,
  claims: Claims,
  { server, origin, cookie }: ConnectRequest,
): Promise<Result<{ readonly url: string; readonly cookies: readonly string[] }>> {
  const { tenant, user } = claims
  const tenantObject = tenantStub(env, tenant)
  const client = await tenantObject.getMcpClient(server)
  if (!client.ok) return client
  // The callback stores tokens only for users of the tenant, and so never for a user who was erased in the meantime.
  await tenantObject.registerUser({ id: user, role: getRole(claims) })
  const request = await createAuthorizationRequest(env, client.value, getRedirectUri(origin, tenant, server))
  if (!request.ok) return fail({ reason: "mcp_refused", because: request.fault })
  const { url, state, verifier } = request.value
  const started = { tenant, user, server, client: await digestClient(client.value), state, verifier }
  return succeed({ url, cookies: await formatConnectCookies(env.JWT_SECRET ?? "", started, cookie) })
}

/**
 * Handles the return from the authorization server. The response is a page that shows whether the connection succeeded.
 */
export async function completeConnection(
  env: Env,
  request: Request,
  { tenant, server }: { readonly tenant: string; readonly server: string },
): Promise<Response> {
  const callback = new URL(request.url)
  const state = callback.searchParams.get("state") ?? ""
  const cookie = request.headers.get("cookie")
  const started = await readConnectCookie(env.JWT_SECRET ?? "", cookie, state)
  const languages = request.headers.get("accept-language")
  const isOwn = started !== null && started.tenant === tenant && started.server === server
  if (!isOwn || callback.search.length > MAX_CALLBACK_CHARS)
    return await createConnectedPage({ server: null, languages })
  const completed = await redeem(env, callback, started)
  if (!completed.ok) {
    const { reason } = completed.fault
    const because = reason === "mcp_refused" ? completed.fault.because : reason
    log("mcp_connection_failed", { tenant, server, because })
  }
  const page = await createConnectedPage({ server: completed.ok ? server : null, languages })
  page.headers.append("set-cookie", removeConnectCookie(started))
  return page
}

async function redeem(env: Env, callback: URL, started: StartedConnection): Promise<Result<null>> {
  const { tenant, user, server } = started
  const tenantObject = tenantStub(env, tenant)
  const client = await tenantObject.getMcpClient(server)
  if (!client.ok) return client
  if ((await digestClient(client.value)) !== started.client) return refuse("changed")
  const redirectUri = getRedirectUri(callback.origin, tenant, server)
  const tokens = await redeemCallback(env, client.value, started, callback, redirectUri)
  return tokens.ok
    ? await tenantObject.addMcpConnection(user, server, client.value, tokens.value)
    : refuse(tokens.fault)
}

function refuse(because: McpFlaw): { readonly ok: false; readonly fault: Fault } {
  return fail({ reason: "mcp_refused", because })
}

/**
 * Returns the callback URL. Each server of each tenant has its own URL, so that the response of one server is never
 * mistaken for that of another (RFC 9700, 4.4). Tenants can share an origin, and don't trust each other's authorization
 * servers.
 */
function getRedirectUri(origin: string, tenant: string, server: string): string {
  return `${origin}/auth/connections/${tenant}/${server}`
}

async function digestClient(client: McpClient): Promise<string> {
  return await computeHash(describeClient(client))
}
