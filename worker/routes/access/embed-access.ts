/**
 * embed-access.ts: gives access to the API and to media to the sites that show a tenant's widget, and lets these sites
 * frame the page.
 *
 * Which sites are allowed depends on the tenant. The token of a request names the tenant. A preflight has no token, so
 * it succeeds for any https origin; the request that follows is checked. Source: SPEC WG2 to WG4, WG10.
 */

import type { Context, MiddlewareHandler } from "hono"
import { decodeJwt } from "jose"
import * as v from "valibot"
import type { Env } from "../../env.ts"
import { describeError, logError } from "../../platform/log.ts"
import { checkRegion } from "../../platform/media-bucket.ts"
import { tenantStub } from "../../platform/rpc/object-stubs.ts"
import { tenantIdSchema } from "../../platform/tenant-id.ts"
import { readCachedConfig } from "../../settings/config-cache.ts"
import { canBeEmbedHost, isEmbedHost } from "../../settings/embed-hosts.ts"
import type { AppEnv } from "../request-body.ts"

/** Whether the server runs on a developer's machine, where sites on the same machine may show the widget. */
export function allowsLoopback({ ENVIRONMENT }: Pick<Env, "ENVIRONMENT">): boolean {
  return ENVIRONMENT === "local"
}

/**
 * Whether a request from this origin may be passed on to the check of its token: some tenant could allow the origin,
 * and the request has a token or is a preflight, which never has one.
 */
export function mayComeFromWidget({ req, env }: Context<AppEnv>, origin: string): boolean {
  if (!req.path.startsWith("/v1/") || !canBeEmbedHost(origin, allowsLoopback(env))) return false
  const hasToken = req.header("authorization") !== undefined || req.header("sec-websocket-protocol") !== undefined
  return hasToken || (req.method === "OPTIONS" && req.header("access-control-request-method") !== undefined)
}

/**
 * Returns the sites that may show a tenant's widget; none for a tenant that is not served here, or if its object fails.
 * A change takes effect within CONFIG_TRUST_MS.
 */
export async function loadEmbedHosts(env: Env, tenant: string): Promise<readonly string[]> {
  if (!checkRegion(env, tenant).ok) return []
  try {
    return await readCachedConfig(tenant, "embed-hosts", async () => {
      const { embed_hosts } = await tenantStub(env, tenant).getSettings()
      return embed_hosts ?? []
    })
  } catch (error) {
    logError("settings_unknown", { error: describeError(error) })
    return []
  }
}

/** Whether a tenant's widget may be shown on pages of this origin. */
export async function mayEmbed(env: Env, tenant: string, origin: string): Promise<boolean> {
  return canBeEmbedHost(origin, allowsLoopback(env)) && isEmbedHost(await loadEmbedHosts(env, tenant), origin)
}

/**
 * Returns the parents that may frame `/embed?tenant=<id>&origin=<origin>`: only that origin, if the tenant allows it.
 * The response doesn't reveal the tenant's other sites. `pageTenant` applies if the request names no tenant.
 */
export async function listEmbedParents(env: Env, url: URL, pageTenant: string | null): Promise<readonly string[]> {
  const tenant = url.searchParams.get("tenant") ?? pageTenant
  const origin = url.searchParams.get("origin") ?? ""
  if (tenant === null || !v.is(tenantIdSchema, tenant)) return ["'none'"]
  return (await mayEmbed(env, tenant, origin)) ? [origin] : ["'none'"]
}

/**
 * Lets the sites that may show a tenant's widget load media through the tenant's signed links. Our own pages need no
 * permission, so the settings are read only for other sites. The route has verified the link, unless the response is a
 * refusal.
 */
export const admitWidgetMedia: MiddlewareHandler<AppEnv> = async (context, next) => {
  await next()
  const { req, env } = context
  if ((req.header("sec-fetch-site") ?? "same-origin") === "same-origin") return
  // A link that the server hasn't signed must not make the server read a tenant's settings.
  const isSigned = context.res.ok || (await readRefusalCode(context.res)) !== "link_invalid"
  const tenant = isSigned ? readLinkTenant(req.query("token") ?? "") : null
  const hosts = tenant === null ? [] : await loadEmbedHosts(env, tenant)
  if (hosts.length === 0) return
  // The signed link grants access. Browsers load images and videos without an Origin header.
  context.header("cross-origin-resource-policy", "cross-origin")
  context.header("vary", "Origin", { append: true })
  const origin = req.header("origin")
  if (origin !== undefined && isEmbedHost(hosts, origin)) context.header("access-control-allow-origin", origin)
}

async function readRefusalCode(refusal: Response): Promise<unknown> {
  return Reflect.get(
    Object(
      await refusal
        .clone()
        .json()
        .catch(() => null),
    ),
    "code",
  )
}

/** Returns the tenant that a link names, without verifying the link. */
export function readLinkTenant(token: string): string | null {
  try {
    const { tenant } = decodeJwt(token)
    return v.is(tenantIdSchema, tenant) ? tenant : null
  } catch {
    return null
  }
}
