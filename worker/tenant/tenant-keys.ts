/**
 * tenant-keys.ts: changes and checks a tenant's API keys and token keys. Each change writes its row of the audit log.
 */

import { fail, type Result, succeed } from "../../shared/fault.ts"
import { isSameHash } from "../platform/crypto/compare-secrets.ts"
import { MAX_EXTERNAL_TOKEN_SECONDS, TOKEN_TRUST_MS } from "../../shared/limits.ts"
import { type Actor, type Administrator, SYSTEM_ACTOR } from "../platform/rpc/actor.ts"
import { getHighestRole, getLowerRole, includesRole, type Role } from "../platform/rpc/claims.ts"
import type {
  ApiKeyInfo,
  ApiKeyUse,
  ApiKeyUser,
  NewApiKey,
  NewTenant,
  StoredKey,
  TenantAccess,
  TokenKeyInfo,
} from "../settings/tenant-access.ts"
import type { NewUser } from "../settings/tenant-rpc.ts"
import type { ApiKeyRecord, ApiKeyRows, KeyCreator } from "./rows/api-key-rows.ts"
import type { AlarmSource } from "./tenant-alarm.ts"
import { TenantRow } from "./rows/tenant-row.ts"
import { FIRST_TOKEN_KEYS, TokenKeyRows } from "./rows/token-key-rows.ts"
import type { TenantHost } from "./tenant-host.ts"

/** Maximum number of a tenant's API keys: enough for many services, each with two keys during a rotation. */
export const MAX_API_KEYS = 50

/** Maximum number of token keys that are accepted at the same time. Each rotation adds one. */
export const MAX_TOKEN_KEYS = 10

/** The last use of a key is stored at most once in this time, in milliseconds. */
const USE_INTERVAL_MS = 60_000

/** The audit log records the use of a key at most once in this time, in milliseconds. */
const RECORD_INTERVAL_MS = 60 * 60_000

/**
 * The audit log records the first token per day that a key makes for a user, up to this many a day, so that many users
 * cannot push other entries out of the log. Tokens for owners and admins are always recorded.
 */
export const MAX_RECORDED_TOKENS = 1_000

/** The actions in the audit log after which a sign-in may have lost its provider. */
const ISSUER_CHANGES = ["issuer.put", "issuer.removed"]

const DAY_MS = 24 * 60 * 60_000

export class TenantKeys implements AlarmSource {
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
    // The id of an erased tenant stays taken. Otherwise its old tokens would be valid again.
    if (this.#host.isErased()) return fail({ reason: "tenant_taken" })
    return this.#host.change(() => {
      if (!this.#tenantRow.create(name ?? null, now)) return fail({ reason: "tenant_taken" })
      this.#host.audit.append(actor, { action: "tenant.created", target: id, details: { name: name ?? null } }, now)
      const added = this.#addKey({ actor, role: "owner" }, key, now)
      return added.ok ? succeed(null) : added
    })
  }

  getAccess(now: number): TenantAccess {
    const tokenKeys = this.listTokenKeys(now)
    const { audit, tables } = this.#host
    const access = {
      status: this.#host.getStanding().status,
      firstTokenKey: tokenKeys.at(-1)?.generation ?? 1,
      newestTokenKey: tokenKeys[0]?.generation ?? 1,
    }
    const issuersChanged = tables.exist() ? audit.findNewestTime(ISSUER_CHANGES) : null
    return issuersChanged === null ? access : { ...access, issuersChanged }
  }

  listKeys(): ApiKeyInfo[] {
    return this.#host.tables.exist() ? this.#apiKeyRows.list().map(toInfo) : []
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

  /** A key that was made with another key has the same creator, so that both end when that user loses the rights. */
  #readCreator({ actor: { kind, id }, role }: Administrator, now: number): KeyCreator {
    const created_by = id === "" ? kind : `${kind}:${id}`
    const parent = kind === "key" ? this.#apiKeyRows.find(id) : null
    const creator = kind === "user" ? id : (parent?.creator ?? null)
    if (creator === null) return { created_by, creator, creator_role: role, max_role: role }
    // Without this row, a creator who is suspended later would look like an unknown user.
    const { role: creator_role } = this.#host.users.register({ id: creator, role }, now)
    return { created_by, creator, creator_role, max_role: role }
  }

  /**
   * The highest stored role that users may have if a key makes tokens for them. It is not above the creator's role, or an
   * administrator could act as an owner. If the creator's role is lowered, the key loses the former rights too.
   *
   * Errors: `user_suspended`; `scope_denied` if one of the key's roles is above the creator's.
   */
  #checkCreator({ creator, creator_role, max_role, roles }: ApiKeyRecord): Result<Role> {
    if (creator === null) return succeed(max_role)
    const user = this.#host.users.find(creator)
    if (user?.status !== "active") return fail({ reason: "user_suspended" })
    // The role in a token that another system signs can be above the stored role.
    if (includesRole(user.role, creator_role)) return succeed(max_role)
    return mayManage(user.role, roles) ? succeed(getLowerRole(max_role, user.role)) : fail({ reason: "scope_denied" })
  }

  #find(id: string): ApiKeyRecord | null {
    return this.#host.tables.exist() ? this.#apiKeyRows.find(id) : null
  }

  removeKey({ actor, role }: Administrator, id: string, now: number): Result<null> {
    const key = this.#find(id)
    if (key === null) return fail({ reason: "key_unknown" })
    if (!mayManage(role, key.roles)) return fail({ reason: "scope_denied" })
    return this.#host.storage.transactionSync(() => {
      this.#apiKeyRows.remove(id)
      this.#host.audit.append(actor, { action: "key.revoked", target: id, details: { name: key.name } }, now)
      return succeed(null)
    })
  }

  rotateKey(manager: Administrator, id: string, next: StoredKey, graceMs: number, now: number): Result<ApiKeyInfo> {
    const key = this.#find(id)
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

  /** Cost: one row read; at most one written in USE_INTERVAL_MS, and one more in RECORD_INTERVAL_MS. */
  useKey({ id, hash, address }: ApiKeyUse, now: number): Result<ApiKeyUser> {
    // Nothing is stored for a tenant that somebody has made up, not even the attempt.
    if (!this.#host.tables.exist()) return fail({ reason: "key_invalid" })
    const key = this.#apiKeyRows.find(id)
    if (key === null || !isSameHash(key.hash, hash)) {
      this.#recordRefusal({ kind: "anonymous", id: "", address }, key?.id, now)
      return fail({ reason: "key_invalid" })
    }
    if (hasExpired(key, now)) return fail({ reason: "key_expired" })
    const checked = this.#checkCreator(key)
    if (!checked.ok) return checked
    if (key.used === null || now - key.used >= USE_INTERVAL_MS) {
      const isRecorded = key.recorded === null || now - key.recorded >= RECORD_INTERVAL_MS
      this.#host.storage.transactionSync(() => {
        this.#apiKeyRows.recordUse(id, now, isRecorded)
        if (isRecorded) this.#host.audit.append({ kind: "key", id, address }, { action: "key.used", target: id }, now)
      })
    }
    return succeed({ roles: key.roles, expires: key.expires })
  }

  /** Registers the user for whom a key makes a token, and returns the role of the token. Errors: see `TenantRpc`. */
  admitTokenUser(actor: Actor, { id, name, role }: NewUser, now: number): Result<Role> {
    const key = this.#find(actor.id)
    if (key === null) return fail({ reason: "key_invalid" })
    const known = this.#host.users.find(id)
    if (known === null && this.#host.getStanding().status === "leaving") return fail({ reason: "tenant_leaving" })
    const maxRole = this.#checkCreator(key)
    if (!maxRole.ok) return maxRole
    if (role !== undefined && !key.roles.includes(role)) return fail({ reason: "scope_denied" })
    const firstRole = role ?? getFirstRole(key.roles)
    if (known === null && firstRole === null) return fail({ reason: "scope_denied" })
    return this.#host.storage.transactionSync(() => {
      const user = known ?? this.#host.users.register({ id, name, role: firstRole ?? undefined }, now)
      if (user.status !== "active") return fail({ reason: "user_suspended" })
      const granted = role ?? user.role
      const isAllowed = includesRole(maxRole.value, user.role) && key.roles.includes(granted)
      if (!isAllowed) return fail({ reason: "scope_denied" })
      this.#recordToken(actor, id, { role: granted, stored: user.role }, now)
      return succeed(granted)
    })
  }

  #recordToken(actor: Actor, user: string, { role, stored }: { role: Role; stored: Role }, now: number): void {
    const isAlways = includesRole(stored, "admin")
    const n = this.#apiKeyRows.noteToken(actor.id, user, Math.floor(now / DAY_MS), MAX_RECORDED_TOKENS, isAlways)
    if (n === null) return
    // Marks the last token entry of the day: further tokens are not in the log.
    const details = n === MAX_RECORDED_TOKENS ? { role, last_of_day: true } : { role }
    this.#host.audit.append(actor, { action: "token.issued", target: user, details }, now)
  }

  /**
   * Records a refused key. The number of entries is limited, because anybody can make up keys. `id`: the key whose secret
   * was wrong.
   */
  #recordRefusal(actor: Actor, id: string | undefined, now: number): void {
    const event = { action: "key.refused", ...(id === undefined ? {} : { target: id }) }
    this.#host.storage.transactionSync(() => this.#host.audit.appendFailure(actor, event, now))
  }

  listTokenKeys(now: number): TokenKeyInfo[] {
    return this.#host.tables.exist() ? this.#tokenKeyRows.listAccepted(now) : [...FIRST_TOKEN_KEYS]
  }

  rotateTokenKeys(actor: Actor, retireMs: number, now: number): Result<TokenKeyInfo[]> {
    const rotated = this.#host.change(() => this.#rotateTokenKeys(actor, retireMs, now))
    this.#host.scheduleAlarm()
    return rotated
  }

  #rotateTokenKeys(actor: Actor, retireMs: number, now: number): Result<TokenKeyInfo[]> {
    const isFull = retireMs > 0 && this.listTokenKeys(now).length >= MAX_TOKEN_KEYS
    if (isFull) return fail({ reason: "token_keys_full", max: MAX_TOKEN_KEYS })
    this.#tokenKeyRows.rotate(now, now + retireMs)
    const keys = this.listTokenKeys(now)
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

  nextAlarmAt(): number | null {
    return this.#tokenKeyRows.findNextRetirement()
  }

  /** Ends the tokens of retired token keys and closes their sockets, unless all of those tokens have expired. */
  handleAlarm(now: number): Promise<void> {
    this.#host.storage.transactionSync(() => {
      const retired = this.#tokenKeyRows.takeRetired(now)
      // The next key has been signing since the rotation. Isolates that did not yet know of it used the old key a little
      // longer.
      const rotated = this.#tokenKeyRows.listAccepted(now).at(-1)?.created ?? null
      if (retired?.retires == null || rotated === null) return
      const event = { action: "token_key.retired", target: String(retired.generation) }
      const version = this.#host.audit.append(SYSTEM_ACTOR, event, now)
      const upTo = Math.min(rotated + TOKEN_TRUST_MS, retired.retires) / 1000
      if (retired.retires - rotated < MAX_EXTERNAL_TOKEN_SECONDS * 1000)
        this.#host.notices.addForAll(version, upTo, now)
    })
    return Promise.resolve()
  }
}

/** The role of a new user if the request names none. It is never an administrator role. Null: the request must name one. */
function getFirstRole(roles: readonly Role[]): Role | null {
  if (roles.includes("member")) return "member"
  return roles.length === 1 && roles.includes("viewer") ? "viewer" : null
}

function mayManage(role: Role, roles: readonly Role[]): boolean {
  return includesRole(role, getHighestRole(roles))
}

function hasExpired({ expires }: ApiKeyInfo, now: number): boolean {
  return expires !== null && expires <= now
}

function toInfo({ id, name, roles, created, expires, used, created_by }: ApiKeyRecord): ApiKeyInfo {
  return { id, name, roles, created, expires, used, created_by }
}
