/**
 * draft-session.ts: creates the session of a new conversation early, when a file is attached before the first message.
 *
 * first file → DRAFT SESSION → POST /v1/sessions → uploads; first message → starts this session
 * If no message is sent, the session is erased: when the files are removed or, if this page is closed before that, by
 * the next page that is opened. Source: SPEC PG72.
 */

import type { Api, SessionOptions } from "../net/api.ts"
import type { UnfinishedImports } from "./unfinished-imports.ts"

export interface DraftSessionDeps {
  readonly api: Pick<Api, "createSession">
  readonly unfinishedImports: Pick<UnfinishedImports, "trackSession">
  createId(): string
  /** Returns the options of the session. */
  nextOptions?(): SessionOptions
}

interface CreatedSession {
  readonly id: string
  readonly creation: Promise<string>
  keepSession(): void
  dropSession(): void
}

export class DraftSession {
  readonly #deps: DraftSessionDeps
  #created: CreatedSession | null = null

  constructor(deps: DraftSessionDeps) {
    this.#deps = deps
  }

  /**
   * Returns the session for the attached files. The first call creates the session; if that fails, the next call tries
   * again.
   */
  ensureSession(): Promise<string> {
    this.#created ??= this.#createSession()
    return this.#created.creation
  }

  /** Hands the session over to the first message. Returns null if there is no session. */
  takeSession(): string | null {
    const created = this.#created
    this.#created = null
    created?.keepSession()
    return created?.id ?? null
  }

  /** Erases the session. Called when the last file is removed. */
  discardSession(): void {
    this.#created?.dropSession()
    this.#created = null
  }

  #createSession(): CreatedSession {
    const id = this.#deps.createId()
    let [keepSession, dropSession] = [(): void => {}, (): void => {}]
    const outcome = new Promise<void>((resolve, reject) => {
      keepSession = resolve
      dropSession = () => reject(new Error("discarded"))
    })
    const creation = this.#deps.api.createSession("", id, this.#deps.nextOptions?.())
    const created: CreatedSession = { id, creation, keepSession, dropSession }
    // trackSession erases the session if the promise rejects.
    this.#deps.unfinishedImports.trackSession(id, () => outcome).catch(() => {})
    creation.catch(() => {
      if (this.#created === created) this.discardSession()
    })
    return created
  }
}
