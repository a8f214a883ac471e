/**
 * export-job.ts: exports or backs up a tenant to files in the bucket: its configuration, its users, and their sessions
 * with all assets.
 *
 * users ▶ directories ▶ sessions ▶ blocks ▶ files
 * Each file is written before its row. The position at which the export continues is stored when a slice ends. A slice
 * that was killed or failed runs again as a whole, after the files that it had written have been removed.
 */

import { computeHash } from "../platform/crypto/sha256-hex.ts"
import { sessionStub, directoryStub } from "../platform/rpc/object-stubs.ts"
import { mediaBucket } from "../platform/media-bucket.ts"
import { assetObjectKey } from "../asset/bucket.ts"
import type { Claims, SessionOwner } from "../platform/rpc/claims.ts"
import type { DirectoryEntry } from "../platform/rpc/directory-rpc.ts"
import type { AssetEntry, StoredSession } from "../platform/rpc/session-types.ts"
import type { Tally } from "../../shared/protocol/http-body.ts"
import { ASKS_PER_BLOCK, type BlockHeader, cutAnywhere, cutAtLines, joinBytes, writeBlock } from "./archive-blocks.ts"
import { findArchiveLocation } from "./export-files.ts"
import {
  ARCHIVE_FILE_BYTES,
  ARCHIVE_FORMAT,
  ARCHIVE_VERSION,
  MAX_ARCHIVE_FILES,
  writeManifest,
} from "./archive-manifest.ts"
import type { Job } from "./job-rows.ts"
import { addTally, LastingError, type LeavingHost, type SliceResult } from "./leaving-host.ts"

const SESSIONS_PER_SLICE = 100

/**
 * After this many requests to other objects and to the bucket, a slice ends before the next file of a session. The
 * platform allows 1,000 requests per event, and a session can have MAX_SESSION_ASSETS files, each of which takes one
 * request.
 */
export const REQUESTS_PER_SLICE = 400

/** Number of archive bytes after which a slice ends. This limits how much is written again after a failed slice. */
const BYTES_PER_SLICE = 256 * 1024 * 1024

/** Number of assets per request to a session. */
const ASSETS_PER_PAGE = 100

/** A session whose assets are being exported. */
interface OpenSession {
  /** The last asset that was exported; null if none was. */
  readonly after: string | null
  /** Number of assets exported so far, and their total bytes. */
  readonly files: number
  readonly bytes: number
}

/** The progress within a user's session and the agents' sessions that belong to it. */
interface SessionGroup {
  /** The sessions that are known so far; the user's session is the first. */
  readonly known: readonly string[]
  /** The number of these sessions that were exported completely. */
  readonly done: number
  /** The next session, if its export has begun. */
  readonly open: OpenSession | null
}

interface ExportProgress {
  readonly hasConfig?: true
  /** The user whose sessions are being exported, or were exported last; absent at the beginning. */
  readonly user?: string
  /** The last session of that user that was exported completely. */
  readonly session?: string
  readonly isUserDone?: boolean
  /** The group that follows `session`, if a slice ended within it. */
  readonly group?: SessionGroup
  /** Number of archive files written before this position; absent in exports begun by an earlier version. */
  readonly parts?: number
}

const NO_ASSETS: OpenSession = { after: null, files: 0, bytes: 0 }

export async function runExportSlice(host: LeavingHost, job: Job): Promise<SliceResult> {
  return await new ExportSlice(host, job).run()
}

class ExportSlice {
  readonly #host: LeavingHost
  readonly #job: Job
  #progress: ExportProgress
  #tally: Tally
  /** Blocks of the file that is being written. */
  #chunks: Uint8Array[] = []
  #size = 0
  #nextFile: number
  #sessionsLeft = SESSIONS_PER_SLICE
  #requestsLeft = REQUESTS_PER_SLICE
  #bytesLeft = BYTES_PER_SLICE

  constructor(host: LeavingHost, job: Job) {
    this.#host = host
    this.#job = job
    this.#progress = job.progress as ExportProgress
    this.#tally = job.tally
    const { hasConfig, parts } = this.#progress
    this.#nextFile = (parts ?? (hasConfig === true ? host.rows.countFiles(job.id) : 0)) + 1
  }

  async run(): Promise<SliceResult> {
    await this.#removeLaterFiles()
    if (this.#progress.hasConfig !== true) {
      await this.#add({ type: "config", config: this.#host.content.readConfig() })
      this.#progress = { hasConfig: true }
    }
    while (!this.#isFull()) {
      const user = await this.#findUser()
      if (user === null) return await this.#finish()
      await this.#exportSessions(user)
    }
    await this.#closeFile()
    return { isDone: false, progress: this.#createProgress(), tally: this.#tally, due: this.#host.now() }
  }

  #createProgress(): ExportProgress {
    return { ...this.#progress, parts: this.#nextFile - 1 }
  }

  #isFull(): boolean {
    return this.#sessionsLeft <= 0 || this.#requestsLeft <= 0 || this.#bytesLeft <= 0
  }

  /** Removes the files of an earlier attempt at this slice. */
  async #removeLaterFiles(): Promise<void> {
    const { env, rows } = this.#host
    const from = this.#nextFile
    const count = rows.countFiles(this.#job.id) + 1 - from
    if (count <= 0) return
    const { bucket, folder } = findArchiveLocation(env, this.#job)
    this.#requestsLeft -= 1
    await bucket.delete(Array.from({ length: count }, (_, i) => `${folder}${from + i}`))
    rows.removeFilesFrom(this.#job.id, from)
  }

  /** Returns the user whose sessions are exported next; null if there is none. */
  async #findUser(): Promise<string | null> {
    const { user, isUserDone } = this.#progress
    if (user !== undefined && isUserDone !== true) return user
    const [next] = this.#host.content.listUsers(user ?? null, 1)
    if (next === undefined) return null
    await this.#add({ type: "user", about: next })
    this.#requestsLeft -= 1
    const prompts = await directoryStub(this.#host.env, { tenant: this.#job.tenant, user: next.id }).listPrompts()
    for (const prompt of prompts) await this.#add({ type: "prompt", user: next.id, prompt })
    this.#progress = { hasConfig: true, user: next.id }
    return next.id
  }

  async #exportSessions(user: string): Promise<void> {
    const owner = { tenant: this.#job.tenant, user }
    const { group, session = null } = this.#progress
    if (group !== undefined) return await this.#exportGroup(owner, group, null)
    this.#requestsLeft -= 1
    const entries = await directoryStub(this.#host.env, owner).listEntries(session, this.#sessionsLeft, true)
    for (const entry of entries) {
      await this.#exportGroup(owner, { known: [entry.id], done: 0, open: null }, entry)
      if (this.#isFull()) return
    }
    if (entries.length > 0) return
    this.#sessionsLeft -= 1
    this.#tally = addTally(this.#tally, { users: 1 })
    this.#progress = { hasConfig: true, user, isUserDone: true }
  }

  /** Exports a group, or its remainder. `listed` is null if the export of its first session has begun. */
  async #exportGroup(owner: SessionOwner, group: SessionGroup, listed: DirectoryEntry | null): Promise<void> {
    const known = [...group.known]
    const [root = ""] = known
    let { done, open } = group
    for (let id = known[done]; id !== undefined; id = known[done]) {
      open = await this.#exportSession(owner, id, { known, open, listed: id === root ? listed : null })
      if (open === null) done += 1
      if (!this.#isFull() || done === known.length) continue
      this.#progress = { ...this.#progress, group: { known, done, open } }
      return
    }
    this.#progress = { hasConfig: true, user: owner.user, session: root }
  }

  /**
   * Exports a session, or its remainder, and adds to `known` the agents' sessions to which it sent questions. Returns
   * the position at which the slice ends, or null if the session is complete or erased.
   */
  async #exportSession(
    owner: SessionOwner,
    session: string,
    { known, open, listed }: { known: string[]; open: OpenSession | null; listed: DirectoryEntry | null },
  ): Promise<OpenSession | null> {
    this.#requestsLeft -= 1
    const described = await sessionStub(this.#host.env, owner.tenant, session).describe(owner)
    if (!described.ok) return null
    if (open === null) {
      for (const asked of described.value.asks) if (!known.includes(asked.session)) known.push(asked.session)
      await this.#beginSession(owner, described.value, listed)
    }
    const { rest, files, bytes } = await this.#exportAssets(owner, session, open ?? NO_ASSETS)
    if (rest !== null) return rest
    await this.#add({ type: "session_end", user: owner.user, session })
    this.#tally = addTally(this.#tally, { files, bytes, [session === known[0] ? "sessions" : "agent_sessions"]: 1 })
    return null
  }

  /**
   * Begins the session's blocks. The assets follow the transcript, so that all assets that the transcript mentions
   * exist when they are listed.
   */
  async #beginSession(owner: SessionOwner, stored: StoredSession, listed: DirectoryEntry | null): Promise<void> {
    this.#sessionsLeft -= 1
    const { asks, ...about } = stored
    const place = { user: owner.user, session: stored.id }
    await this.#add({ type: "session", ...place, about, listed })
    for (let from = 0; from < asks.length; from += ASKS_PER_BLOCK)
      await this.#add({ type: "asks", ...place, asks: asks.slice(from, from + ASKS_PER_BLOCK) })
    if (!stored.isEmpty) await this.#exportTranscript(owner, stored.id)
  }

  async #exportTranscript(owner: SessionOwner, session: string): Promise<void> {
    this.#requestsLeft -= 1
    const exported = await sessionStub(this.#host.env, owner.tenant, session).export(createClaims(owner), null)
    // The session was erased in the meantime. The next attempt skips it.
    if (!exported.ok) throw new Error("a session was erased during its export")
    const lines: ReadableStream<Uint8Array> = exported.value.lines
    for await (const piece of cutAtLines(lines))
      await this.#add({ type: "transcript", user: owner.user, session }, piece)
  }

  /**
   * Exports the assets after a position. `rest`: the position at which the slice ends, or null if there are no more.
   */
  async #exportAssets(
    owner: SessionOwner,
    session: string,
    { after, files, bytes }: OpenSession,
  ): Promise<{ rest: OpenSession | null; files: number; bytes: number }> {
    const stub = sessionStub(this.#host.env, owner.tenant, session)
    let place = { after, files, bytes }
    for (;;) {
      if (this.#isFull()) return { ...place, rest: place }
      this.#requestsLeft -= 1
      const page = await stub.listAssetEntries(owner, place.after, ASSETS_PER_PAGE)
      if (!page.ok) throw new Error("a session was erased during its export")
      for (const entry of page.value) {
        if (this.#isFull()) return { ...place, rest: place }
        const isStored = await this.#exportAsset(owner, session, entry)
        const added = isStored ? { files: 1, bytes: entry.asset.size } : { files: 0, bytes: 0 }
        place = { after: entry.asset.id, files: place.files + added.files, bytes: place.bytes + added.bytes }
      }
      if (page.value.length < ASSETS_PER_PAGE) return { ...place, rest: null }
    }
  }

  /** Returns false if the bytes of the asset no longer exist. */
  async #exportAsset({ tenant, user }: SessionOwner, session: string, entry: AssetEntry): Promise<boolean> {
    this.#requestsLeft -= 1
    const object = await mediaBucket(this.#host.env, tenant).get(assetObjectKey({ tenant, session }, entry.asset.id))
    if (object === null) return false
    let offset = 0
    for await (const piece of cutAnywhere(object.body)) {
      await this.#add({ type: "asset", user, session, entry, offset }, piece)
      offset += piece.byteLength
    }
    if (offset === 0) await this.#add({ type: "asset", user, session, entry, offset })
    return true
  }

  async #add(header: BlockHeader, payload?: Uint8Array): Promise<void> {
    for (const chunk of writeBlock(header, payload)) {
      this.#chunks.push(chunk)
      this.#size += chunk.byteLength
      this.#bytesLeft -= chunk.byteLength
    }
    if (this.#size >= ARCHIVE_FILE_BYTES) await this.#closeFile()
  }

  /** Writes the file, then its row. Both take effect when the slice ends. */
  async #closeFile(): Promise<void> {
    if (this.#size === 0) return
    const n = this.#nextFile
    if (n > MAX_ARCHIVE_FILES) throw new LastingError({ reason: "export_too_large", max: MAX_ARCHIVE_FILES })
    const bytes = await joinBytes(this.#chunks)
    this.#chunks = []
    this.#size = 0
    const sha256 = await computeHash(bytes)
    await this.#put(n, bytes)
    this.#host.rows.putFile(this.#job.id, { n, bytes: bytes.byteLength, sha256 }, true)
    this.#nextFile = n + 1
  }

  /** Stores a file. If the export was removed in the meantime, throws and leaves nothing behind. */
  async #put(n: number, content: Uint8Array | string): Promise<void> {
    const { env, rows } = this.#host
    const { bucket, folder } = findArchiveLocation(env, this.#job)
    this.#requestsLeft -= 1
    await bucket.put(`${folder}${n}`, content)
    if (rows.find(this.#job.id) !== null) return
    await bucket.delete(`${folder}${n}`)
    throw new Error("the export was removed")
  }

  async #finish(): Promise<SliceResult> {
    await this.#closeFile()
    const { env, rows, now } = this.#host
    const { id, tenant, created } = this.#job
    const files = rows.listFiles(id)
    const head = { format: ARCHIVE_FORMAT, version: ARCHIVE_VERSION, tenant, id, created } as const
    const text = await writeManifest(env.JWT_SECRET ?? "", { ...head, tally: this.#tally, files })
    await this.#put(0, text)
    rows.saveProgress(id, { progress: this.#createProgress(), tally: this.#tally, due: now(), updated: now() })
    return { isDone: true }
  }
}

/** Creates claims for the calls to a session. In these calls, the session checks only that the user is its owner. */
function createClaims({ tenant, user }: SessionOwner): Claims {
  return { tenant, user, expires: 0, token: null, issued: 0 }
}
