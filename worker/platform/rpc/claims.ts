/**
 * claims.ts: the verified identity behind a request.
 */

/** `user`: acts as the user. `external`: writes answers into one session. `admin`: configures the tenant. */
export const SCOPES = ["user", "external", "admin"] as const
export type Scope = (typeof SCOPES)[number]

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
  /** Only in an `external` token: the session that it grants access to. */
  readonly session?: string | undefined
}

/** The user who owns a session. */
export type SessionOwner = Pick<Claims, "tenant" | "user">

/** Who claims to own a session, and with which scope. */
export type OwnerClaims = SessionOwner & Pick<Claims, "scope">

/** The scope of a token. A token without a `scope` claim has the scope `user`. */
export function getScope({ scope = "user" }: Pick<Claims, "scope">): Scope {
  return scope
}
