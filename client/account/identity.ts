/** identity.ts: reads the identity of the page's user from a token response. Pure. */

import { readClaims, type TokenResponse } from "../net/token-source.ts"

/** The roles that a user can have in a tenant, highest first. */
export const ROLE_NAMES = ["owner", "admin", "member", "viewer"] as const

export type RoleName = (typeof ROLE_NAMES)[number]

export interface Identity {
  readonly tenant: string
  readonly id: string
  readonly name: string
  readonly role: RoleName
  /** The source of the token: a sign-in, a development server (`AUTH=dev`), or the product that embeds the page. */
  readonly source: "sign-in" | "development" | "product"
}

export function readIdentity(response: TokenResponse): Identity {
  const { tenant, sub, role } = readClaims(response.token)
  const { user } = response
  const details = Object(user) as { readonly id?: unknown; readonly name?: unknown; readonly role?: unknown }
  const id = readText(details.id) ?? readText(sub) ?? ""
  return {
    tenant: readText(tenant) ?? "",
    id,
    name: readText(details.name) ?? id,
    role: ROLE_NAMES.find((name) => name === (details.role ?? role)) ?? "member",
    source: typeof user === "object" ? "sign-in" : typeof user === "string" ? "development" : "product",
  }
}

/** Whether the user can open the admin page. On a developer's machine, that page automatically signs in as an owner. */
export function mayAdminister({ role, source }: Identity): boolean {
  return role === "owner" || role === "admin" || source === "development"
}

function readText(value: unknown): string | null {
  return typeof value === "string" && value !== "" ? value : null
}
