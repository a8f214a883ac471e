/** issuer-metadata.ts: finds the endpoints of an MCP server's authorization server. Source: SPEC MP8. */

import type { AuthorizationServer } from "oauth4webapi"
import { fetchProviderJson, type ProviderEnv } from "../auth/issuer/provider-fetch.ts"

/** Metadata that is known to name the expected issuer and a token endpoint. The other fields are not validated. */
export type IssuerMetadata = AuthorizationServer & { readonly token_endpoint: string }

/**
 * Fetches the metadata from the paths of RFC 8414 and of OpenID Connect. Returns null if there is no metadata, or if it
 * belongs to another issuer.
 */
export async function findIssuerMetadata(env: ProviderEnv, issuer: string): Promise<IssuerMetadata | null> {
  if (!URL.canParse(issuer)) return null
  const { origin, pathname } = new URL(issuer)
  const path = pathname.replace(/\/$/, "")
  for (const address of [
    `${origin}/.well-known/oauth-authorization-server${path}`,
    `${origin}${path}/.well-known/openid-configuration`,
  ]) {
    const metadata = await fetchProviderJson(address, env)
    if (!metadata.ok) continue
    const { issuer: named, token_endpoint } = metadata.value
    const isOwn = named === issuer && typeof token_endpoint === "string"
    return isOwn ? { ...metadata.value, issuer, token_endpoint } : null
  }
  return null
}
