/**
 * tenant-keys.ts: checks a tenant's API keys, and revokes the tokens of a token key when the key retires. Changes to
 * the keys are in key-administration.ts.
 */

import { fail, type Result, succeed } from "../../shared/fault.ts"
import { isSameHash } from "../platform/crypto/compare-secrets.ts"
import { MAX_EXTERNAL_TOKEN_SECONDS, TOKEN_TRUST_MS } from "../../shared/limits.ts"
import { type Actor, SYSTEM_ACTOR } from "../platform/rpc/actor.ts"
import { getHighestRole, getLowerRole, includesRole, type Role } from "../platform/rpc/claims.ts"
import type { ApiKeyInfo, ApiKeyUse, ApiKeyUser, TenantAccess, TokenKeyInfo } from "../settings/tenant-access.ts"
import type { NewUser } from "../settings/tenant-rpc.ts"
import { type ApiKeyRecord, type ApiKeyRows, hasExpired, toInfo } from "./rows/api-key-rows.ts"
import type { KeyAdministration } from "./key-administration.ts"
import type { AlarmSource } from "./tenant-alarm.ts"
import { FIRST_TOKEN_KEYS, TokenKeyRows } from "./rows/token-key-rows.ts"
import type { TenantHost } from "./tenant-host.ts"

/** Minimum time between two writes of a key's last use, in milliseconds. */
const USE_INTERVAL_MS = 60_000

/** Minimum time between two audit log entries about the use of a key, in milliseconds. */
const RECORD_INTERVAL_MS = 60 * 60_000

/**
 * The audit log records the first token per day that a key makes for a user, up to this many a day, so that many users
 * cannot push other entries out of the log. Tokens for owners and admins are always recorded.
 */
export const MAX_RECORDED_TOKENS = 1_000

/** The audit log actions after which the provider of a sign-in may no longer exist. */
const ISSUER_CHANGES = ["issuer.put", "issuer.removed"]

const DAY_MS = 24 * 60 * 60_000

export class TenantKeys implements AlarmSource {
  readonly #host: TenantHost
  readonly #apiKeyRows: ApiKeyRows
  readonly #tokenKeyRows: TokenKeyRows

  constructor(host: TenantHost) {
    this.#host = host
    this.#apiKeyRows = host.apiKeys
    this.#tokenKeyRows = new TokenKeyRows(host.sql)
  }

  /** Loads the code for administrators' changes, which few requests need. */
  async administer(): Promise<KeyAdministration> {
    const { KeyAdministration: Administration } = await import("./key-administration.ts")
    return new Administration(this.#host)
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

  /**
   * Returns the highest stored role that users may have if a key makes tokens for them. It is never above the creator's
   * role; otherwise an administrator could act as an owner. If the creator's role is lowered, the key also loses the
   * rights of the former role.
   *
   * Errors: `user_suspended`; `scope_denied` if one of the key's roles is above the creator's.
   */
  #checkCreator({ creator, creator_role, max_role, roles }: ApiKeyRecord): Result<Role> {
    if (creator === null) return succeed(max_role)
    const user = this.#host.users.find(creator)
    if (user?.status !== "active") return fail({ reason: "user_suspended" })
    // The role in a token that another system signs can be above the stored role.
    if (includesRole(user.role, creator_role)) return succeed(max_role)
    return includesRole(user.role, getHighestRole(roles))
      ? succeed(getLowerRole(max_role, user.role))
      : fail({ reason: "scope_denied" })
  }

  #find(id: string): ApiKeyRecord | null {
    return this.#host.tables.exist() ? this.#apiKeyRows.find(id) : null
  }

  /**
   * Checks a key and records its use. Cost: one row read; at most one written per USE_INTERVAL_MS, and one more per
   * RECORD_INTERVAL_MS.
   */
  useKey({ id, hash, address }: ApiKeyUse, now: number): Result<ApiKeyUser> {
    // Nothing is stored for a tenant that does not exist, not even a record of the attempt.
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
    // Marks the last token entry of the day. After this entry, only tokens for owners and admins are recorded.
    const details = n === MAX_RECORDED_TOKENS ? { role, last_of_day: true } : { role }
    this.#host.audit.append(actor, { action: "token.issued", target: user, details }, now)
  }

  /**
   * Records a refused key. The number of entries is limited, because anybody can make up keys. `id`: the key whose
   * secret was wrong.
   */
  #recordRefusal(actor: Actor, id: string | undefined, now: number): void {
    const event = { action: "key.refused", ...(id === undefined ? {} : { target: id }) }
    this.#host.storage.transactionSync(() => this.#host.audit.appendFailure(actor, event, now))
  }

  listTokenKeys(now: number): TokenKeyInfo[] {
    return this.#host.tables.exist() ? this.#tokenKeyRows.listAccepted(now) : [...FIRST_TOKEN_KEYS]
  }

  nextAlarmAt(): number | null {
    return this.#tokenKeyRows.findNextRetirement()
  }

  /** Revokes the tokens of retired token keys and closes their sockets, unless all of those tokens have expired. */
  handleAlarm(now: number): Promise<void> {
    this.#host.storage.transactionSync(() => {
      const retired = this.#tokenKeyRows.takeRetired(now)
      // The next key has been signing since the rotation. Isolates that did not yet know of the rotation used the old
      // key a little longer.
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

/**
 * Returns the role of a new user if the request names none. It is never an administrator role. Null: the request must
 * name one.
 */
function getFirstRole(roles: readonly Role[]): Role | null {
  if (roles.includes("member")) return "member"
  return roles.length === 1 && roles.includes("viewer") ? "viewer" : null
}
