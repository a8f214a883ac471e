/**
 * registry-rpc.ts: the RPC interface of a registry object (`tenant/registry-object.ts`).
 *
 * `Env` names this interface instead of the class, so that no module needs to import the class.
 */

import type { Result } from "../../../shared/fault.ts"

/**
 * The registry is a small index of the deployment. Each key has a separate object: `issuer:<hash>` stores which tenant
 * has claimed an issuer, and `tenants` lists the tenants that were created. The registry stores nothing about a tenant
 * except its id.
 */
export interface RegistryRpc extends Rpc.DurableObjectBranded {
  /** Claims the key for a tenant. Repeating the call has no effect. Errors: `issuer_taken` if another tenant has it. */
  claim(tenant: string): Result<null>
  /** Returns the tenant that has claimed the key; null if none has. */
  lookup(): string | null
  /** Ends the tenant's claim. A claim of another tenant is kept. */
  release(tenant: string): void

  /** Adds a tenant to the list. Repeating the call has no effect. */
  addTenant(id: string): void
  /** Removes a tenant from the list. */
  removeTenant(id: string): void
  /** Lists ids in character order, from the beginning or after an id. Cost: one row read per id. */
  listTenants(limit: number, after?: string): string[]
}

/** The key of the tenant list. */
export const TENANT_LIST_KEY = "tenants"
