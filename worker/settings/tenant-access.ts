/**
 * tenant-access.ts: what decides about access to a tenant: its state, its API keys and its token keys.
 */

import type { Role } from "../platform/rpc/claims.ts"

/** What every request of a tenant must know. */
export interface TenantAccess {
  /** `leaving`: will be erased when its time of grace ends. */
  readonly status: "open" | "leaving" | "erased"
  /** The oldest and the newest generation of token keys that are accepted. The newest signs. */
  readonly firstTokenKey: number
  readonly newestTokenKey: number
}

export interface NewTenant {
  readonly id: string
  readonly name?: string | undefined
}

/** What is stored of the secret of an API key. */
export interface StoredKey {
  readonly id: string
  /** SHA-256 of the secret, in hexadecimal digits. */
  readonly hash: string
}

export interface NewApiKey extends StoredKey {
  readonly name: string
  /** The roles that tokens made with the key may have; at least one. Its own rights are those of the highest. */
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
  /** The client's address, truncated to its network; null if there is none. */
  readonly address: string | null
}

/** What a request with an API key may do. */
export interface ApiKeyUser {
  readonly roles: readonly Role[]
  readonly expires: number | null
}

/** A key that signs the tokens of one tenant. It is derived from the deployment's secret and never leaves the Worker. */
export interface TokenKeyInfo {
  readonly generation: number
  /** Milliseconds since 1970; null for the first one, which every tenant has. */
  readonly created: number | null
  /** When it is no longer accepted; null: the key that signs now. */
  readonly retires: number | null
}
