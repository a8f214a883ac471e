/**
 * library.ts: the search index, the folders, the saved prompts and the organised sessions of a user's directory, and
 * the work that the directory's alarm does for them. Loaded on demand.
 */

import { faultToWire, fail, type Result, succeed } from "../../shared/fault.ts"
import type { BulkResult, SessionFolder } from "../../shared/protocol/http-body.ts"
import { describeError, log } from "../platform/log.ts"
import type { BulkAction } from "../platform/rpc/directory-rpc.ts"
import { sessionStub } from "../platform/rpc/object-stubs.ts"
import type { FoundHits, SearchQuery } from "../platform/rpc/search-types.ts"
import { SearchIndex } from "../search/search-index.ts"
import { TextFetches } from "../search/text-fetches.ts"
import type { DirectoryHost } from "../usage/directory-host.ts"
import { FolderRows } from "./folder-rows.ts"
import { UNDO_MS } from "./organizing-columns.ts"
import { PromptRows } from "./prompt-rows.ts"
import { SessionChanges } from "./session-changes.ts"

/**
 * Maximum number of sessions that an alarm erases, and maximum number of calls that it makes to fetch text. The next
 * alarm continues.
 */
const ERASED_PER_ALARM = 20
const FETCHES_PER_ALARM = 4

/** Time after which an unfinished erasure of a hidden session is repeated, in milliseconds. */
const ERASE_RETRY_MS = 10_000

/** The directory that contains the library. */
export interface LibraryHost extends DirectoryHost {
  /** Removes the directory's rows of an erased session. */
  readonly removeSession: (id: string) => Promise<unknown>
  readonly scheduleAlarm: () => void
}

export class Library {
  readonly index: SearchIndex
  readonly folders: FolderRows
  readonly prompts: PromptRows
  readonly #host: LibraryHost
  readonly #changes: SessionChanges
  readonly #fetches: TextFetches

  constructor(host: LibraryHost) {
    this.#host = host
    this.index = new SearchIndex(host.sql)
    this.folders = new FolderRows(host.sql)
    this.prompts = new PromptRows(host.sql)
    this.#changes = new SessionChanges(host.sql, this.folders)
    this.#fetches = new TextFetches(host.sql)
  }

  /** Searches the index. Errors: `field_invalid` if the query has no words, or too many. */
  search(query: SearchQuery): Result<FoundHits> {
    const found = this.index.find(query)
    if (found?.pending === true) this.#host.scheduleAlarm()
    return found === null ? fail({ reason: "field_invalid", field: "q" }) : succeed(found)
  }

  /** Changes each session separately. A failure affects only that session. */
  async changeAll(ids: readonly string[], action: BulkAction): Promise<BulkResult[]> {
    return await Promise.all(
      ids.map(async (id): Promise<BulkResult> => {
        const changed = await this.#changeOne(id, action)
        if (changed.ok) return { id, ok: true }
        const { code, text } = faultToWire(changed.fault)
        return { id, ok: false, code, text }
      }),
    )
  }

  /** Hides a session and erases it later. Returns the time of its erasure. Errors: `session_unknown`. */
  async hide(id: string, delayMs = UNDO_MS): Promise<Result<number>> {
    const hidden = this.#changes.hide(id, Date.now() + delayMs)
    if (!hidden.ok) return hidden
    const { key, erasesAt } = hidden.value
    this.#host.scheduleAlarm()
    // Without a delay, the alarm erases the session at once.
    if (delayMs > 0) await this.#closeSession(key, true)
    return succeed(erasesAt)
  }

  async #changeOne(id: string, action: BulkAction): Promise<Result<unknown>> {
    switch (action.do) {
      case "change":
        return this.#changes.change(id, action.change)
      case "delete":
        return await this.hide(id, action.hasUndo ? UNDO_MS : 0)
      case "restore":
        return await this.#restore(id)
    }
  }

  /**
   * Returns a hidden session to the list. The session is reopened first. If that fails, the session is still hidden and
   * can be restored later. Errors: `session_unknown`, `internal`.
   */
  async #restore(id: string): Promise<Result<null>> {
    const key = this.#changes.findKey(id)
    if (key === null) return fail({ reason: "session_unknown" })
    if (!(await this.#closeSession(key, false))) return fail({ reason: "internal" })
    const restored = this.#changes.restore(id, Date.now())
    // The session's text may not have been fetched yet.
    if (restored.ok) this.#host.scheduleAlarm()
    return restored
  }

  /**
   * Makes a session refuse changes while it is hidden, or accept them again. Returns whether that succeeded. If it did
   * not succeed, a hidden session still accepts messages, which are erased with the session.
   */
  async #closeSession(key: string, isHidden: boolean): Promise<boolean> {
    const { env, tenant, user } = this.#host
    try {
      await sessionStub(env, tenant, key).setHidden({ tenant, user }, isHidden)
      return true
    } catch (error) {
      log("session_not_hidden", { id: key, error: describeError(error) })
      return false
    }
  }

  /** Adds a folder. Errors: `folders_full`. */
  addFolder(id: string, name: string): Result<SessionFolder> {
    return this.folders.add({ id, name, created: Date.now() })
  }

  /** Erases hidden sessions that are due, and fetches missing text. Never rejects. */
  async handleAlarm(): Promise<void> {
    const now = Date.now()
    for (const id of this.#changes.beginErasures(now, now + ERASE_RETRY_MS, ERASED_PER_ALARM)) await this.#erase(id)
    for (let fetches = 0; fetches < FETCHES_PER_ALARM; fetches++) {
      // The user may have been erased in the meantime.
      const id = this.#host.tables.exist() ? this.#fetches.findNext(Date.now()) : null
      if (id === null) return
      await this.#fetchTexts(id)
    }
  }

  async #erase(id: string): Promise<void> {
    const { env, tenant, user, removeSession } = this.#host
    try {
      // If the session is already erased, `erase` returns a fault, which is ignored. The directory's rows are removed
      // last.
      await sessionStub(env, tenant, id).erase({ tenant, user })
      await removeSession(id)
    } catch (error) {
      log("session_not_erased", { id, error: describeError(error) })
    }
  }

  /**
   * Fetches the entries of a session that follow its newest indexed entry. They are ignored if the session has sent
   * newer entries in the meantime, and fetched again if entries are still missing after that.
   */
  async #fetchTexts(id: string): Promise<void> {
    const { env, tenant, user, tables } = this.#host
    const before = this.index.findNewest(id)
    const fetching = this.index.beginFetch(id)
    const read = await sessionStub(env, tenant, id)
      .readTurnTexts({ tenant, user }, before)
      .catch((error: unknown) => {
        log("texts_not_fetched", { id, error: describeError(error) })
        return null
      })
    // The user may have been erased in the meantime.
    if (!tables.exist() || fetching.isOvertaken) return
    if (read === null) return this.#fetches.recordFailure(id, Date.now())
    // A session that no longer exists has no text.
    if (!read.ok) return this.#endFetch(id)
    const isIncomplete = this.index.apply(id, read.value)
    if (!isIncomplete) this.#fetches.forget(id)
    else if (this.index.findNewest(id) === before) this.#fetches.recordFailure(id, Date.now())
  }

  #endFetch(id: string): void {
    this.#fetches.forget(id)
    this.index.setIndexed(id, true)
  }
}
