/**
 * unfinished-imports.ts: erases sessions that were created for an import or a draft (draft-session.ts) and never used.
 *
 * importer, draft → storage → UNFINISHED → erased, by this page or by the next one
 * A stored id belongs to an import or a draft that is open in some tab, or to a session that is to be erased. The
 * server may have received the file or a message before the tab was closed; such a session is kept. Source: SPEC PG35,
 * PG72.
 */

import type { Api } from "../net/api.ts"
import { RequestError } from "../net/http-request.ts"
import type { KeyValueStorage } from "../net/outbox.ts"
import { readStorageRows } from "../net/user-storage.ts"

export interface UnfinishedImportsDeps {
  readonly api: Api
  readonly storage: KeyValueStorage
  /** Runs the callback once no other tab of this browser holds the lock with this name. */
  withLock(name: string, callback: () => Promise<void>): Promise<void>
  /** Returns false if the session could not be erased. */
  eraseSession(session: string): Promise<boolean>
}

const STORAGE_KEY = /^cuecard\.import\.([\w-]{1,64})$/
const IN_PROGRESS = "under way"
const ABANDONED = "given up"

export class UnfinishedImports {
  readonly #deps: UnfinishedImportsDeps
  /** Sessions that this tab is handling. */
  readonly #ownIds = new Set<string>()

  constructor(deps: UnfinishedImportsDeps) {
    this.#deps = deps
  }

  /**
   * Tracks a session while `useSession` runs. If `useSession` throws, the session is erased, by a later page if
   * necessary.
   */
  async trackSession(id: string, useSession: () => Promise<void>): Promise<void> {
    this.#ownIds.add(id)
    this.#setStatus(id, IN_PROGRESS)
    try {
      await this.#deps.withLock(storageKey(id), useSession)
      this.#setStatus(id, null)
    } catch (error) {
      this.#setStatus(id, ABANDONED)
      void this.#eraseSession(id)
      throw error
    } finally {
      this.#ownIds.delete(id)
    }
  }

  /** Handles sessions that were left behind by closed tabs or could not be erased earlier. */
  settleStale(): void {
    for (const [key] of readStorageRows(this.#deps.storage)) {
      const id = STORAGE_KEY.exec(key)?.[1]
      if (id !== undefined && !this.#ownIds.has(id)) void this.#settleUnderLock(id)
    }
  }

  async #settleUnderLock(id: string): Promise<void> {
    this.#ownIds.add(id)
    try {
      await this.#deps.withLock(storageKey(id), () => this.#settleEntry(id))
    } catch {
      // The server can't be reached. The id is kept, and a later call tries again.
    } finally {
      this.#ownIds.delete(id)
    }
  }

  async #settleEntry(id: string): Promise<void> {
    const row = readStorageRows(this.#deps.storage).find(([key]) => key === storageKey(id))
    // The tab that tracked the session has finished.
    if (row === undefined) return
    if (row[1] !== ABANDONED && (await this.#hasContent(id))) this.#setStatus(id, null)
    else await this.#eraseSession(id)
  }

  /** Returns whether the server has the whole file, or the session already has messages. */
  async #hasContent(id: string): Promise<boolean> {
    const { api } = this.#deps
    try {
      const { state } = await api.getImportProgress(id)
      return state === "folding" || state === "done" || (await api.getHistoryPage(id, 1)).messages.length > 0
    } catch (error) {
      if (error instanceof RequestError && error.status === 404) return false
      throw error
    }
  }

  async #eraseSession(id: string): Promise<void> {
    if (await this.#deps.eraseSession(id)) this.#setStatus(id, null)
  }

  #setStatus(id: string, status: string | null): void {
    try {
      if (status === null) this.#deps.storage.removeItem(storageKey(id))
      else this.#deps.storage.setItem(storageKey(id), status)
    } catch {
      // If storage is full or blocked, sessions left behind by a closed tab are not erased.
    }
  }
}

function storageKey(id: string): string {
  return `cuecard.import.${id}`
}
