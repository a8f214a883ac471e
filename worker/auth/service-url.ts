/**
 * service-url.ts: checks the URLs of services that a tenant configures, such as identity providers, models and
 * webhooks.
 */

import { checkPublicUrl } from "../../shared/text/public-url.ts"
import { isLoopbackName } from "../platform/origin.ts"

export interface ServiceUrlEnv {
  readonly ENVIRONMENT: string
  /** URLs of the deployment itself (`Env`), which a tenant cannot configure as a service. */
  readonly PAGE_DOMAIN?: string
  readonly PAGE_ORIGIN?: string
  readonly CANVAS_ORIGIN?: string
}

/**
 * Returns the normalised URL if it is a public https URL and not one of the deployment's own; otherwise null. A local
 * deployment may also use http on this machine.
 */
export function checkServiceUrl(text: string, env: ServiceUrlEnv): string | null {
  if (env.ENVIRONMENT === "local" && URL.canParse(text)) {
    const url = new URL(text)
    const isBare = url.username === "" && url.password === "" && url.protocol === "http:"
    if (isBare && isLoopbackName(url.hostname)) return url.href
  }
  const checked = checkPublicUrl(text)
  return checked.ok && !isOwnHost(checked.value.href, env) ? checked.value.href : null
}

function isOwnHost(href: string, { PAGE_DOMAIN, PAGE_ORIGIN, CANVAS_ORIGIN }: ServiceUrlEnv): boolean {
  const { hostname } = new URL(href)
  const isBelowDomain = PAGE_DOMAIN !== undefined && `.${hostname}`.endsWith(`.${PAGE_DOMAIN}`)
  const origins = [PAGE_ORIGIN, CANVAS_ORIGIN].filter((origin) => origin !== undefined)
  return isBelowDomain || origins.some((origin) => new URL(origin).hostname === hostname)
}
