/**
 * registry-rpc.ts: the RPC interface of a registry object (`tenant/registry-object.ts`).
 *
 * `Env` names this interface instead of the class, so that no module needs to import the class.
 */

import type { Result } from "../../../shared/fault.ts"

/**
 * The registry is the deployment's small index. Each key has an object of its own: `issuer:<hash>` says which tenant has
 * claimed an issuer, `tenants` lists the tenants that were created. It stores nothing about a tenant except its id.
 */
export interface RegistryRpc extends Rpc.DurableObjectBranded {
  /** Claims the key for a tenant. Repeating the call has no effect. Errors: `issuer_taken` if another tenant has it. */
  claim(tenant: string): Result<null>
  /** The tenant that has claimed the key; null if none has. */
  lookup(): string | null
  /** Ends the tenant's claim. Another tenant's stays. */
  release(tenant: string): void

  /** Adds a tenant to the list. Repeating the call has no effect. */
  addTenant(id: string): void
  /** Removes a tenant from the list. */
  removeTenant(id: string): void
  /** Ids in the order of their characters, from the beginning or after one. Cost: one row read for each. */
  listTenants(limit: number, after?: string): string[]
}

/** The key of the list of tenants. */
export const TENANT_LIST_KEY = "tenants"
