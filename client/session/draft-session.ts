/**
 * draft-session.ts: a session that files make, before there are first words.
 *
 * first file → EARLY → POST /v1/sessions → uploads; first words → the start of that session
 * Where no words come it is erased: at once where the files are taken away, by the next page where this one is closed.
 * Source: SPEC PG72.
 */

import type { Api } from "../net/api.ts"
import type { UnfinishedImports } from "../files/unfinished-imports.ts"

export interface DraftSessionDeps {
  readonly api: Pick<Api, "createSession">
  readonly unfinishedImports: Pick<UnfinishedImports, "trackImport">
  createId(): string
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

  /** The one for files that are attached now. Asked again where it could not be made. */
  ensureSession(): Promise<string> {
    this.#created ??= this.#createSession()
    return this.#created.creation
  }

  /** First words are said: it is theirs. Null where no file made one. */
  takeSession(): string | null {
    const created = this.#created
    this.#created = null
    created?.keepSession()
    return created?.id ?? null
  }

  /** No file is left. */
  discardSession(): void {
    this.#created?.dropSession()
    this.#created = null
  }

  #createSession(): CreatedSession {
    const id = this.#deps.createId()
    let [keepSession, dropSession] = [(): void => {}, (): void => {}]
    const outcome = new Promise<void>((resolve, reject) => {
      keepSession = resolve
      dropSession = () => reject(new Error("given up"))
    })
    const creation = this.#deps.api.createSession("", id)
    const created: CreatedSession = { id, creation, keepSession, dropSession }
    // It is erased where the promise is broken.
    this.#deps.unfinishedImports.trackImport(id, () => outcome).catch(() => {})
    creation.catch(() => {
      if (this.#created === created) this.discardSession()
    })
    return created
  }
}
