/**
 * unfinished-imports.ts: imports that did not come to an end, and the sessions that were made for them.
 *
 * importer → shelf → UNFINISHED → erased, by this page or by the next one
 * What is on the shelf is under way in some page, or is to be erased. Of a page that was closed all may have come in
 * nevertheless, and somebody may have gone on there: that is kept. Source: SPEC PG35.
 */

import { type Api, RequestError } from "../net/api.ts"
import { rowsOf, type Shelf } from "../net/outbox.ts"

export interface UnfinishedDeps {
  readonly api: Api
  readonly shelf: Shelf
  /** Runs the call when no other page of this browser is inside one of the same name. */
  claim(name: string, call: () => Promise<void>): Promise<void>
  /** False where it could not be. */
  erase(session: string): Promise<boolean>
}

const KEY = /^cuecard\.import\.([A-Za-z0-9_-]{1,64})$/
const UNDER = "under way"
const GIVEN_UP = "given up"

export class Unfinished {
  readonly #deps: UnfinishedDeps
  /** Those that this page is at. */
  readonly #own = new Set<string>()

  constructor(deps: UnfinishedDeps) {
    this.#deps = deps
  }

  /** Runs an import into this session; where it throws, the session is erased, sooner or later. */
  async during(id: string, call: () => Promise<void>): Promise<void> {
    this.#own.add(id)
    this.#keep(id, UNDER)
    try {
      await this.#deps.claim(keyOf(id), call)
      this.#keep(id, null)
    } catch (error) {
      this.#keep(id, GIVEN_UP)
      void this.#erase(id)
      throw error
    } finally {
      this.#own.delete(id)
    }
  }

  /** Looks after those that another page, or an earlier try, has left. */
  collect(): void {
    for (const [key] of rowsOf(this.#deps.shelf)) {
      const id = KEY.exec(key)?.[1]
      if (id !== undefined && !this.#own.has(id)) void this.#settle(id)
    }
  }

  async #settle(id: string): Promise<void> {
    this.#own.add(id)
    try {
      await this.#deps.claim(keyOf(id), () => this.#look(id))
    } catch {
      // The server is away: it stays on the shelf.
    } finally {
      this.#own.delete(id)
    }
  }

  async #look(id: string): Promise<void> {
    const found = rowsOf(this.#deps.shelf).find(([key]) => key === keyOf(id))
    // The page that was at it has brought it to its end.
    if (found === undefined) return
    if (found[1] !== GIVEN_UP && (await this.#hasCome(id))) this.#keep(id, null)
    else await this.#erase(id)
  }

  /** All of it is on the server, or it has messages of its own. */
  async #hasCome(id: string): Promise<boolean> {
    const { api } = this.#deps
    try {
      const { state } = await api.importProgress(id)
      return state === "folding" || state === "done" || (await api.page(id, 1)).messages.length > 0
    } catch (error) {
      if (error instanceof RequestError && error.status === 404) return false
      throw error
    }
  }

  async #erase(id: string): Promise<void> {
    if (await this.#deps.erase(id)) this.#keep(id, null)
  }

  #keep(id: string, how: string | null): void {
    try {
      if (how === null) this.#deps.shelf.removeItem(keyOf(id))
      else this.#deps.shelf.setItem(keyOf(id), how)
    } catch {
      // A full or forbidden storage costs only what a closed page leaves behind.
    }
  }
}

function keyOf(id: string): string {
  return `cuecard.import.${id}`
}
