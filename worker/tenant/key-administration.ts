/**
 * key-administration.ts: administrators' changes to a tenant's API keys and token keys. Each change adds an entry to
 * the audit log. Loaded on demand.
 */

import { fail, type Result, succeed } from "../../shared/fault.ts"
import type { Actor, Administrator } from "../platform/rpc/actor.ts"
import { getHighestRole, includesRole, type Role } from "../platform/rpc/claims.ts"
import type { ApiKeyInfo, NewApiKey, NewTenant, StoredKey, TokenKeyInfo } from "../settings/tenant-access.ts"
import { type ApiKeyRecord, type ApiKeyRows, hasExpired, type KeyCreator, toInfo } from "./rows/api-key-rows.ts"
import { TenantRow } from "./rows/tenant-row.ts"
import { TokenKeyRows } from "./rows/token-key-rows.ts"
import type { TenantHost } from "./tenant-host.ts"

/** Maximum number of a tenant's API keys: enough for many services, each with two keys during a rotation. */
export const MAX_API_KEYS = 50

/** Maximum number of token keys that are accepted at the same time. Each rotation adds one. */
export const MAX_TOKEN_KEYS = 10

export class KeyAdministration {
  readonly #host: TenantHost
  readonly #apiKeyRows: ApiKeyRows
  readonly #tokenKeyRows: TokenKeyRows
  readonly #tenantRow: TenantRow

  constructor(host: TenantHost) {
    this.#host = host
    this.#apiKeyRows = host.apiKeys
    this.#tokenKeyRows = new TokenKeyRows(host.sql)
    this.#tenantRow = new TenantRow(host.sql)
  }

  /** Adds the tenant's row and its first API key. Errors: `tenant_taken`. */
  createTenant(actor: Actor, { id, name }: NewTenant, key: NewApiKey, now: number): Result<null> {
    // The id of an erased tenant remains taken. Otherwise its old tokens would be valid again.
    if (this.#host.isErased()) return fail({ reason: "tenant_taken" })
    return this.#host.change(() => {
      if (!this.#tenantRow.create(name ?? null, now)) return fail({ reason: "tenant_taken" })
      this.#host.audit.append(actor, { action: "tenant.created", target: id, details: { name: name ?? null } }, now)
      const added = this.#addKey({ actor, role: "owner" }, key, now)
      return added.ok ? succeed(null) : added
    })
  }

  addKey(manager: Administrator, key: NewApiKey, now: number): Result<ApiKeyInfo> {
    return this.#host.change(() => this.#addKey(manager, key, now))
  }

  #addKey(manager: Administrator, key: NewApiKey, now: number): Result<ApiKeyInfo> {
    const { actor, role } = manager
    if (!mayManage(role, key.roles)) return fail({ reason: "scope_denied" })
    const isFull = this.#apiKeyRows.count() >= MAX_API_KEYS
    return this.#host.storage.transactionSync(() => {
      if (isFull) this.#apiKeyRows.removeExpired(now)
      if (this.#apiKeyRows.count() >= MAX_API_KEYS) return fail({ reason: "keys_full", max: MAX_API_KEYS })
      const creator = this.#readCreator(manager, now)
      this.#apiKeyRows.add(key, creator, now)
      const details = { name: key.name, roles: key.roles.join(","), expires: key.expires }
      this.#host.audit.append(actor, { action: "key.created", target: key.id, details }, now)
      return succeed({ ...toInfo({ ...key, ...creator, created: now, used: null, recorded: null }) })
    })
  }

  /**
   * Finds the creator of a new key. A key made with another key has that key's creator, so that both keys stop working
   * when that user loses the required role.
   */
  #readCreator({ actor: { kind, id }, role }: Administrator, now: number): KeyCreator {
    const created_by = id === "" ? kind : `${kind}:${id}`
    const parent = kind === "key" ? this.#apiKeyRows.find(id) : null
    const creator = kind === "user" ? id : (parent?.creator ?? null)
    if (creator === null) return { created_by, creator, creator_role: role, max_role: role }
    // Without this row, a creator who is suspended later would look like an unknown user.
    const { role: creator_role } = this.#host.users.register({ id: creator, role }, now)
    return { created_by, creator, creator_role, max_role: role }
  }

  removeKey({ actor, role }: Administrator, id: string, now: number): Result<null> {
    const key = this.#findKey(id)
    if (key === null) return fail({ reason: "key_unknown" })
    if (!mayManage(role, key.roles)) return fail({ reason: "scope_denied" })
    return this.#host.storage.transactionSync(() => {
      this.#apiKeyRows.remove(id)
      this.#host.audit.append(actor, { action: "key.revoked", target: id, details: { name: key.name } }, now)
      return succeed(null)
    })
  }

  rotateKey(manager: Administrator, id: string, next: StoredKey, graceMs: number, now: number): Result<ApiKeyInfo> {
    const key = this.#findKey(id)
    if (key === null) return fail({ reason: "key_unknown" })
    if (hasExpired(key, now)) return fail({ reason: "key_expired" })
    const { name, roles, expires } = key
    return this.#host.storage.transactionSync(() => {
      const added = this.#addKey(manager, { ...next, name, roles, expires }, now)
      if (!added.ok) return added
      this.#apiKeyRows.setExpiry(id, Math.min(now + graceMs, expires ?? Number.POSITIVE_INFINITY))
      const details = { successor: next.id, grace_seconds: graceMs / 1000 }
      this.#host.audit.append(manager.actor, { action: "key.rotated", target: id, details }, now)
      return added
    })
  }

  rotateTokenKeys(actor: Actor, retireMs: number, now: number): Result<TokenKeyInfo[]> {
    const rotated = this.#host.change(() => this.#rotateTokenKeys(actor, retireMs, now))
    this.#host.scheduleAlarm()
    return rotated
  }

  #rotateTokenKeys(actor: Actor, retireMs: number, now: number): Result<TokenKeyInfo[]> {
    const isFull = retireMs > 0 && this.#tokenKeyRows.listAccepted(now).length >= MAX_TOKEN_KEYS
    if (isFull) return fail({ reason: "token_keys_full", max: MAX_TOKEN_KEYS })
    this.#tokenKeyRows.rotate(now, now + retireMs)
    const keys = this.#tokenKeyRows.listAccepted(now)
    const details = { retire_seconds: retireMs / 1000 }
    const event = { action: "token_key.rotated", target: String(keys[0]?.generation), details }
    const version = this.#host.audit.append(actor, event, now)
    // Tokens whose key has retired must stop working, even on open sockets.
    if (retireMs === 0) {
      this.#tokenKeyRows.takeRetired(now)
      this.#host.notices.addForAll(version, null, now)
    }
    return succeed(keys)
  }

  #findKey(id: string): ApiKeyRecord | null {
    return this.#host.tables.exist() ? this.#apiKeyRows.find(id) : null
  }
}

/** Whether somebody with this role may create or remove keys with these roles. */
function mayManage(role: Role, roles: readonly Role[]): boolean {
  return includesRole(role, getHighestRole(roles))
}
