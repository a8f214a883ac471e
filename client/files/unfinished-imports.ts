/**
 * unfinished-imports.ts: imports that did not come to an end, and the sessions that were made for them.
 *
 * importer → shelf → UNFINISHED → erased, by this page or by the next one
 * What is on the shelf is under way in some page, or is to be erased. Of a page that was closed all may have come in
 * nevertheless, and somebody may have gone on there: that is kept. Source: SPEC PG35.
 */

import { type Api, RequestError } from "../net/api.ts"
import { readStorageRows, type KeyValueStorage } from "../net/outbox.ts"

export interface UnfinishedImportsDeps {
  readonly api: Api
  readonly storage: KeyValueStorage
  /** Runs the call when no other page of this browser is inside one of the same name. */
  withLock(name: string, callback: () => Promise<void>): Promise<void>
  /** False where it could not be. */
  eraseSession(session: string): Promise<boolean>
}

const STORAGE_KEY = /^cuecard\.import\.([A-Za-z0-9_-]{1,64})$/
const IN_PROGRESS = "under way"
const ABANDONED = "given up"

export class UnfinishedImports {
  readonly #deps: UnfinishedImportsDeps
  /** Those that this page is at. */
  readonly #ownIds = new Set<string>()

  constructor(deps: UnfinishedImportsDeps) {
    this.#deps = deps
  }

  /** Runs an import into this session; where it throws, the session is erased, sooner or later. */
  async trackImport(id: string, runImport: () => Promise<void>): Promise<void> {
    this.#ownIds.add(id)
    this.#setStatus(id, IN_PROGRESS)
    try {
      await this.#deps.withLock(storageKey(id), runImport)
      this.#setStatus(id, null)
    } catch (error) {
      this.#setStatus(id, ABANDONED)
      void this.#eraseSession(id)
      throw error
    } finally {
      this.#ownIds.delete(id)
    }
  }

  /** Looks after those that another page, or an earlier try, has left. */
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
      // The server is away: it stays on the shelf.
    } finally {
      this.#ownIds.delete(id)
    }
  }

  async #settleEntry(id: string): Promise<void> {
    const row = readStorageRows(this.#deps.storage).find(([key]) => key === storageKey(id))
    // The page that was at it has brought it to its end.
    if (row === undefined) return
    if (row[1] !== ABANDONED && (await this.#hasContent(id))) this.#setStatus(id, null)
    else await this.#eraseSession(id)
  }

  /** All of it is on the server, or it has messages of its own. */
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
      // A full or forbidden storage costs only what a closed page leaves behind.
    }
  }
}

function storageKey(id: string): string {
  return `cuecard.import.${id}`
}
