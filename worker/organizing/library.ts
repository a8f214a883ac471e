/**
 * library.ts: the search index, the folders and the organised sessions of a user's directory, and the work of its alarm for
 * them. Loaded on demand.
 */

import { faultToWire, fail, type Result, succeed } from "../../shared/fault.ts"
import type { BulkResult, SessionFolder } from "../../shared/protocol/http-body.ts"
import { describeError, log } from "../platform/log.ts"
import type { BulkAction } from "../platform/rpc/directory-rpc.ts"
import { sessionStub } from "../platform/rpc/object-stubs.ts"
import type { FoundHits, SearchQuery } from "../platform/rpc/search-types.ts"
import { SearchIndex } from "../search/search-index.ts"
import type { DirectoryHost } from "../usage/directory-host.ts"
import { FolderRows } from "./folder-rows.ts"
import { UNDO_MS } from "./organizing-columns.ts"
import { SessionChanges } from "./session-changes.ts"

/** Maximum number of sessions that an alarm erases, and of calls with which it fetches texts. The next alarm continues. */
const ERASED_PER_ALARM = 20
const FETCHES_PER_ALARM = 4

/** The directory that contains the library. */
export interface LibraryHost extends DirectoryHost {
  /** Removes the other rows of an erased session. */
  readonly removeSession: (id: string) => Promise<unknown>
  readonly scheduleAlarm: () => void
}

export class Library {
  readonly index: SearchIndex
  readonly folders: FolderRows
  readonly #host: LibraryHost
  readonly #changes: SessionChanges
  /** Sessions whose texts could not be fetched by this process. */
  readonly #failed = new Set<string>()

  constructor(host: LibraryHost) {
    this.#host = host
    this.index = new SearchIndex(host.sql)
    this.folders = new FolderRows(host.sql)
    this.#changes = new SessionChanges(host.sql, this.folders)
  }

  /** Errors: `field_invalid` if the query has no word, or too many. */
  search(query: SearchQuery): Result<FoundHits> {
    const found = this.index.find(query)
    if (found?.pending === true) this.#host.scheduleAlarm()
    return found === null ? fail({ reason: "field_invalid", field: "q" }) : succeed(found)
  }

  /** Changes sessions one by one. A failure affects only its own session. */
  changeAll(ids: readonly string[], action: BulkAction): BulkResult[] {
    const results = ids.map((id): BulkResult => {
      const changed = this.#changeOne(id, action)
      if (changed.ok) return { id, ok: true }
      const { code, text } = faultToWire(changed.fault)
      return { id, ok: false, code, text }
    })
    if (action.do === "delete") this.#host.scheduleAlarm()
    return results
  }

  /** Hides a session and erases it later. Returns the time of its erasure. Errors: `session_unknown`. */
  hide(id: string, delayMs = UNDO_MS): Result<number> {
    const hidden = this.#changes.hide(id, Date.now() + delayMs)
    if (hidden.ok) this.#host.scheduleAlarm()
    return hidden
  }

  #changeOne(id: string, action: BulkAction): Result<unknown> {
    switch (action.do) {
      case "change":
        return this.#changes.change(id, action.change)
      case "delete":
        return this.hide(id, action.hasUndo ? UNDO_MS : 0)
      case "restore":
        return this.#changes.restore(id, Date.now())
    }
  }

  /** Errors: `folders_full`. */
  addFolder(id: string, name: string): Result<SessionFolder> {
    return this.folders.add({ id, name, created: Date.now() })
  }

  /** Erases hidden sessions whose time has come, and fetches missing texts. Never rejects. */
  async handleAlarm(): Promise<void> {
    for (const id of this.#changes.listDue(Date.now(), ERASED_PER_ALARM)) await this.#erase(id)
    for (let fetches = 0; fetches < FETCHES_PER_ALARM; fetches++) {
      const id = this.#findUnindexed()
      if (id === null) return
      await this.#fetchTexts(id)
    }
  }

  /** Whether the alarm can fetch missing texts now. */
  hasWork(): boolean {
    return this.#findUnindexed() !== null
  }

  async #erase(id: string): Promise<void> {
    const { env, tenant, user, removeSession } = this.#host
    try {
      // A session that is already erased is unknown. The directory's rows are removed last.
      await sessionStub(env, tenant, id).erase({ tenant, user })
      await removeSession(id)
    } catch (error) {
      log("session_not_erased", { id, error: describeError(error) })
    }
  }

  #findUnindexed(): string | null {
    const query = "SELECT id FROM sessions WHERE indexed = 0 ORDER BY active DESC LIMIT ?"
    const rows = this.#host.sql.exec<{ id: string }>(query, this.#failed.size + 1).toArray()
    return rows.find(({ id }) => !this.#failed.has(id))?.id ?? null
  }

  /** Fetches entries of a session that follow its newest one. */
  async #fetchTexts(id: string): Promise<void> {
    const { env, tenant, user, tables } = this.#host
    const before = this.index.findNewest(id)
    try {
      const read = await sessionStub(env, tenant, id).readTurnTexts({ tenant, user }, before)
      // The user may have been erased meanwhile.
      if (!tables.exist()) return
      if (!read.ok) return this.index.setIndexed(id, true)
      const isIncomplete = this.index.apply(id, read.value)
      if (isIncomplete && this.index.findNewest(id) === before) this.#failed.add(id)
    } catch (error) {
      this.#failed.add(id)
      log("texts_not_fetched", { id, error: describeError(error) })
    }
  }
}
