/**
 * claims.ts: the verified identity of a request's sender.
 */

/** `user`: acts as the user. `external`: writes answers into one session. `admin`: configures the tenant. */
export const SCOPES = ["user", "external", "admin"] as const
export type Scope = (typeof SCOPES)[number]

/**
 * Roles of a user in the tenant. An `owner` may do everything. An `admin` may do everything except end or move the
 * tenant or change owners. A `member` has sessions of their own. A `viewer` can only read sessions that others share
 * with them.
 */
export const ROLES = ["owner", "admin", "member", "viewer"] as const
export type Role = (typeof ROLES)[number]

/** Whether a role includes all rights of another role. */
export function includesRole(role: Role, other: Role): boolean {
  return ROLES.indexOf(role) <= ROLES.indexOf(other)
}

export interface Claims {
  readonly tenant: string
  readonly user: string
  /** Seconds since 1970. */
  readonly expires: number
  /** The token's id (`jti`). A token without one (null) can only be revoked together with all tokens of its user. */
  readonly token: string | null
  /** `iat`, in seconds since 1970; 0 if the token has none. */
  readonly issued: number
  /** Absent: `user`. */
  readonly scope?: Scope | undefined
  /** The session to which an `external` token grants access. Absent in other tokens. */
  readonly session?: string | undefined
  /** Absent: `member`. Only with scope `user`. */
  readonly role?: Role | undefined
  /**
   * True if the role was read from the tenant's list within the last TOKEN_TRUST_MS, because the token contains none.
   */
  readonly hasStoredRole?: boolean | undefined
  /**
   * The sign-in (`sid`) from which the token was issued. Revoking the sign-in revokes all tokens that were issued from
   * it.
   */
  readonly login?: string | undefined
  /**
   * The owner of the session that the request reads, if they shared it with this user (`?owner=`). Absent if the
   * request is about the user's own sessions. The Worker sets it for one request; tokens never contain it.
   */
  readonly sharedBy?: string | undefined
  /**
   * The id of the API key, if an API key made the request. In that case, `user` is `key:<id>`, which no token can
   * contain.
   */
  readonly key?: string | undefined
  /** The generation of the tenant's token key that signed the token; absent if the deployment's secret signed it. */
  readonly generation?: number | undefined
}

/** The user who owns a session. */
export type SessionOwner = Pick<Claims, "tenant" | "user">

/** The identity of an owner or viewer of a session, with scope and role. */
export type OwnerClaims = SessionOwner & Pick<Claims, "scope" | "role" | "sharedBy">

/**
 * Whether these claims allow only reading, because of the role `viewer` or because the session belongs to another user.
 */
export function isReadOnly(claims: Pick<Claims, "role" | "sharedBy">): boolean {
  return claims.sharedBy !== undefined || !includesRole(getRole(claims), "member")
}

/** Returns the role of a token's user. A token without a `role` claim has the role `member`. */
export function getRole({ role = "member" }: Pick<Claims, "role">): Role {
  return role
}

/** Returns the first of several roles in the order of ROLES. `roles` must not be empty. */
export function getHighestRole(roles: readonly Role[]): Role {
  return ROLES.find((role) => roles.includes(role)) ?? "viewer"
}

export function getLowerRole(role: Role, other: Role): Role {
  return includesRole(role, other) ? other : role
}

/** Returns the scope of a token. A token without a `scope` claim has the scope `user`. */
export function getScope({ scope = "user" }: Pick<Claims, "scope">): Scope {
  return scope
}
