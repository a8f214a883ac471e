/**
 * session-lifecycle.ts: creates, opens and erases the session of a session object.
 *
 * An object holds at most one session. Before a session is created, the object stores nothing (SPEC ST1).
 */

import { nanoid } from "nanoid"
import { fail, type Result, succeed } from "../../shared/fault.ts"
import { SOCKET_REGISTER_MS } from "../../shared/limits.ts"
import { TEMPORARY_MS } from "../../shared/user-limits.ts"
import { readAgentView } from "../agent/agent-view.ts"
import { describeError, logError } from "../platform/log.ts"
import { directoryStub, sessionStub } from "../platform/rpc/object-stubs.ts"
import type { Env } from "../env.ts"
import { FrameRates } from "../limits/frame-rates.ts"
import { SessionBytes } from "../limits/session-bytes.ts"
import { mediaBucket } from "../platform/media-bucket.ts"
import { readTimeLimits, type TimeLimits } from "../platform/time-limits.ts"
import { Sockets, type SocketsHost } from "../socket/sockets.ts"
import type { NewSession, SessionRow } from "../store/row-codec.ts"
import { isCreated, migrateSession } from "../store/session-schema.ts"
import { createSessionStore } from "../store/session-store.ts"
import { SessionErasedError, type StorageGate } from "../store/storage-gate.ts"
import { type ErasedSession, eraseLateUploads, eraseSessionStorage, takeUsageReports } from "./erase-session.ts"
import type { DirectorySync } from "./directory-sync.ts"
import { type LiveSession, openLiveSession } from "./live-session.ts"
import type { CopyHost } from "../shared-copy/write-copy.ts"
import { ShareRows } from "../shared-copy/share-rows.ts"
import { removeFromViewers } from "./session-sharing.ts"
import { createSessionAlarm, type SessionAlarm } from "./session-alarm.ts"
import type { SessionHooks } from "./session-hooks.ts"
import { restoreSessionRows } from "../store/stored-session.ts"
import type { StoredSession } from "../platform/rpc/session-types.ts"
import { getScope, isReadOnly, type OwnerClaims, type SessionOwner } from "../platform/rpc/claims.ts"

/**
 * Key under which a hidden session is marked. It is not part of the rows, and the erasure removes it with everything
 * else.
 */
const HIDDEN_KEY = "hidden"

/** How long the alarm waits before it tries again to erase a temporary session, in milliseconds. */
const ERASE_RETRY_MS = 60_000

export class SessionLifecycle {
  readonly sockets: Sockets
  readonly frameRates: FrameRates
  readonly #ctx: DurableObjectState
  readonly #env: Env
  readonly #hooks: SessionHooks
  readonly #times: TimeLimits
  readonly #alarm: SessionAlarm
  #session: LiveSession | null = null
  #isHidden = false
  #eraseInProgress: Promise<void> | null = null

  constructor(ctx: DurableObjectState, env: Env, hooks: SessionHooks) {
    this.#ctx = ctx
    this.#env = env
    this.#hooks = hooks
    this.#times = readTimeLimits(env)
    this.frameRates = new FrameRates(env)
    this.#alarm = createSessionAlarm(ctx, this.#times.alarmMs)
    this.sockets = hooks.wrapSockets(new Sockets(ctx, this.#createSocketsHost()))
  }

  /** Returns the session; null if none was created, or while it is being erased. */
  current(): LiveSession | null {
    return this.#session
  }

  /**
   * Returns the session if these claims may change it. They must belong to its owner, with scope `user` and at least
   * the role `member`. Returns null while the session is hidden.
   */
  find(claims: OwnerClaims): LiveSession | null {
    return this.#isHidden ? null : this.findOwn(claims)
  }

  /** Like `find`, but also finds a hidden session: for its erasure, and for calls from other objects. */
  findOwn(claims: OwnerClaims): LiveSession | null {
    return isReadOnly(claims) ? null : this.findReadable(claims)
  }

  /** Whether the user deleted the session but can still restore it (SPEC OG30). */
  isHidden(): boolean {
    return this.#isHidden
  }

  /**
   * Returns the session if these claims may read it. They must belong to its owner or a viewer, with scope `user` and
   * any role.
   */
  findReadable(claims: OwnerClaims): LiveSession | null {
    const session = getScope(claims) === "user" ? this.#session : null
    if (session === null) return null
    const { tenant, user, sharedBy } = claims
    if (sharedBy === undefined) return session.isOwner(claims) ? session : null
    return session.isOwner({ tenant, user: sharedBy }) && session.store.viewers.has(user) ? session : null
  }

  /** Opens the stored session, if there is one, and continues its work. */
  wake(): void {
    const { storage } = this.#ctx
    if (!isCreated(storage.sql)) return
    migrateSession(storage)
    this.#open()
    this.sockets.resumeRegistrations()
    // Before any turn begins, because a running import pauses turns.
    this.#ctx.waitUntil(this.#session?.importer.resumeImport() ?? Promise.resolve())
    this.#session?.advance()
  }

  /**
   * Creates the session. Repeating the call has no effect. Errors: `agent_unknown`; `session_unknown` for another
   * user's session.
   */
  async create(owner: SessionOwner, newSession: NewSession): Promise<Result<null>> {
    await this.#eraseInProgress?.catch(() => {})
    if (this.#session !== null) return this.#checkOwner(owner)
    const view = await readAgentView(this.#env, owner.tenant, newSession.agent)
    // Another request may have created it in the meantime.
    if (this.#session !== null) return this.#checkOwner(owner)
    if (view === null) return fail({ reason: "agent_unknown" })
    const { id, title, family, isTemporary = false } = newSession
    const { tenant, user } = owner
    migrateSession(this.#ctx.storage)
    const row = { id, title, family, tenant, user, agent: view, epoch: nanoid(), created: Date.now() }
    createSessionStore(this.#ctx.storage.sql).createSession(row, isTemporary ? Date.now() + TEMPORARY_MS : null)
    this.#open()
    this.#postponeErasure()
    if (view.hasBudgets === true) this.#ctx.waitUntil(this.#loadBudgets(owner))
    return succeed(null)
  }

  /**
   * Loads the limits into the directory, for a user who sends no messages. If this fails, the creation of the next
   * session retries it.
   */
  async #loadBudgets(owner: SessionOwner): Promise<void> {
    try {
      await directoryStub(this.#env, owner).learnBudgets()
    } catch (error) {
      logError("budgets_not_told", { error: describeError(error) })
    }
  }

  /**
   * Creates a session from the import of a whole tenant. Repeating the call has no effect. Errors: `session_unknown`.
   */
  async restore({ tenant, user }: SessionOwner, stored: StoredSession): Promise<Result<null>> {
    await this.#eraseInProgress?.catch(() => {})
    if (this.#session !== null) return this.#checkOwner({ tenant, user })
    const { storage } = this.#ctx
    migrateSession(storage)
    storage.transactionSync(() => restoreSessionRows(createSessionStore(storage.sql), { tenant, user }, stored))
    this.#open()
    return succeed(null)
  }

  /**
   * Makes the session refuse its owner's changes while it is hidden, or accept them again. Sockets stay open, because
   * the session may be restored. Errors: `session_unknown`.
   */
  setHidden(owner: SessionOwner, isHidden: boolean): Result<null> {
    if (this.findOwn(owner) === null) return fail({ reason: "session_unknown" })
    if (isHidden === this.#isHidden) return succeed(null)
    this.#isHidden = isHidden
    const { kv } = this.#ctx.storage
    if (isHidden) kv.put(HIDDEN_KEY, true)
    else kv.delete(HIDDEN_KEY)
    return succeed(null)
  }

  /**
   * Stops all work, closes the sockets and erases everything stored here. The caller removes the session from the
   * user's directory afterwards. The agent sessions that this session asked are erased too if `withAgents` is set, or
   * if this session is the user's session in its group.
   */
  async erase(owner: SessionOwner, withAgents = false): Promise<Result<null>> {
    const session = this.findOwn(owner)
    if (session === null) return fail({ reason: "session_unknown" })
    this.#session = null
    this.#alarm.reset()
    const { id, family } = session.row
    const agentSessions =
      withAgents || id === family.session
        ? session.store.agentAsks.listAskedSessions().filter((asked) => asked !== family.session)
        : []
    const unlisted = removeFromViewers(this.#env, session)
    const shareRows = new ShareRows(session.storageGate.sql)
    const shares = shareRows.listIds()
    const hasPendingUploads = session.assetService.nextAlarmAt() !== null || shareRows.hasUnfinished()
    const reports = takeUsageReports(session)
    const recheckAtMs = hasPendingUploads ? Date.now() + this.#times.assetPendingMs : null
    session.close()
    const reported = reports.length === 0 ? [] : [directoryStub(this.#env, owner).endUsage(reports)]
    this.sockets.closeAll({ reason: "session_unknown" })
    const sessionRef = { tenant: owner.tenant, session: id, shares }
    // A report that is being sent must not arrive after the session is forgotten.
    const begun = [unlisted, ...reported, session.assetService.syncBytes()]
    this.#eraseInProgress = this.#eraseWithAgents(sessionRef, owner, begun, agentSessions, recheckAtMs)
    await this.#eraseInProgress
    return succeed(null)
  }

  /** Completes the close of a socket. */
  closeSocket(socket: WebSocket, code: number): void {
    this.sockets.closeSocket(socket, code)
    this.#postponeErasure()
  }

  /** Postpones the erasure of a temporary session to TEMPORARY_MS after its last socket. */
  #postponeErasure(): void {
    const session = this.#session
    if (session === null || session.row.erasesAt === null) return
    const erasesAt = Date.now() + TEMPORARY_MS
    session.store.setErasesAt(erasesAt)
    this.#alarm.armBy(erasesAt)
  }

  /**
   * Erases a temporary session. It is removed from the directory first, so afterwards only its own alarm can find it.
   * The next alarm is set before anything can fail, because the platform repeats a failed alarm only a few times.
   */
  async #eraseExpired({ row }: LiveSession): Promise<void> {
    this.#alarm.rescheduleAt(Date.now() + ERASE_RETRY_MS)
    await directoryStub(this.#env, row).removeSession(row.id)
    await this.erase(row)
  }

  /** Returns the parts of a session that its shared copies need. */
  createCopyHost({ row, store, storageGate, assets }: LiveSession): CopyHost {
    return {
      row,
      store,
      assets,
      rows: new ShareRows(storageGate.sql),
      bucket: mediaBucket(this.#env, row.tenant),
      now: Date.now,
      armBy: (atMs) => this.#alarm.armBy(atMs),
    }
  }

  async #deleteExpiredShares(session: LiveSession): Promise<void> {
    const host = this.createCopyHost(session)
    if (host.rows.listExpired(Date.now()).length === 0) return
    const { deleteExpired } = await import("../shared-copy/write-copy.ts")
    await deleteExpired(host)
  }

  async handleAlarm(): Promise<void> {
    const session = this.#session
    if (session === null) return await this.#eraseLateUploads()
    const { turns, importer, assetService } = session
    if (this.sockets.countOpen() > 0) this.#postponeErasure()
    if (readErasureTime(session) <= Date.now()) return await this.#eraseExpired(session)
    this.sockets.closeExpired()
    // The alarm is set first, so that it fires again if anything below fails.
    this.#alarm.rescheduleAt(
      Math.min(
        readErasureTime(session),
        new ShareRows(session.storageGate.sql).nextExpiry() ?? Infinity,
        ...[turns, importer, assetService, this.sockets].map((source) => source.nextAlarmAt() ?? Infinity),
      ),
    )
    this.#ctx.waitUntil(importer.resumeImport())
    this.#ctx.waitUntil(assetService.sweepPending())
    this.#ctx.waitUntil(this.#deleteExpiredShares(session))
    this.#ctx.waitUntil(session.withSeqRollback(() => turns.handleAlarm()))
    await this.#syncDirectory(session.directorySync)
  }

  /**
   * Sends whatever the directory may be missing. The alarm handler ends only afterwards, so nothing is lost if the
   * process is killed.
   */
  async #syncDirectory(directorySync: DirectorySync): Promise<void> {
    await directorySync.syncRunningState()
    // The session may have been erased in the meantime.
    if (this.#session !== null && directorySync.isPending()) this.#alarm.armBy(Date.now() + this.#times.usageRetryMs)
  }

  #createSocketsHost(): SocketsHost {
    return {
      now: Date.now,
      helloMs: this.#times.helloMs,
      registerMs: SOCKET_REGISTER_MS,
      armBy: (atMs) => this.#alarm.armBy(atMs),
      waitUntil: (work) => this.#ctx.waitUntil(work),
      authorizeSocket: async (claims, sockets) => {
        const session = this.#session
        if (session === null) return fail({ reason: "session_unknown" })
        return await directoryStub(this.#env, claims).authorizeSocket(claims, session.row.id, sockets)
      },
    }
  }

  #checkOwner(owner: SessionOwner): Result<null> {
    return this.find(owner) === null ? fail({ reason: "session_unknown" }) : succeed(null)
  }

  #open(): void {
    this.#isHidden = this.#ctx.storage.kv.get(HIDDEN_KEY) === true
    this.#session = openLiveSession({
      storage: this.#ctx.storage,
      env: this.#env,
      sockets: this.sockets,
      hooks: this.#hooks,
      armAlarm: () => this.#alarm.arm(),
      openBytes: (row, gate) => this.#openBytes(row, gate),
      waitUntil: (work) => this.#ctx.waitUntil(work),
    })
  }

  #openBytes(row: SessionRow, gate: StorageGate): SessionBytes {
    return new SessionBytes({
      sql: gate.sql,
      readDatabaseBytes: () => this.#ctx.storage.sql.databaseSize,
      report: async (report) => await directoryStub(this.#env, row).reportBytes({ session: row.id, ...report }),
      waitUntil: (work) => this.#ctx.waitUntil(work),
      armAlarm: () => this.#alarm.arm(),
      now: Date.now,
      isErased: (error) => error instanceof SessionErasedError,
    })
  }

  /** Erases the agent sessions and the viewers' entries first, so that a retry after a failure can still find them. */
  async #eraseWithAgents(
    sessionRef: ErasedSession,
    owner: SessionOwner,
    begun: readonly Promise<void>[],
    agentSessions: readonly string[],
    recheckAtMs: number | null,
  ): Promise<void> {
    try {
      const erasing = agentSessions.map((id) => sessionStub(this.#env, owner.tenant, id).erase(owner, true))
      await Promise.all([...erasing, ...begun])
      await directoryStub(this.#env, owner).removeBytes(sessionRef.session)
      await eraseSessionStorage(this.#ctx.storage, mediaBucket(this.#env, owner.tenant), sessionRef, recheckAtMs)
    } finally {
      // After a failure, the session is opened again, so that the erasure can be retried.
      if (isCreated(this.#ctx.storage.sql)) this.#open()
      this.#eraseInProgress = null
    }
  }

  /** Deletes the bytes of uploads that ended after the session was erased. `create` waits for this. */
  async #eraseLateUploads(): Promise<void> {
    this.#alarm.reset()
    const retryAtMs = Date.now() + this.#times.assetPendingMs
    const findBucket = (tenant: string): R2Bucket => mediaBucket(this.#env, tenant)
    this.#eraseInProgress ??= eraseLateUploads(this.#ctx.storage, findBucket, retryAtMs).finally(() => {
      this.#eraseInProgress = null
    })
    await this.#eraseInProgress
  }
}

/** Returns when a temporary session is erased, in milliseconds since 1970; Infinity: never. */
function readErasureTime({ row, store }: LiveSession): number {
  return row.erasesAt === null ? Infinity : (store.readSession()?.erasesAt ?? Infinity)
}
