/**
 * token-revocations.ts: revokes the tokens of a user, and admits sockets, in the user's directory.
 *
 * Revocations are pushed to the sessions that may hold the user's sockets, so that idle objects can sleep. The
 * directory's alarm retries failed pushes.
 */

import { fail, type Result, succeed } from "../../shared/fault.ts"
import { PAGE_TOKEN_SECONDS } from "../../shared/limits.ts"
import {
  findTokenFault,
  isIssuedBeforeCutoff,
  isRevoked,
  MAX_REVOKED_LIMITED_TOKENS,
  MAX_REVOKED_TOKENS,
  NO_REVOCATIONS,
} from "../auth/revocation.ts"
import { CLOCK_TOLERANCE_SECONDS } from "../auth/verify-token.ts"
import { type Claims, getRole, getScope } from "../platform/rpc/claims.ts"
import type { RevocationResult, RevocationState, UserState } from "../platform/rpc/directory-rpc.ts"
import type { DirectoryHost } from "../usage/directory-host.ts"
import type { AccountRows } from "./account-rows.ts"
import { closeHolderSockets, createHolderSockets, type HolderSockets } from "./holder-sockets.ts"
import type { LoginRows } from "./login-rows.ts"
import { pushRevocations } from "./revocation-push.ts"
import { RevocationRows } from "./revocation-rows.ts"

/** Delay before a failed notification is retried, in milliseconds (SPEC AU8). */
export const REVOCATION_RETRY_MS = 10_000

/** A time later than any token's, in seconds since 1970. No token is accepted while a user is being erased. */
const ALL_TOKENS = Number.MAX_SAFE_INTEGER

export class TokenRevocations {
  readonly #host: DirectoryHost
  readonly #rows: RevocationRows
  readonly #accountRows: AccountRows
  readonly #loginRows: LoginRows
  readonly #holderSockets: HolderSockets
  readonly #scheduleAlarm: () => void

  /** `scheduleAlarm` sets the directory's alarm to `nextAlarmAt` or earlier. */
  constructor(host: DirectoryHost, accountRows: AccountRows, loginRows: LoginRows, scheduleAlarm: () => void) {
    this.#host = host
    this.#rows = new RevocationRows(host.sql)
    this.#accountRows = accountRows
    this.#loginRows = loginRows
    this.#holderSockets = createHolderSockets(host, this.#rows)
    this.#scheduleAlarm = scheduleAlarm
  }

  readState(): RevocationState {
    if (!this.#host.tables.exist()) return NO_REVOCATIONS
    const revoked = this.#rows.readRevocationState(nowSeconds())
    const isErased = revoked.upTo === ALL_TOKENS || this.#accountRows.isErased()
    return {
      ...revoked,
      ...(this.#accountRows.isSuspended() ? { suspended: true } : {}),
      ...(isErased ? { erased: true } : {}),
    }
  }

  /** Whether an erasure of the user is in progress. */
  isErasing(): boolean {
    return this.readState().upTo === ALL_TOKENS
  }

  /** Checks a token before its socket opens, and registers the session for revocations. Errors: see `DirectoryRpc`. */
  async authorizeSocket(claims: Claims, session: string, sockets: number): Promise<Result<null>> {
    const fault = findTokenFault(claims, this.readState())
    if (fault !== null) return fail(fault)
    this.#host.tables.create()
    const isStale = claims.hasStoredRole === true && this.#accountRows.isAboveRole(getRole(claims))
    if (isStale) return fail({ reason: "token_revoked" })
    this.#rows.pruneExpired(nowSeconds())
    const admitted = await this.#holderSockets.check(session, sockets)
    if (!admitted.ok) return admitted
    // The token may have been revoked while the sessions were queried for their number of sockets.
    const newest = this.readState()
    const newFault = findTokenFault(claims, newest)
    if (newFault !== null) return fail(newFault)
    this.#rows.addHolder(session, claims, newest.n, sockets)
    return succeed(null)
  }

  /** Removes the rows of a session that was erased. */
  removeSession(session: string): void {
    this.#rows.removeHolder(session)
  }

  async closeSockets(tenant: string): Promise<number> {
    if (!this.#host.tables.exist()) return 0
    return await closeHolderSockets(this.#host.env, tenant, this.#rows.listHolders())
  }

  /** Revokes the token of a request, or all tokens of its user. Errors: `token_revoked`, `revocations_full`. */
  revoke(claims: Claims, wantsAll: boolean): Result<RevocationResult> {
    const revoked = this.readState()
    const { token } = claims
    if (wantsAll || token === null) return this.#revokeAll(claims, revoked)
    if (isRevoked(claims, revoked)) return succeed({ revoked: "token" })
    // If the list is full, the revocation fails. It never falls back to revoking other tokens.
    const max = getScope(claims) === "user" ? MAX_REVOKED_TOKENS : MAX_REVOKED_LIMITED_TOKENS
    if (revoked.tokens.length >= max) return fail({ reason: "revocations_full", max })
    this.#write(revoked, () => {
      this.#rows.pruneExpired(nowSeconds())
      this.#rows.revokeToken(token, claims)
    })
    return succeed({ revoked: "token" })
  }

  #revokeAll(claims: Claims, revoked: RevocationState): Result<RevocationResult> {
    if (revoked.upTo !== null && isIssuedBeforeCutoff(claims, revoked))
      return succeed({ revoked: "all", up_to: revoked.upTo })
    // Otherwise, a stolen token could lock out its owner even after the owner has revoked that token.
    if (isRevoked(claims, revoked)) return fail({ reason: "token_revoked" })
    // The issuer's clock may be ahead of this server's.
    const upTo = Math.max(nowSeconds(), claims.issued)
    this.#write(revoked, () => this.#writeAll(upTo))
    return succeed({ revoked: "all", up_to: upTo })
  }

  /** Revokes all tokens and ends all sign-ins. */
  endAllLogins(): void {
    this.#write(this.readState(), () => this.#writeAll(nowSeconds()))
  }

  /** Revokes the tokens of sign-ins that have ended. */
  revokeLogins(ids: readonly string[]): void {
    if (ids.length > 0) this.#write(this.readState(), () => this.#writeLogins(ids))
  }

  applyUserState(state: UserState): void {
    this.#host.tables.create()
    const before = this.readState()
    if (!this.#accountRows.apply(state) || before.suspended === true) return
    // If the user is suspended, tokens of an issuer whose clock is ahead must be revoked too. After a change of role,
    // new tokens must work at once.
    const upTo = state.upTo ?? nowSeconds() + (state.suspended ? CLOCK_TOLERANCE_SECONDS : 0)
    // A change of name revokes no tokens, because its `upTo` is 0.
    if ((before.upTo ?? 0) >= upTo) return
    this.#write(before, () => this.#rows.revokeAll(upTo))
  }

  beginErasure(): void {
    const revoked = this.readState()
    if (revoked.upTo !== ALL_TOKENS) this.#write(revoked, () => this.#rows.revokeAll(ALL_TOKENS))
  }

  /** Clears the state in memory. Call this when the tables are deleted. */
  forget(): void {
    this.#rows.forget()
  }

  /** Revokes all tokens issued so far. Call this when the other rows are deleted. */
  endErasure(): void {
    this.#rows.revokeAll(nowSeconds())
    this.#accountRows.setErased()
  }

  /**
   * Returns the time at which the alarm must run, in milliseconds since 1970: soon if a session must still be notified,
   * otherwise when the next revocation expires.
   */
  nextAlarmAt(): number {
    if (this.#hasUnnotifiedHolders()) return Date.now() + REVOCATION_RETRY_MS
    return (this.#rows.findNextExpiry() ?? Infinity) * 1000
  }

  async handleAlarm(): Promise<void> {
    this.#rows.pruneExpired(nowSeconds())
    await this.#push()
  }

  /** Revokes all tokens, ends the sign-ins, and revokes the tokens that are being issued from them at this moment. */
  #writeAll(upTo: number): void {
    this.#rows.revokeAll(upTo)
    this.#writeLogins(this.#loginRows.removeAll())
  }

  #writeLogins(ids: readonly string[]): void {
    const now = nowSeconds()
    this.#rows.pruneExpired(now)
    for (const id of ids) this.#rows.revokeLogin(id, now, now + PAGE_TOKEN_SECONDS + CLOCK_TOLERANCE_SECONDS)
  }

  /** Sets the alarm together with the write, so that the sessions are notified even if this process ends now. */
  #write(before: RevocationState, write: () => void): void {
    this.#host.tables.create()
    // An alarm that is already set is kept. Otherwise, repeated revocations would keep postponing it.
    const isAlarmSet = this.#rows.listUnnotifiedHolders(before.n).length > 0
    write()
    if (!isAlarmSet) this.#scheduleAlarm()
    this.#host.ctx.waitUntil(this.#pushAndReschedule())
  }

  async #pushAndReschedule(): Promise<void> {
    await this.#push()
    if (!this.#hasUnnotifiedHolders()) this.#scheduleAlarm()
  }

  #push(): Promise<void> {
    return pushRevocations(this.#host.env, this.#rows, this.readState())
  }

  #hasUnnotifiedHolders(): boolean {
    return this.#rows.listUnnotifiedHolders(this.readState().n).length > 0
  }
}

function nowSeconds(): number {
  return Date.now() / 1000
}
