/**
 * administration-attempts.ts: requests to the administration routes that would succeed if their sender had the right to
 * make them. Each kind of sender's rights are restated here, independently of the access table, so that the tests find
 * mistakes in that table.
 */

import type { AccessRule } from "../../worker/routes/access/access-table.ts"

/** A sender's rights in the tenant. `agents` are the rights of a token with scope `admin`. */
export type Rights = "none" | "agents" | "admin" | "owner"

type Route = Pick<AccessRule, "method" | "path">

const nameOf = ({ method, path }: Route): string => `${method} ${path}`

/** Routes for sessions, for producers, and for the data of individual users. */
const OWN_ROUTES = /^\/(?:external|v1\/(?:sessions|search|folders|shares|prompts|connections|dev))\b/

/**
 * Returns whether the route is for administration. All members may use the other routes: those for their own sessions,
 * tokens and usage, and those that read agents, settings and the theme.
 */
export function isAdministration(route: Route): boolean {
  if (OWN_ROUTES.test(route.path)) return false
  return ![
    "POST /v1/tokens/revoke",
    "GET /v1/agents",
    "GET /v1/settings",
    "GET /v1/theme",
    "GET /v1/usage/me",
  ].includes(nameOf(route))
}

const OPERATOR_PATH = /^\/v1\/tenants\b/
const OWNER_PATH = /^\/v1\/(?:token-keys|tenant)\b/
const ADMIN_READS =
  /^GET \/v1\/(?:users|audit|issuers|mcp-servers|tools|keys|budgets|usage|feedback|models|prices|tenant$|tenant\/receipts)/
const MODEL_CHANGES = /^(?:PUT|DELETE) \/v1\/models/
const AGENT_CHANGES = /^(?:(?:PUT|DELETE) \/v1\/(?:agents|settings|theme|cards)|GET \/v1\/cards)/

/** Returns whether a sender in the tenant must be refused if everything its request names belongs to an owner. */
export function isForbidden(route: Route, rights: Rights): boolean {
  if (!isAdministration(route)) return false
  if (rights === "none" || OPERATOR_PATH.test(route.path)) return true
  if (rights === "owner") return false
  if (AGENT_CHANGES.test(nameOf(route))) return false
  if (rights === "agents") return true
  if (MODEL_CHANGES.test(nameOf(route))) return false
  return !ADMIN_READS.test(nameOf(route)) && nameOf(route) !== "POST /v1/audit/verify"
}

/** Returns whether a sender must be refused, whichever user its request names. */
export function isAlwaysForbidden(route: Route, rights: Rights): boolean {
  if (rights !== "admin") return isForbidden(route, rights)
  return OPERATOR_PATH.test(route.path) || (OWNER_PATH.test(route.path) && !ADMIN_READS.test(nameOf(route)))
}

export interface Names {
  readonly tenant: string
  /** The ids of an owner's API key and of a completed export. */
  readonly key: string
  readonly exported: string
  /** The name of an issuer that can assign the role `owner`, and the issuer's provider. */
  readonly issuer: string
  readonly provider: string
}

/** Returns the route's path with existing ids inserted. `agent` is used as the name of the agent. */
export function fillPath({ path }: Route, user: string, agent: string, names: Names): string {
  return path
    .replace("/users/:id", `/users/${user}`)
    .replace("/keys/:id", `/keys/${names.key}`)
    .replace("/tenants/:id", `/tenants/${names.tenant}`)
    .replace("/exports/:id", `/exports/${names.exported}`)
    .replace("/issuers/:name", `/issuers/${names.issuer}`)
    .replace(":n", "1")
    .replace(/:\w+/g, agent)
}

/** Returns bodies that the route accepts. If the route depends on the body, only an owner may send these bodies. */
export function listBodies(route: Route, { tenant, provider }: Names): readonly object[] {
  const bodies: Readonly<Record<string, readonly object[]>> = {
    "POST /v1/tokens": [{ user: "ada", role: "owner" }],
    "POST /v1/tenants": [{ id: `${tenant}-new` }],
    "POST /v1/tenants/:id/keys": [{ name: "mine", roles: ["owner"] }],
    "POST /v1/keys": [{ name: "mine", roles: ["owner"] }],
    "POST /v1/keys/:id/rotate": [{ grace_seconds: 0 }],
    "POST /v1/token-keys/rotate": [{ retire_seconds: 0 }],
    "PUT /v1/models/:name": [{ provider: "openai-compatible", model: "m", base_url: "https://api.example.com" }],
    "PUT /v1/agents/:name": [{ description: "d", prompt: "p" }],
    "PUT /v1/settings": [{ embed_origins: [], media_hosts: ["evil.example.com"] }],
    "PUT /v1/theme": [{ name: "Evil" }],
    "PUT /v1/cards/:name": [
      {
        for: "evil",
        title: "Evil",
        schema: {},
        view: [{ id: "root", component: "Text", text: { path: "/a" } }],
        samples: [{ a: "b" }],
      },
    ],
    "PUT /v1/budgets": [{ roles: { owner: { tokens_per_day: 0 } } }],
    "POST /v1/folders": [{ name: "x" }],
    "POST /v1/sessions/bulk": [{ ids: ["a1", "a2", "b1"], action: "delete" }],
    "PATCH /v1/sessions/:id": [{ pinned: true, title: "x" }],
    "PATCH /v1/users/:id": [{ name: "x" }, { role: "owner" }, { role: "viewer" }],
    "PUT /v1/issuers/:name": [{ issuer: provider, audience: "https://evil.example.com", roles: ["owner"] }],
    "DELETE /v1/tenant": [{ confirm: tenant }],
  }
  return bodies[nameOf(route)] ?? [{}]
}
