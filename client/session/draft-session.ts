/**
 * draft-session.ts: a session that files make, before there are first words.
 *
 * first file → EARLY → POST /v1/sessions → uploads; first words → the start of that session
 * Where no words come it is erased: at once where the files are taken away, by the next page where this one is closed.
 * Source: SPEC PG42.
 */

import type { Api } from "../net/api.ts"
import type { Unfinished } from "../files/unfinished-imports.ts"

export interface EarlyDeps {
  readonly api: Pick<Api, "createSession">
  readonly unfinished: Pick<Unfinished, "during">
  nextId(): string
}

interface Made {
  readonly id: string
  readonly session: Promise<string>
  keep(): void
  drop(): void
}

export class Early {
  readonly #deps: EarlyDeps
  #made: Made | null = null

  constructor(deps: EarlyDeps) {
    this.#deps = deps
  }

  /** The one for files that are attached now. Asked again where it could not be made. */
  session(): Promise<string> {
    this.#made ??= this.#make()
    return this.#made.session
  }

  /** First words are said: it is theirs. Null where no file made one. */
  take(): string | null {
    const made = this.#made
    this.#made = null
    made?.keep()
    return made?.id ?? null
  }

  /** No file is left. */
  drop(): void {
    this.#made?.drop()
    this.#made = null
  }

  #make(): Made {
    const id = this.#deps.nextId()
    let [keep, drop] = [(): void => {}, (): void => {}]
    const fate = new Promise<void>((resolve, reject) => {
      keep = resolve
      drop = () => reject(new Error("given up"))
    })
    const session = this.#deps.api.createSession("", id)
    const made: Made = { id, session, keep, drop }
    // It is erased where the promise is broken.
    this.#deps.unfinished.during(id, () => fate).catch(() => {})
    session.catch(() => {
      if (this.#made === made) this.drop()
    })
    return made
  }
}
