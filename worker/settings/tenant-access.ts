/**
 * tenant-access.ts: the state, API keys and token keys of a tenant, which determine access to it.
 */

import type { Role } from "../platform/rpc/claims.ts"

/** The part of a tenant's state that every request needs. */
export interface TenantAccess {
  /** `leaving`: the tenant will be erased when its grace period ends. */
  readonly status: "open" | "leaving" | "erased"
  /** The oldest and the newest generation of token keys that are accepted. The newest signs. */
  readonly firstTokenKey: number
  readonly newestTokenKey: number
  /**
   * When a sign-in provider was last added, changed or removed, in milliseconds since 1970. Absent if that never
   * happened, or if the reply comes from an earlier release.
   */
  readonly issuersChanged?: number
}

export interface NewTenant {
  readonly id: string
  readonly name?: string | undefined
}

/** The stored form of an API key. */
export interface StoredKey {
  readonly id: string
  /** SHA-256 of the secret, in hexadecimal digits. */
  readonly hash: string
}

export interface NewApiKey extends StoredKey {
  readonly name: string
  /**
   * The roles that tokens made with the key may have; at least one. The key itself has the rights of the highest role.
   */
  readonly roles: readonly Role[]
  /** Milliseconds since 1970; null: never. */
  readonly expires: number | null
}

/** An API key without its secret. Times are milliseconds since 1970. */
export interface ApiKeyInfo {
  readonly id: string
  readonly name: string
  readonly roles: readonly Role[]
  readonly created: number
  /** Null: never. */
  readonly expires: number | null
  /** The last use, to the minute; null if the key was never used. */
  readonly used: number | null
  /** `user:<id>`, `key:<id>` or `operator`. */
  readonly created_by: string
}

export interface ApiKeyUse extends StoredKey {
  /** The client's address, truncated to its network; null if unknown. */
  readonly address: string | null
}

/** The rights of a request with an API key. */
export interface ApiKeyUser {
  readonly roles: readonly Role[]
  readonly expires: number | null
}

/**
 * A key that signs the tokens of one tenant. It is derived from the deployment's secret and never leaves the Worker.
 */
export interface TokenKeyInfo {
  readonly generation: number
  /** Milliseconds since 1970; null for the first one, which every tenant has. */
  readonly created: number | null
  /** When the key stops being accepted; null for the key that currently signs. */
  readonly retires: number | null
}
