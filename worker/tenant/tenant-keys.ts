/**
 * tenant-keys.ts: what a tenant object does with API keys and token keys: the changes, each with its row of the audit log,
 * and the checks.
 */

import { fail, type Result, succeed } from "../../shared/fault.ts"
import { isSameHash } from "../platform/crypto/compare-secrets.ts"
import type { Actor } from "../platform/rpc/actor.ts"
import { getHighestRole, includesRole, type Role } from "../platform/rpc/claims.ts"
import type {
  ApiKeyInfo,
  ApiKeyUse,
  ApiKeyUser,
  KeyManager,
  NewApiKey,
  StoredKey,
  TokenKeyInfo,
} from "../settings/tenant-access.ts"
import { type ApiKeyRecord, ApiKeyRows } from "./api-key-rows.ts"
import type { AuditRows } from "./audit-rows.ts"
import { TokenKeyRows } from "./token-key-rows.ts"
import type { UserNotices } from "./user-notices.ts"

/** API keys of a tenant: several services with two keys each during a rotation. */
export const MAX_API_KEYS = 50

/** Token keys that are accepted at once. Each rotation adds one. */
export const MAX_TOKEN_KEYS = 10

/** The last use of a key is stored at most this often, in milliseconds. */
const USE_INTERVAL_MS = 60_000

/** The audit log records the use of a key at most this often, in milliseconds. */
const RECORD_INTERVAL_MS = 60 * 60_000

export class TenantKeys {
  readonly #storage: DurableObjectStorage
  readonly #apiKeyRows: ApiKeyRows
  readonly #tokenKeyRows: TokenKeyRows
  readonly #auditRows: AuditRows
  readonly #userNotices: UserNotices

  constructor(storage: DurableObjectStorage, auditRows: AuditRows, userNotices: UserNotices) {
    this.#storage = storage
    this.#apiKeyRows = new ApiKeyRows(storage.sql)
    this.#tokenKeyRows = new TokenKeyRows(storage.sql)
    this.#auditRows = auditRows
    this.#userNotices = userNotices
  }

  listKeys(): ApiKeyInfo[] {
    return this.#apiKeyRows.list().map(toInfo)
  }

  addKey({ actor, role }: KeyManager, key: NewApiKey, now: number): Result<ApiKeyInfo> {
    if (!mayManage(role, key.roles)) return fail({ reason: "scope_denied" })
    const isFull = this.#apiKeyRows.count() >= MAX_API_KEYS
    return this.#storage.transactionSync(() => {
      if (isFull) this.#apiKeyRows.removeExpired(now)
      if (this.#apiKeyRows.count() >= MAX_API_KEYS) return fail({ reason: "keys_full", max: MAX_API_KEYS })
      this.#apiKeyRows.add(key, now)
      const details = { name: key.name, roles: key.roles.join(","), expires: key.expires }
      this.#auditRows.append(actor, { action: "key.created", target: key.id, details }, now)
      return succeed({ ...toInfo({ ...key, created: now, used: null, recorded: null }) })
    })
  }

  removeKey({ actor, role }: KeyManager, id: string, now: number): Result<null> {
    const key = this.#apiKeyRows.find(id)
    if (key === null) return fail({ reason: "key_unknown" })
    if (!mayManage(role, key.roles)) return fail({ reason: "scope_denied" })
    return this.#storage.transactionSync(() => {
      this.#apiKeyRows.remove(id)
      this.#auditRows.append(actor, { action: "key.revoked", target: id, details: { name: key.name } }, now)
      return succeed(null)
    })
  }

  rotateKey(manager: KeyManager, id: string, next: StoredKey, graceMs: number, now: number): Result<ApiKeyInfo> {
    const key = this.#apiKeyRows.find(id)
    if (key === null) return fail({ reason: "key_unknown" })
    if (hasExpired(key, now)) return fail({ reason: "key_expired" })
    const { name, roles, expires } = key
    return this.#storage.transactionSync(() => {
      const added = this.addKey(manager, { ...next, name, roles, expires }, now)
      if (!added.ok) return added
      this.#apiKeyRows.setExpiry(id, Math.min(now + graceMs, expires ?? Number.POSITIVE_INFINITY))
      const details = { successor: next.id, grace_seconds: graceMs / 1000 }
      this.#auditRows.append(manager.actor, { action: "key.rotated", target: id, details }, now)
      return added
    })
  }

  /** Cost: one row read; at most one written in USE_INTERVAL_MS, and one more in RECORD_INTERVAL_MS. */
  useKey({ id, hash, address }: ApiKeyUse, now: number): Result<ApiKeyUser> {
    const key = this.#apiKeyRows.find(id)
    if (key === null || !isSameHash(key.hash, hash)) {
      this.#recordRefusal({ kind: "anonymous", id: "", address }, key?.id, now)
      return fail({ reason: "key_invalid" })
    }
    if (hasExpired(key, now)) return fail({ reason: "key_expired" })
    if (key.used === null || now - key.used >= USE_INTERVAL_MS) {
      const isRecorded = key.recorded === null || now - key.recorded >= RECORD_INTERVAL_MS
      this.#storage.transactionSync(() => {
        this.#apiKeyRows.recordUse(id, now, isRecorded)
        if (isRecorded) this.#auditRows.append({ kind: "key", id, address }, { action: "key.used", target: id }, now)
      })
    }
    return succeed({ roles: key.roles, expires: key.expires })
  }

  /** Bounded, because anybody can make up keys. `id`: the key whose secret was wrong. */
  #recordRefusal(actor: Actor, id: string | undefined, now: number): void {
    const event = { action: "key.refused", ...(id === undefined ? {} : { target: id }) }
    this.#storage.transactionSync(() => this.#auditRows.appendFailure(actor, event, now))
  }

  listTokenKeys(now: number): TokenKeyInfo[] {
    return this.#tokenKeyRows.listAccepted(now)
  }

  rotateTokenKeys(actor: Actor, retireMs: number, now: number): Result<TokenKeyInfo[]> {
    const isFull = retireMs > 0 && this.listTokenKeys(now).length >= MAX_TOKEN_KEYS
    if (isFull) return fail({ reason: "token_keys_full", max: MAX_TOKEN_KEYS })
    return this.#storage.transactionSync(() => {
      this.#tokenKeyRows.rotate(now, now + retireMs)
      const keys = this.listTokenKeys(now)
      const details = { retire_seconds: retireMs / 1000 }
      const event = { action: "token_key.rotated", target: String(keys[0]?.generation), details }
      const version = this.#auditRows.append(actor, event, now)
      // Nobody may go on with a token whose key has retired, not even on an open socket.
      if (retireMs === 0) this.#userNotices.addForAll(version, now)
      return succeed(keys)
    })
  }
}

function mayManage(role: Role, roles: readonly Role[]): boolean {
  return includesRole(role, getHighestRole(roles))
}

function hasExpired({ expires }: ApiKeyInfo, now: number): boolean {
  return expires !== null && expires <= now
}

function toInfo({ id, name, roles, created, expires, used }: ApiKeyRecord): ApiKeyInfo {
  return { id, name, roles, created, expires, used }
}
