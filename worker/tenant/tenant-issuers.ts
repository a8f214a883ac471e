/**
 * tenant-issuers.ts: registers the OpenID providers of a tenant, and stores their keys.
 *
 * Only this module fetches keys, and only from the registered URLs. The time of the last attempt is stored, so that
 * neither a restart nor a flood of unknown key ids causes more requests to a provider.
 */

import { type Administrator, SYSTEM_ACTOR } from "../platform/rpc/actor.ts"
import type { JWK } from "jose"
import { fail, type Result, succeed } from "../../shared/fault.ts"
import { decryptText, encryptText } from "../auth/encryption.ts"
import { claimIssuer, releaseIssuer } from "../auth/issuer/issuer-registry.ts"
import { parseKeySet } from "../auth/issuer/key-set.ts"
import { fetchProviderJson } from "../auth/issuer/provider-fetch.ts"
import { discoverProvider } from "../auth/issuer/provider-metadata.ts"
import { TOKEN_TRUST_MS } from "../../shared/limits.ts"
import { describeError, logError } from "../platform/log.ts"
import { readTimeLimits } from "../platform/time-limits.ts"
import {
  type IssuerConfig,
  type IssuerInput,
  type IssuerKeys,
  type IssuerView,
  limitRole,
  MAX_ISSUERS,
  type ProviderMetadata,
  type SignInClient,
} from "../settings/issuer-config.ts"
import type { AuditEvent } from "../settings/audit-event.ts"
import type { SignInUser, TenantUser } from "../settings/tenant-rpc.ts"
import type { IssuerClaim, IssuerRows, StoredIssuer } from "./rows/issuer-rows.ts"
import type { TenantHost } from "./tenant-host.ts"

/** A provider's endpoints are discovered again after this time, in milliseconds. They hardly ever change. */
const METADATA_FRESH_MS = 24 * 60 * 60_000

/**
 * Delay after which the users of a removed issuer are notified, in milliseconds. An isolate may accept those users'
 * tokens and open sockets for TOKEN_TRUST_MS after the change.
 */
const NOTICE_DELAY_MS = TOKEN_TRUST_MS + 1_000

/**
 * A claim without an issuer is released after this time, in milliseconds. This time is longer than a registration
 * takes.
 */
const CLAIM_RETRY_MS = 60_000

interface FetchedProvider {
  readonly metadata: ProviderMetadata
  readonly keys: readonly JWK[]
}

export class TenantIssuers {
  readonly #host: TenantHost
  readonly #rows: IssuerRows
  /** Fetches in progress, keyed by issuer, so that concurrent requests share one. */
  readonly #refreshes = new Map<string, Promise<void>>()
  /** The change that was started last. The next change waits for it. */
  #change: Promise<unknown> = Promise.resolve()

  constructor(host: TenantHost) {
    this.#host = host
    this.#rows = host.issuers
  }

  list(): IssuerView[] {
    return this.#rows.list().map(toView)
  }

  find(name: string): IssuerView | null {
    const issuer = this.#rows.find(name)
    return issuer === null ? null : toView(issuer)
  }

  /**
   * Registers or replaces an issuer. Fetches its metadata and its keys first, so that only a working configuration is
   * stored.
   *
   * Errors: `issuer_refused`, `issuer_taken`, `issuers_full`; `field_invalid` if the configuration differs from another
   * registration of the issuer; `scope_denied` if only an owner may make this change.
   */
  put(manager: Administrator, name: string, input: IssuerInput): Promise<Result<IssuerView>> {
    return this.#runAlone(() => this.#put(manager, name, input))
  }

  async #put({ actor, role }: Administrator, name: string, input: IssuerInput): Promise<Result<IssuerView>> {
    const { client_secret, ...config } = input
    const admitted = this.#admit(role, name, config)
    if (!admitted.ok) return admitted
    const fetched = await this.#fetchProvider(config)
    if (!fetched.ok) return fetched
    // The claim's row is stored before the issuer is claimed, so that the alarm releases it if the process is killed.
    this.#rows.putClaim(config, Date.now() + CLAIM_RETRY_MS)
    this.#host.scheduleAlarm()
    const claimed = await claimIssuer(this.#host.env, this.#host.tenant, config.issuer, config.audience)
    const secret = await this.#encryptSecret(name, config, client_secret)
    const stored = this.#host.storage.transactionSync(() => {
      if (!claimed.ok) this.#rows.removeClaim(config)
      const still = claimed.ok ? this.#admit(role, name, config) : claimed
      if (!still.ok) return still
      const now = Date.now()
      const before = this.#rows.find(name)
      const times = { fetched: now, attempted: now, failing: null, discovered: now, created: before?.created ?? now }
      const change = this.#host.audit.append(actor, describeChange(name, config), now)
      const isSame = before !== null && hasSameUsers(before.config, config)
      const generation = isSame ? before.generation : change
      this.#rows.put({ name, config, secret, ...fetched.value, ...times, generation })
      if (before !== null && !isSame) this.#revokeTokens(before, change, now)
      return succeed(null)
    })
    await this.#releaseUnusedClaims()
    const issuer = this.find(name)
    if (!stored.ok) return stored
    return issuer === null ? fail({ reason: "issuer_unknown" }) : succeed(issuer)
  }

  /**
   * Removes an issuer. Errors: `issuer_unknown`; `scope_denied` if the issuer can grant the role `owner` and the
   * administrator is not an owner.
   */
  remove(manager: Administrator, name: string): Promise<Result<null>> {
    return this.#runAlone(() => this.#remove(manager, name))
  }

  async #remove({ actor, role }: Administrator, name: string): Promise<Result<null>> {
    const issuer = this.#rows.find(name)
    if (issuer === null) return fail({ reason: "issuer_unknown" })
    if (role !== "owner" && givesOwner(issuer.config)) return fail({ reason: "scope_denied" })
    this.#host.storage.transactionSync(() => {
      const now = Date.now()
      this.#rows.remove(name)
      const change = this.#host.audit.append(actor, { action: "issuer.removed", target: name }, now)
      this.#revokeTokens(issuer, change, now)
    })
    await this.#releaseUnusedClaims()
    return succeed(null)
  }

  /**
   * Revokes the tokens and closes the sockets of an issuer's users. The issuer's sign-ins end because their generation
   * no longer exists.
   */
  #revokeTokens({ name, config }: StoredIssuer, change: number, now: number): void {
    const others = this.#rows.list().filter((other) => other.name !== name && other.config.issuer !== config.issuer)
    this.#host.notices.addForIssuer(
      others.map((other) => other.name),
      change,
      now + NOTICE_DELAY_MS,
    )
    this.#host.scheduleAlarm()
  }

  /**
   * Runs changes one after the other, so that none releases the claim of another change whose issuer is not stored yet.
   */
  #runAlone<T>(change: () => Promise<T>): Promise<T> {
    const run = this.#change.then(change, change)
    this.#change = run
    return run
  }

  /** For the alarm: releases the claims that are due. Does not reject. */
  async releaseDueClaims(now: number): Promise<void> {
    const at = this.#rows.findNextRelease()
    if (at !== null && at <= now) await this.#runAlone(() => this.#releaseUnusedClaims())
  }

  /** Releases the claims that have no issuer. The alarm retries failed releases. */
  async #releaseUnusedClaims(): Promise<void> {
    for (const claim of this.#rows.listUnusedClaims()) {
      try {
        await releaseIssuer(this.#host.env, this.#host.tenant, claim.issuer, claim.audience)
        if (this.#rows.findByAudience(claim.issuer, claim.audience) === null) this.#rows.removeClaim(claim)
      } catch (error) {
        logError("claim_not_released", { tenant: this.#host.tenant, error: describeError(error) })
        this.#rows.putClaim(claim, Date.now() + CLAIM_RETRY_MS)
      }
    }
    this.#host.scheduleAlarm()
  }

  /** Returns the keys for a token from this issuer and for this audience; null if the pair is not registered. */
  async getKeys({ issuer, audience }: IssuerClaim, kid: string | null): Promise<IssuerKeys | null> {
    const found = this.#rows.findByAudience(issuer, audience)
    return found === null ? null : await this.#loadKeys(found.name, kid)
  }

  async getKeysByName(name: string, kid: string | null): Promise<IssuerKeys | null> {
    return await this.#loadKeys(name, kid)
  }

  /**
   * Returns the settings of an issuer for a sign-in; null if there is no such issuer, or it has no client.
   * `secret_unreadable`: JWT_SECRET was changed, so the client's secret cannot be decrypted and must be set again.
   */
  async getClient(name: string): Promise<SignInClient | "secret_unreadable" | null> {
    const issuer = this.#rows.find(name)
    const client_id = issuer?.config.client_id
    if (issuer === null || client_id === undefined) return null
    const { config, metadata, secret, generation } = issuer
    const clientSecret =
      secret === null
        ? null
        : await decryptText(this.#host.env.JWT_SECRET ?? "", this.#secretPurpose(name, config), secret)
    if (secret !== null && clientSecret === null) {
      logError("client_secret_unreadable", { tenant: this.#host.tenant, issuer: name })
      return "secret_unreadable"
    }
    return { name, config: { ...config, client_id }, metadata, clientSecret, generation }
  }

  /** Adds a user on the first sign-in. Returns the user with the current role; null if the issuer no longer exists. */
  admit({ id, name, issuer, generation, role, isNew = false }: SignInUser): TenantUser | null {
    const found = this.#rows.find(issuer)
    if (found === null || found.generation !== generation) return null
    const { config } = found
    const newUser = { id, name: name ?? undefined, issuer, role: role ?? undefined }
    const before = this.#host.users.find(id)
    const user = this.#host.refuseNewUser(newUser) ?? this.#host.users.register(newUser, Date.now())
    // Only for new sign-ins. Otherwise, two sign-ins of a user whose issuers grant different roles would end each other
    // endlessly.
    if (isNew && before !== null && before.role !== user.role) this.#announceRole(user, before.role)
    return { ...user, role: limitRole(role ?? user.role, config) }
  }

  /** Announces the role that an issuer has set, so that the next tokens of the user's other sign-ins have it. */
  #announceRole({ id, role, issuer }: TenantUser, before: TenantUser["role"]): void {
    const now = Date.now()
    const details = { role, before, issuer: issuer ?? "" }
    const version = this.#host.audit.append(SYSTEM_ACTOR, { action: "user.changed", target: id, details }, now)
    this.#host.notices.add(id, version, now, 0)
    this.#host.scheduleAlarm()
  }

  async #loadKeys(name: string, kid: string | null): Promise<IssuerKeys | null> {
    await this.#refreshIfNeeded(name, kid)
    const issuer = this.#rows.find(name)
    if (issuer === null) return null
    const { config, keys, fetched, failing } = issuer
    const { keysTrustMs, keysMaxAgeMs } = readTimeLimits(this.#host.env)
    // The period of trust starts at the first failed fetch, not at the last successful one. Otherwise, keys that nobody
    // has needed for an hour would expire as soon as an outage begins.
    const trustedUntil = Math.min(fetched + keysMaxAgeMs, (failing ?? Infinity) + keysTrustMs)
    return { name, config, keys, trustedUntil }
  }

  async #refreshIfNeeded(name: string, kid: string | null): Promise<void> {
    const running = this.#refreshes.get(name)
    if (running !== undefined) return await running
    const issuer = this.#rows.find(name)
    if (issuer === null || !this.#needsRefresh(issuer, kid, Date.now())) return
    const refresh = this.#refresh(issuer).finally(() => this.#refreshes.delete(name))
    this.#refreshes.set(name, refresh)
    await refresh
  }

  #needsRefresh({ keys, fetched, attempted }: StoredIssuer, kid: string | null, now: number): boolean {
    const { keysCooldownMs, keysFreshMs } = readTimeLimits(this.#host.env)
    // If the clock was set back, times in the future are ignored.
    const isRecent = (at: number, ms: number): boolean => at <= now && now - at < ms
    const isKnown = kid === null || keys.some((key) => key.kid === kid)
    return !(isRecent(fetched, keysFreshMs) && isKnown) && !isRecent(attempted, keysCooldownMs)
  }

  /**
   * Refreshes the keys. A failed refresh doesn't replace the stored keys, which are used until they are no longer
   * trusted.
   */
  async #refresh(before: StoredIssuer): Promise<void> {
    const { name, config } = before
    const now = Date.now()
    this.#rows.markAttempted(name, now)
    const isDiscovered = now - before.discovered < METADATA_FRESH_MS
    const fetched = isDiscovered ? await this.#fetchKeys(before.metadata) : await this.#fetchProvider(config)
    if (!fetched.ok) {
      this.#rows.markFailing(name, now)
      return logError("issuer_keys_not_fetched", {
        tenant: this.#host.tenant,
        issuer: name,
        reason: fetched.fault.reason,
      })
    }
    const current = this.#rows.find(name)
    // The issuer may have been replaced in the meantime.
    if (current === null || JSON.stringify(current.config) !== JSON.stringify(config)) return
    const discovered = isDiscovered ? before.discovered : now
    this.#rows.put({ ...current, ...fetched.value, fetched: now, failing: null, discovered })
  }

  async #fetchProvider(config: IssuerConfig): Promise<Result<FetchedProvider>> {
    const metadata = await discoverProvider(config, this.#host.env)
    return metadata.ok ? await this.#fetchKeys(metadata.value) : metadata
  }

  async #fetchKeys(metadata: ProviderMetadata): Promise<Result<FetchedProvider>> {
    const response = await fetchProviderJson(metadata.jwks_uri, this.#host.env)
    const keys = response.ok ? parseKeySet(response.value) : response
    return keys.ok ? succeed({ metadata, keys: keys.value }) : keys
  }

  #admit(role: Administrator["role"], name: string, config: IssuerConfig): Result<null> {
    const known = this.#rows.find(name)
    // Anybody who controls an issuer's keys or the claims in its tokens can act as any of its users, so an admin may
    // only add new issuers.
    const isForAdmins = known === null && !givesOwner(config) && this.#rows.isNew(config.issuer)
    if (role !== "owner" && !isForAdmins) return fail({ reason: "scope_denied" })
    const differing = this.#findDifferingField(name, config)
    if (differing !== null) return fail({ reason: "field_invalid", field: differing })
    const same = this.#rows.findByAudience(config.issuer, config.audience)
    if (same !== null && same.name !== name) return fail({ reason: "issuer_taken" })
    if (known === null && this.#rows.list().length >= MAX_ISSUERS)
      return fail({ reason: "issuers_full", max: MAX_ISSUERS })
    return succeed(null)
  }

  /**
   * Finds a field that identifies users and differs from another registration of the issuer. These fields must be the
   * same.
   */
  #findDifferingField(name: string, { issuer, user_claim, jwks_uri }: IssuerConfig): string | null {
    const others = this.#rows.list().filter((other) => other.name !== name && other.config.issuer === issuer)
    if (others.some(({ config }) => config.user_claim !== user_claim)) return "user_claim"
    return others.some(({ config }) => config.jwks_uri !== jwks_uri) ? "jwks_uri" : null
  }

  /** Encrypts the secret. If no secret is given, the stored secret is kept if it belongs to the same client. */
  async #encryptSecret(name: string, config: IssuerConfig, secret: string | null | undefined): Promise<string | null> {
    if (secret === null || config.client_id === undefined) return null
    if (secret !== undefined)
      return await encryptText(this.#host.env.JWT_SECRET ?? "", this.#secretPurpose(name, config), secret)
    const known = this.#rows.find(name)
    const isSameClient = known?.config.issuer === config.issuer && known.config.client_id === config.client_id
    return isSameClient ? known.secret : null
  }

  #secretPurpose(name: string, { issuer, client_id = "" }: IssuerConfig): string {
    return `client secret ${JSON.stringify([this.#host.tenant, name, issuer, client_id])}`
  }
}

/**
 * Whether both configurations have the same users: nothing that differs affects who the users are or which tokens are
 * accepted.
 */
function hasSameUsers(before: IssuerConfig, after: IssuerConfig): boolean {
  const [a, b] = [before, after].map(
    ({ label: _label, name_claim: _name, scopes: _scopes, logout: _logout, ...deciding }) => JSON.stringify(deciding),
  )
  return a === b
}

function givesOwner({ roles }: IssuerConfig): boolean {
  return roles.includes("owner")
}

function describeChange(name: string, { issuer, audience, roles }: IssuerConfig): AuditEvent {
  return { action: "issuer.put", target: name, details: { issuer, audience, roles: roles.join(",") } }
}

function toView({ name, config, secret, created, fetched }: StoredIssuer): IssuerView {
  const { role_claim = null, jwks_uri = null, client_id = null, label = name, logout = false } = config
  const times = { created, keys_fetched: fetched }
  const has_client_secret = secret !== null
  return { ...config, ...times, name, role_claim, jwks_uri, client_id, label, logout, has_client_secret }
}
