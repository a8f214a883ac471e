/**
 * export-job.ts: exports or backs up a tenant to files in the bucket: its configuration, its users, and their sessions with
 * all assets.
 *
 * users ▶ directories ▶ sessions ▶ blocks ▶ files
 * Each file is written before its row, and the position at which the export continues is stored with the row. So a killed
 * process leaves at most one session without an end, which the next process writes again.
 */

import { sessionStub, directoryStub } from "../platform/rpc/object-stubs.ts"
import { mediaBucket } from "../platform/media-bucket.ts"
import { assetObjectKey } from "../asset/bucket.ts"
import type { Claims, SessionOwner } from "../platform/rpc/claims.ts"
import type { DirectoryEntry } from "../platform/rpc/directory-rpc.ts"
import type { AssetEntry, StoredSession } from "../platform/rpc/session-types.ts"
import type { Tally } from "../../shared/protocol/http-body.ts"
import { ASKS_PER_BLOCK, type BlockHeader, cutAnywhere, cutAtLines, joinBytes, writeBlock } from "./archive-blocks.ts"
import { computeHash } from "./archive-files.ts"
import { findArchivePlace } from "./export-files.ts"
import {
  ARCHIVE_FILE_BYTES,
  ARCHIVE_FORMAT,
  ARCHIVE_VERSION,
  MAX_ARCHIVE_FILES,
  writeManifest,
} from "./archive-manifest.ts"
import { type Job, NO_TALLY } from "./job-rows.ts"
import { addTally, LastingError, type LeavingHost, type SliceResult } from "./leaving-host.ts"
import { walkSessionGroup } from "./session-group.ts"

/** Sessions per slice. */
const SESSIONS_PER_SLICE = 100

/**
 * Number of requests to other objects and to the bucket after which a slice ends, before a user's next session. The
 * platform allows 1,000 per event, and a session can have MAX_SESSION_ASSETS files, each of which takes one request.
 */
export const REQUESTS_PER_SLICE = 400

/** Assets per request to a session. */
const ASSETS_PER_PAGE = 100

interface ExportProgress {
  readonly hasConfig?: true
  /** The user whose sessions are being or were last exported; absent at the beginning. */
  readonly user?: string
  /** The last session of that user that was exported completely. */
  readonly session?: string
  readonly isUserDone?: boolean
}

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

  constructor(host: LeavingHost, job: Job) {
    this.#host = host
    this.#job = job
    this.#progress = job.progress as ExportProgress
    this.#tally = job.tally
    this.#nextFile = host.rows.countFiles(job.id) + 1
  }

  async run(): Promise<SliceResult> {
    if (this.#progress.hasConfig !== true) {
      await this.#add({ type: "config", config: this.#host.content.readConfig() })
      this.#progress = { hasConfig: true }
    }
    while (this.#sessionsLeft > 0 && this.#requestsLeft > 0) {
      const user = await this.#findUser()
      if (user === null) return await this.#finish()
      await this.#exportSessions(user)
    }
    await this.#closeFile()
    return { isDone: false, progress: this.#progress, tally: this.#tally, due: this.#host.now() }
  }

  /** The user whose sessions come next; null if there is none. */
  async #findUser(): Promise<string | null> {
    const { user, isUserDone } = this.#progress
    if (user !== undefined && isUserDone !== true) return user
    const [next] = this.#host.content.listUsers(user ?? null, 1)
    if (next === undefined) return null
    await this.#add({ type: "user", about: next })
    this.#progress = { hasConfig: true, user: next.id }
    return next.id
  }

  async #exportSessions(user: string): Promise<void> {
    const owner = { tenant: this.#job.tenant, user }
    const after = this.#progress.session ?? null
    this.#requestsLeft -= 1
    const entries = await directoryStub(this.#host.env, owner).listEntries(after, this.#sessionsLeft)
    for (const entry of entries) {
      // Counted together with the progress, because the file may be closed in the middle of a group.
      this.#tally = addTally(this.#tally, await this.#exportGroup(owner, entry))
      this.#progress = { hasConfig: true, user, session: entry.id }
      if (this.#requestsLeft <= 0) return
    }
    if (entries.length > 0) return
    this.#sessionsLeft -= 1
    this.#tally = addTally(this.#tally, { users: 1 })
    this.#progress = { hasConfig: true, user, isUserDone: true }
  }

  /** Exports a session of the user and the agents' sessions that belong to it. */
  async #exportGroup(owner: SessionOwner, entry: DirectoryEntry): Promise<Tally> {
    let tally = NO_TALLY
    for await (const stored of walkSessionGroup(this.#host.env, owner, entry.id)) {
      this.#sessionsLeft -= 1
      this.#requestsLeft -= 1
      const isRoot = stored.id === entry.id
      const added = await this.#exportSession(owner, stored, isRoot ? entry : null)
      tally = addTally(tally, { ...added, [isRoot ? "sessions" : "agent_sessions"]: 1 })
    }
    return tally
  }

  async #exportSession(
    owner: SessionOwner,
    stored: StoredSession,
    listed: DirectoryEntry | null,
  ): Promise<Partial<Tally>> {
    const { asks, ...about } = stored
    const place = { user: owner.user, session: stored.id }
    await this.#add({ type: "session", ...place, about, listed })
    for (let from = 0; from < asks.length; from += ASKS_PER_BLOCK)
      await this.#add({ type: "asks", ...place, asks: asks.slice(from, from + ASKS_PER_BLOCK) })
    const added = await this.#exportAssets(owner, stored.id)
    if (!stored.isEmpty) await this.#exportTranscript(owner, stored.id)
    await this.#add({ type: "session_end", ...place })
    return added
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

  async #exportAssets(owner: SessionOwner, session: string): Promise<Partial<Tally>> {
    const stub = sessionStub(this.#host.env, owner.tenant, session)
    let [files, bytes] = [0, 0]
    for (let after: string | null = null; ; ) {
      this.#requestsLeft -= 1
      const page = await stub.listAssetEntries(owner, after, ASSETS_PER_PAGE)
      if (!page.ok) throw new Error("a session was erased during its export")
      for (const entry of page.value) {
        if (!(await this.#exportAsset(owner, session, entry))) continue
        files += 1
        bytes += entry.asset.size
      }
      after = page.value.at(-1)?.asset.id ?? null
      if (page.value.length < ASSETS_PER_PAGE || after === null) return { files, bytes }
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
    }
    if (this.#size >= ARCHIVE_FILE_BYTES) await this.#closeFile()
  }

  /** Writes the file, then its row together with the position after the last complete session. */
  async #closeFile(): Promise<void> {
    if (this.#size === 0) return
    const { storage, rows, now } = this.#host
    const { id } = this.#job
    const n = this.#nextFile
    if (n > MAX_ARCHIVE_FILES) throw new LastingError({ reason: "export_too_large", max: MAX_ARCHIVE_FILES })
    const bytes = await joinBytes(this.#chunks)
    this.#chunks = []
    this.#size = 0
    const sha256 = await computeHash(bytes)
    await this.#put(n, bytes)
    storage.transactionSync(() => {
      rows.putFile(id, { n, bytes: bytes.byteLength, sha256 }, true)
      rows.saveProgress(id, { progress: this.#progress, tally: this.#tally, due: now(), updated: now() })
    })
    this.#nextFile = n + 1
  }

  /** Throws, and leaves nothing behind, if the export was removed in the meantime. */
  async #put(n: number, content: Uint8Array | string): Promise<void> {
    const { env, rows } = this.#host
    const { bucket, folder } = findArchivePlace(env, this.#job)
    this.#requestsLeft -= 1
    await bucket.put(`${folder}${n}`, content)
    if (rows.find(this.#job.id) !== null) return
    await bucket.delete(`${folder}${n}`)
    throw new Error("the export was removed")
  }

  async #finish(): Promise<SliceResult> {
    await this.#closeFile()
    const { env, storage, rows, now } = this.#host
    const { id, tenant, created } = this.#job
    const files = rows.listFiles(id)
    const head = { format: ARCHIVE_FORMAT, version: ARCHIVE_VERSION, tenant, id, created } as const
    const text = await writeManifest(env.JWT_SECRET ?? "", { ...head, tally: this.#tally, files })
    await this.#put(0, text)
    const tally = this.#tally
    storage.transactionSync(() => {
      rows.saveProgress(id, { progress: this.#progress, tally, due: now(), updated: now() })
    })
    return { isDone: true }
  }
}

/** The session checks only its owner. */
function createClaims({ tenant, user }: SessionOwner): Claims {
  return { tenant, user, expires: 0, token: null, issued: 0 }
}
