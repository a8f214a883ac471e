/**
 * access-table.ts: the callers that may use each route of the API. Pure.
 *
 * A route that is not in the table does not exist for clients, so new routes are closed by default. Routes outside
 * `/v1` and `/external` are not listed: the page's files and `/healthz` are public, and `/auth` and the signed links
 * check access themselves.
 */

import type { RateClass } from "../../../shared/user-limits.ts"
import type { Claims, Role } from "../../platform/rpc/claims.ts"
import { getRole, getScope } from "../../platform/rpc/claims.ts"

/**
 * A kind of caller: a user with a role, a token of scope `external`, a token of scope `admin` (from before roles
 * existed), or an API key with a role.
 */
export type Principal = Role | "external" | "admin-scope" | `key-${Role}`

export interface AccessRule {
  readonly method: "GET" | "POST" | "PUT" | "PATCH" | "DELETE"
  /** Segments that begin with a colon match any string without a slash. */
  readonly path: string
  /** `open`: needs no token. `operator`: needs the operator's secret. */
  readonly allow: readonly Principal[] | "open" | "operator"
  /** Even revoked tokens are admitted. */
  readonly admitsRevoked?: true
  /**
   * Although its method is not GET, the route can be used while the tenant is leaving, because it writes nothing or is
   * part of leaving.
   */
  readonly admitsLeaving?: true
  /** With `?owner=`, the route also reads a session that its owner shares with the user. */
  readonly admitsViewers?: true
  /** The rate limit against which a request counts. Default: `read` for a GET, and `write` for any other method. */
  readonly rateClass?: RateClass
}

const ADMINS: readonly Principal[] = ["owner", "admin"]
const MEMBERS: readonly Principal[] = ["owner", "admin", "member"]
export const READERS: readonly Principal[] = ["owner", "admin", "member", "viewer"]
/** Users and API keys that may configure the tenant, and the `admin` tokens that did so before roles existed. */
export const CONFIGURERS: readonly Principal[] = [...ADMINS, "admin-scope", "key-owner", "key-admin"]
/**
 * Callers that may answer on behalf of an external agent: administrators, and API keys that can create tokens for the
 * tenant's users.
 */
const LISTENERS: readonly Principal[] = [...ADMINS, "key-owner", "key-admin", "key-member"]
/** Users and API keys that may administer the tenant. */
export const ADMINISTRATORS: readonly Principal[] = [...ADMINS, "key-owner", "key-admin"]

/**
 * The rules for the routes of conversations and external producers. administration-rules.ts contains the other rules.
 */
export const SESSION_RULES: readonly AccessRule[] = [
  { method: "GET", path: "/v1/sessions", allow: READERS },
  { method: "POST", path: "/v1/sessions", allow: MEMBERS },
  { method: "GET", path: "/v1/sessions/shared", allow: READERS },
  { method: "POST", path: "/v1/sessions/bulk", allow: MEMBERS },
  { method: "GET", path: "/v1/search", allow: READERS },
  { method: "GET", path: "/v1/folders", allow: READERS },
  { method: "POST", path: "/v1/folders", allow: MEMBERS },
  { method: "PATCH", path: "/v1/folders/:id", allow: MEMBERS },
  { method: "DELETE", path: "/v1/folders/:id", allow: MEMBERS },
  { method: "GET", path: "/v1/prompts", allow: READERS },
  { method: "PUT", path: "/v1/prompts/:id", allow: MEMBERS },
  { method: "DELETE", path: "/v1/prompts/:id", allow: MEMBERS },
  { method: "GET", path: "/v1/connections", allow: READERS },
  { method: "POST", path: "/v1/connections/:server", allow: MEMBERS },
  { method: "DELETE", path: "/v1/connections/:server", allow: MEMBERS },
  { method: "PATCH", path: "/v1/sessions/:id", allow: MEMBERS },
  { method: "DELETE", path: "/v1/sessions/:id", allow: MEMBERS },
  { method: "GET", path: "/v1/sessions/:id/conversation/recent", allow: READERS, admitsViewers: true },
  { method: "GET", path: "/v1/sessions/:id/conversation", allow: READERS, admitsViewers: true },
  { method: "GET", path: "/v1/sessions/:id/search", allow: READERS, admitsViewers: true },
  { method: "POST", path: "/v1/sessions/:id/restore", allow: MEMBERS },
  { method: "POST", path: "/v1/sessions/:id/messages", allow: MEMBERS },
  { method: "POST", path: "/v1/sessions/:id/cancel", allow: MEMBERS },
  { method: "GET", path: "/v1/sessions/:id/events", allow: READERS, admitsViewers: true },
  { method: "POST", path: "/v1/sessions/:id/import", allow: MEMBERS },
  { method: "GET", path: "/v1/sessions/:id/import", allow: READERS },
  { method: "GET", path: "/v1/sessions/:id/socket", allow: READERS, admitsViewers: true, rateClass: "socket" },
  { method: "POST", path: "/v1/sessions/:id/assets", allow: MEMBERS },
  { method: "POST", path: "/v1/sessions/:id/apps/:asset/calls", allow: MEMBERS },
  {
    method: "POST",
    path: "/v1/sessions/:id/media/sign",
    allow: READERS,
    admitsViewers: true,
    admitsLeaving: true,
    rateClass: "read",
  },
  { method: "POST", path: "/v1/sessions/:id/external-token", allow: MEMBERS },
  { method: "GET", path: "/v1/sessions/:id/viewers", allow: MEMBERS },
  { method: "PUT", path: "/v1/sessions/:id/viewers/:user", allow: MEMBERS },
  { method: "DELETE", path: "/v1/sessions/:id/viewers/:user", allow: MEMBERS },
  { method: "POST", path: "/v1/sessions/:id/branch", allow: MEMBERS },
  { method: "GET", path: "/v1/sessions/:id/agent", allow: READERS },
  { method: "GET", path: "/v1/sessions/:id/feedback", allow: READERS },
  { method: "PUT", path: "/v1/sessions/:id/messages/:message/feedback", allow: MEMBERS },
  { method: "DELETE", path: "/v1/sessions/:id/messages/:message/feedback", allow: MEMBERS },
  { method: "POST", path: "/v1/sessions/:id/messages/:message/follow-ups", allow: MEMBERS },
  { method: "GET", path: "/v1/sessions/:id/messages/:message/usage", allow: READERS },
  { method: "GET", path: "/v1/sessions/:id/allowed-tools", allow: READERS },
  { method: "PUT", path: "/v1/sessions/:id/allowed-tools/:tool", allow: MEMBERS },
  { method: "DELETE", path: "/v1/sessions/:id/allowed-tools/:tool", allow: MEMBERS },
  { method: "POST", path: "/v1/sessions/:id/calls/:call/input", allow: MEMBERS },

  { method: "GET", path: "/v1/sessions/:id/shares", allow: MEMBERS },
  { method: "POST", path: "/v1/sessions/:id/shares", allow: MEMBERS },
  { method: "DELETE", path: "/v1/sessions/:id/shares/:share", allow: MEMBERS },
  { method: "GET", path: "/v1/shares", allow: MEMBERS },
  { method: "GET", path: "/v1/shares/:share", allow: "open" },
  { method: "POST", path: "/v1/shares/:share/media/sign", allow: "open" },

  { method: "GET", path: "/external/agents/:name/question", allow: LISTENERS },
  { method: "POST", path: "/external/sessions/:id/events", allow: ["external"] },
  { method: "GET", path: "/external/sessions/:id/events", allow: ["external"] },
  { method: "POST", path: "/external/sessions/:id/messages", allow: ["external"] },
]

/** Returns the principal that makes a request with these claims. */
export function getPrincipal(claims: Claims): Principal {
  if (claims.key !== undefined) return `key-${getRole(claims)}`
  const scope = getScope(claims)
  if (scope === "external") return "external"
  return scope === "admin" ? "admin-scope" : getRole(claims)
}

/** Whether a rule admits these claims. The operator's secret is checked elsewhere (authorize.ts). */
export function isAllowed(rule: AccessRule, claims: Claims): boolean {
  return Array.isArray(rule.allow) && rule.allow.includes(getPrincipal(claims))
}

/** Whether the route can be used while the tenant is leaving: to read, or as part of leaving (SPEC LV5). */
export function isAllowedWhileLeaving({ method, admitsLeaving }: AccessRule): boolean {
  return method === "GET" || admitsLeaving === true
}

export function getRateClass({ method, rateClass = method === "GET" ? "read" : "write" }: AccessRule): RateClass {
  return rateClass
}

/** Whether an API key of any role may use the route. */
export function isForKeys(rule: AccessRule): boolean {
  return Array.isArray(rule.allow) && rule.allow.some((principal) => principal.startsWith("key-"))
}

/** Whether these claims may configure the tenant. */
export function isConfigurer(claims: Claims): boolean {
  return CONFIGURERS.includes(getPrincipal(claims))
}

/** Whether these claims may administer the tenant. */
export function isAdministrator(claims: Claims): boolean {
  return ADMINISTRATORS.includes(getPrincipal(claims))
}
